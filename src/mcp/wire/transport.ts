// The transport: one JSON-RPC message per line, in and out. It handles everything below messages: partial lines, lines that are not JSON
// or too long, the end of the input. It never interprets a message.

import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type RequestId, type Transport } from "@modelcontextprotocol/server";
import { LineReader, type ProtocolLine } from "./lines.ts";

export const MAX_LINE_BYTES = 4 * 1024 * 1024;
/** How long running calls may take after the input ends, so that the process exits within a second, including the last view. */
const LINGER_MS = 700;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

interface Refusal {
  code: typeof PARSE_ERROR | typeof INVALID_REQUEST;
  message: string;
  id: RequestId | null;
}

export class LineTransport implements Transport {
  onmessage: Transport["onmessage"];
  onerror: Transport["onerror"];
  onclose: Transport["onclose"];
  /** The input has ended; running requests may still be answered. */
  oninputend: (() => void) | undefined;

  readonly #input: Readable;
  readonly #output: Writable;
  readonly #reader = new LineReader(MAX_LINE_BYTES);
  /** Requests without an answer so far. */
  readonly #pending = new Set<RequestId>();
  /** The number of answers that are being written. */
  #unwritten = 0;
  #hasEnded = false;
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on("data", this.#read);
    this.#input.once("end", this.#end);
    this.#input.once("close", this.#end);
    this.#input.once("error", this.#end);
    // The client has closed the output, so errors cannot be reported.
    this.#output.once("error", () => void this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message) && message.id !== undefined) this.#pending.delete(message.id);
    await this.#write(message);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off("data", this.#read);
    this.#input.pause();
    this.onclose?.();
  }

  readonly #read = (chunk: Buffer): void => {
    for (const line of this.#reader.push(chunk)) this.#deliver(line);
  };

  /** No more requests arrive; running ones are still answered. */
  readonly #end = (): void => {
    if (this.#hasEnded) return;
    for (const line of this.#reader.end()) this.#deliver(line);
    this.#hasEnded = true;
    this.oninputend?.();
    setTimeout(() => void this.close(), LINGER_MS).unref();
    this.#finish();
  };

  #finish(): void {
    if (this.#hasEnded && this.#pending.size + this.#unwritten === 0) void this.close();
  }

  #deliver(line: ProtocolLine): void {
    const read = readLine(line);
    if (read === undefined) return;
    if ("code" in read) {
      const { id, code, message } = read;
      void this.#write({ jsonrpc: "2.0", id, error: { code, message } });
      return;
    }
    if ("method" in read && "id" in read) this.#pending.add(read.id);
    // A cancelled request is never answered.
    if ("method" in read && read.method === "notifications/cancelled") {
      this.#pending.delete(read.params?.requestId as RequestId);
    }
    this.onmessage?.(read);
  }

  #write(message: object): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#unwritten += 1;
    return new Promise((resolve) => {
      this.#output.write(`${JSON.stringify(message)}\n`, () => {
        this.#unwritten -= 1;
        this.#finish();
        resolve();
      });
    });
  }
}

/** The message in a line, or the error to answer with; undefined for an empty line. */
function readLine(line: ProtocolLine): JSONRPCMessage | Refusal | undefined {
  if ("length" in line) {
    const message = `The message has ${line.length} bytes; the limit is ${MAX_LINE_BYTES} bytes per line`;
    return { code: INVALID_REQUEST, message, id: idAtTheEdge(line) };
  }
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(line.bytes).trim();
    if (text === "") return undefined;
    value = JSON.parse(text);
  } catch (error) {
    return { code: PARSE_ERROR, message: `Not a line of JSON in UTF-8: ${(error as Error).message}`, id: null };
  }
  try {
    return parseJSONRPCMessage(value);
  } catch {
    return { code: INVALID_REQUEST, message: "Not a JSON-RPC 2.0 message", id: idOf(value) };
  }
}

function idOf(value: unknown): RequestId | null {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

const id = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,15})`;
/** The id of the message itself, never one inside its params: it must come before the params, or last. */
const atTheHead = new RegExp(
  String.raw`^\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,100}"\s*,){0,2}\s*${id}\s*[,}]`,
);
const atTheTail = new RegExp(String.raw`,\s*${id}\s*\}\s*$`);

function idAtTheEdge({ head, tail }: { head: Buffer; tail: Buffer }): RequestId | null {
  const found = atTheHead.exec(head.toString("utf8")) ?? atTheTail.exec(tail.toString("utf8"));
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as RequestId);
}

// The built MCP server in a project, with a client on its pipes.

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { join } from "node:path";
import { type Project, root } from "./project.ts";

const mcpPath = join(root, "dist", "mcp.js");

// biome-ignore lint/suspicious/noExplicitAny: what a server answers with is looked at key by key.
type Json = any;

export interface Called {
  isError: boolean;
  /** The answer. */
  body: Json;
  /** Its length on the wire. */
  bytes: number;
}

export class McpClient {
  readonly child: ChildProcessWithoutNullStreams;
  /** Answers that belong to no request of ours. */
  readonly strays: Json[] = [];
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null; ms: number }>;
  stderr = "";
  readonly #waiting = new Map<number | string, (reply: Json) => void>();
  #last = 0;
  #rest = "";
  #ending = 0;

  constructor(project: Pick<Project, "start">, env: Record<string, string> = {}) {
    this.child = project.start(process.execPath, [mcpPath], env);
    this.child.stdin.on("error", () => undefined);
    this.child.stdout.setEncoding("utf8").on("data", (chunk) => this.#take(chunk));
    this.child.stderr.setEncoding("utf8").on("data", (chunk) => {
      this.stderr += chunk;
    });
    this.exited = new Promise((resolve) =>
      this.child.once("close", (code, signal) => resolve({ code, signal, ms: performance.now() - this.#ending })),
    );
  }

  async initialize(): Promise<Json> {
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const { result } = await this.request("initialize", params);
    this.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    return result;
  }

  request(method: string, params: object = {}): Promise<Json> {
    this.#last += 1;
    const id = this.#last;
    const reply = this.replyTo(id);
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return reply;
  }

  /** The answer to a message that is written by hand. */
  replyTo(id: number | string): Promise<Json> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  async call(name: string, args: object = {}): Promise<Called> {
    const { result, error } = await this.request("tools/call", { name, arguments: args });
    if (error !== undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
    const { text } = result.content[0];
    return { isError: result.isError === true, body: JSON.parse(text), bytes: Buffer.byteLength(text) };
  }

  /** The answer of a call that must succeed. */
  async ok(name: string, args: object = {}): Promise<Json> {
    const { isError, body } = await this.call(name, args);
    if (isError) throw new Error(`${name}: ${JSON.stringify(body)}`);
    return body;
  }

  /** The answer of a call that must fail. */
  async refused(name: string, args: object = {}): Promise<Json> {
    const { isError, body } = await this.call(name, args);
    if (!isError) throw new Error(`${name} was accepted: ${JSON.stringify(body)}`);
    return body;
  }

  write(bytes: string | Uint8Array): void {
    this.child.stdin.write(bytes);
  }

  /** Ends the input; `exited` counts from here. */
  end(): McpClient["exited"] {
    this.#ending = performance.now();
    this.child.stdin.end();
    return this.exited;
  }

  kill(signal: NodeJS.Signals): McpClient["exited"] {
    this.#ending = performance.now();
    this.child.kill(signal);
    return this.exited;
  }

  #take(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const reply = JSON.parse(line);
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if (waiting === undefined) this.strays.push(reply);
      else waiting(reply);
    }
  }
}

/** Runs `use` with a server that is ready, and ends it; it must have nothing to complain of. */
export async function withServer<T>(
  project: Pick<Project, "start">,
  use: (client: McpClient) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const client = new McpClient(project, env);
  try {
    await client.initialize();
    const result = await use(client);
    if (client.stderr !== "") throw new Error(`on standard error: ${client.stderr}`);
    return result;
  } finally {
    await client.end();
  }
}

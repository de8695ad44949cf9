// Reads the hook's input: one JSON document on standard input. Synchronous, because asynchronous reading adds a quarter to Node's
// start-up time, and never blocked by a writer that sends nothing.

import { closeSync, constants, fstatSync, openSync, readlinkSync, readvSync } from "node:fs";
import { errno } from "../errors.ts";
import { now } from "./clock.ts";

export type HookInput = Readonly<Record<string, unknown>>;

const MAX_BYTES = 64 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/** The document, or why it cannot be read. */
export function readHookInput(deadline: number): HookInput | string {
  const read = readAll(deadline);
  if ("whole" in read) return read.whole;
  if (read.text.trim() === "") return "standard input is empty";
  return parseInput(read.text) ?? `standard input is not a JSON object${read.late ? " and stays open" : ""}`;
}

export function parseInput(text: string): HookInput | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as HookInput) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function textValue(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function recordOf(value: unknown): HookInput {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as HookInput) : {};
}

type Read = { whole: HookInput } | { text: string; late: boolean };

function readAll(deadline: number): Read {
  const fd = nonBlocking();
  if (fd === undefined) return { text: "", late: false };
  const pieces: Piece[] = [];
  let size = 0;
  let mayBeWhole = false;
  try {
    for (let waits = 0; size <= MAX_BYTES; ) {
      // Not a Buffer: creating the first one, reading into it and decoding it takes four times as long.
      const bytes = new Uint8Array(PIECE_BYTES);
      const count = readPiece(fd, bytes);
      if (count === 0) break;
      if (count !== undefined) {
        pieces.push({ bytes, count });
        size += count;
        mayBeWhole = closes(bytes, count) ?? mayBeWhole;
        // Most documents arrive in one piece, and then the end of the input need not be awaited.
        if (pieces.length > 1 || count === PIECE_BYTES) continue;
      }
      // The writer may leave the pipe open after a complete document. Parsed only where one may end, because a large one arrives in many pieces.
      if (mayBeWhole) {
        const whole = parseInput(textIn(pieces, size));
        if (whole !== undefined) return { whole };
        mayBeWhole = false;
      }
      if (count !== undefined) continue;
      if (now() > deadline) return { text: textIn(pieces, size), late: true };
      pause(Math.min(5, 0.2 * 2 ** waits++));
    }
  } finally {
    if (fd !== 0) closeSync(fd);
  }
  return { text: textIn(pieces, size), late: false };
}

interface Piece {
  bytes: Uint8Array;
  count: number;
}

function textIn(pieces: readonly Piece[], size: number): string {
  const [first] = pieces;
  if (first === undefined) return "";
  if (pieces.length === 1) return decoded(first.bytes, size);
  const all = new Uint8Array(size);
  let at = 0;
  for (const { bytes, count } of pieces) {
    all.set(bytes.subarray(0, count), at);
    at += count;
  }
  return decoded(all, size);
}

/** Calls what Buffer.toString uses internally, a tenth of a millisecond faster; where Node lacks it, uses the public decoder. */
function decoded(bytes: Uint8Array, end: number): string {
  const { utf8Slice } = Buffer.prototype as { utf8Slice?: (this: Uint8Array, start: number, end: number) => string };
  if (utf8Slice !== undefined) return utf8Slice.call(bytes, 0, end);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, end));
}

const CLOSING_BRACE = 0x7d;

/** Whether an object may end here; undefined when the piece is blank, which changes nothing. */
function closes(bytes: Uint8Array, count: number): boolean | undefined {
  let last = count - 1;
  while (last >= 0 && isBlank(bytes[last])) last--;
  return last < 0 ? undefined : bytes[last] === CLOSING_BRACE;
}

/** The whitespace that JSON allows around a value. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Undefined when no input is available right now. */
function readPiece(fd: number, bytes: Uint8Array): number | undefined {
  try {
    return readvSync(fd, [bytes]);
  } catch (error) {
    if (errno(error) === "EAGAIN") return undefined;
    if (errno(error) === "EOF") return 0;
    throw error;
  }
}

/**
 * A non-blocking descriptor of standard input; undefined for a terminal. A pipe is opened again. A socket, which Node passes to its
 * children, cannot be opened again: there Node's own pipe handle sets the flag.
 */
function nonBlocking(): number | undefined {
  if (process.platform === "linux" && isSocket()) {
    setNonBlocking();
    return 0;
  }
  const stat = fstatSync(0);
  if (stat.isCharacterDevice()) return undefined;
  if (stat.isFIFO() && process.platform === "linux") {
    try {
      return openSync("/proc/self/fd/0", constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      // The pipe belongs to another user.
      if (errno(error) === undefined) throw error;
    }
  }
  if (!stat.isFile() && process.platform !== "win32") setNonBlocking();
  return 0;
}

/** Reading the link of the descriptor takes a third of the time of the first fstat. */
function isSocket(): boolean {
  try {
    return readlinkSync("/proc/self/fd/0").startsWith("socket:");
  } catch (error) {
    // /proc or standard input does not exist.
    if (errno(error) === undefined) throw error;
    return false;
  }
}

/** Opening a handle makes the descriptor non-blocking. The internal one takes a tenth of the time that node:net takes to load. */
function setNonBlocking(): void {
  const { binding } = process as unknown as { binding?: (name: string) => PipeBinding };
  const pipes = binding === undefined ? undefined : internal(() => binding("pipe_wrap"));
  if (pipes === undefined) {
    new (net().Socket)({ fd: 0 }).unref();
    return;
  }
  const handle = new pipes.Pipe(pipes.constants.SOCKET);
  handle.open(0);
  handle.unref();
}

// Called only where the internal handle is missing.
const net = () => require("node:net") as typeof import("node:net");

/** A later Node, or one with fewer permissions, may throw where this one answers. */
function internal<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

interface PipeBinding {
  Pipe: new (kind: number) => { open(fd: number): void; unref(): void };
  constants: { SOCKET: number };
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

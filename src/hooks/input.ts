// What Gemini CLI tells a hook: one JSON document on standard input. Read synchronously, because the asynchronous way costs a quarter
// of the start of Node, and without ever waiting for a writer that says nothing.

import { closeSync, constants, fstatSync, openSync, readlinkSync, readvSync } from "node:fs";
import { errno } from "../errors.ts";
import { now } from "./clock.ts";

export type HookInput = Readonly<Record<string, unknown>>;

const MAX_BYTES = 64 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/** The document, or why there is none. */
export function readInput(deadline: number): HookInput | string {
  const read = readAll(deadline);
  if ("whole" in read) return read.whole;
  if (read.text.trim() === "") return "standard input is empty";
  return parseInput(read.text) ?? `standard input is no JSON object${read.late ? " and stays open" : ""}`;
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

export function textOf(value: unknown): string {
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
      // Not a Buffer: making the first one, reading into it and asking it for its text takes four times as long as this.
      const bytes = new Uint8Array(PIECE_BYTES);
      const count = readPiece(fd, bytes);
      if (count === 0) break;
      if (count !== undefined) {
        pieces.push({ bytes, count });
        size += count;
        mayBeWhole = closes(bytes, count) ?? mayBeWhole;
        // Most documents come at once, and their end need not be waited for.
        if (pieces.length > 1 || count === PIECE_BYTES) continue;
      }
      // Whoever wrote a whole document may leave the pipe open. Looked at only where one may end: a large one comes in many pieces.
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

/** An internal of Node that Buffer.toString calls in the end, a tenth of a millisecond later; where it is missing, the public decoder. */
function decoded(bytes: Uint8Array, end: number): string {
  const { utf8Slice } = Buffer.prototype as { utf8Slice?: (this: Uint8Array, start: number, end: number) => string };
  if (utf8Slice !== undefined) return utf8Slice.call(bytes, 0, end);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, end));
}

const CLOSING_BRACE = 0x7d;

/** Whether an object may end here; undefined for blanks, which change nothing. */
function closes(bytes: Uint8Array, count: number): boolean | undefined {
  let last = count - 1;
  while (last >= 0 && isBlank(bytes[last])) last--;
  return last < 0 ? undefined : bytes[last] === CLOSING_BRACE;
}

/** What JSON allows around a value. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Undefined: nothing there at this moment. */
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
 * A descriptor of standard input whose reading does not block; undefined for a terminal. A pipe is opened anew. A socket, which is what Node
 * hands to its children, cannot be: there the handle that Node itself would use sets the flag.
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
      // Another user's.
      if (errno(error) === undefined) throw error;
    }
  }
  if (!stat.isFile() && process.platform !== "win32") setNonBlocking();
  return 0;
}

/** The name of the descriptor tells in a third of the time that the first fstat takes. */
function isSocket(): boolean {
  try {
    return readlinkSync("/proc/self/fd/0").startsWith("socket:");
  } catch (error) {
    // Without /proc, or without standard input.
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

// Called for only where the internal handle is missing.
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

// What Gemini CLI tells a hook: one JSON document on standard input. Read synchronously, because the asynchronous way costs a quarter
// of the start of Node, and without ever waiting for a writer that says nothing.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
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
  const pieces: Buffer[] = [];
  let size = 0;
  let mayBeWhole = false;
  try {
    for (let waits = 0; size <= MAX_BYTES; ) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES);
      const count = readPiece(fd, piece);
      if (count === 0) break;
      if (count !== undefined) {
        pieces.push(piece.subarray(0, count));
        size += count;
        mayBeWhole = closes(piece.subarray(0, count)) ?? mayBeWhole;
        // Most documents come at once, and their end need not be waited for.
        if (pieces.length > 1 || count === PIECE_BYTES) continue;
      }
      // Whoever wrote a whole document may leave the pipe open. Looked at only where one may end: a large one comes in many pieces.
      if (mayBeWhole) {
        const whole = parseInput(textIn(pieces));
        if (whole !== undefined) return { whole };
        mayBeWhole = false;
      }
      if (count !== undefined) continue;
      if (now() > deadline) return { text: textIn(pieces), late: true };
      pause(Math.min(5, 0.2 * 2 ** waits++));
    }
  } finally {
    if (fd !== 0) closeSync(fd);
  }
  return { text: textIn(pieces), late: false };
}

function textIn(pieces: readonly Buffer[]): string {
  if (pieces.length === 1) return pieces[0]?.toString("utf8") ?? "";
  return Buffer.concat(pieces).toString("utf8");
}

/** Whether an object may end here; undefined for blanks, which change nothing. */
function closes(piece: Buffer): boolean | undefined {
  const end = piece.subarray(-64).toString("latin1").trimEnd();
  return end === "" ? undefined : end.endsWith("}");
}

/** Undefined: nothing there at this moment. */
function readPiece(fd: number, piece: Buffer): number | undefined {
  try {
    return readSync(fd, piece, 0, piece.length, null);
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
  const stat = fstatSync(0);
  if (stat.isCharacterDevice()) return undefined;
  if (stat.isFIFO() && process.platform === "linux") {
    return openSync("/proc/self/fd/0", constants.O_RDONLY | constants.O_NONBLOCK);
  }
  if (!stat.isFile() && process.platform !== "win32") setNonBlocking();
  return 0;
}

function setNonBlocking(): void {
  const { binding } = process as unknown as { binding?: (name: string) => PipeBinding };
  if (binding === undefined) return;
  const { Pipe, constants: kinds } = binding("pipe_wrap");
  const handle = new Pipe(kinds.SOCKET);
  handle.open(0);
  handle.unref();
}

interface PipeBinding {
  Pipe: new (kind: number) => { open(fd: number): void; unref(): void };
  constants: { SOCKET: number };
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

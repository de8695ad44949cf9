// Reads files that the user names on the command line (plans and reports), from any directory and up to a size limit.

import { closeSync, constants, createReadStream, fstatSync, openSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { readFrom } from "../disk/durable.ts";
import { errno, MaestroError, reasonOf } from "../errors.ts";
import type { Io } from "./io.ts";

export const MAX_INPUT_BYTES = 256 * 1024 * 1024;

/**
 * Reads at most `limit` bytes of a file; `-` is standard input. A pipe is read as a stream, so that a signal can still interrupt it. `hint`: what
 * the user can do when the file cannot be read.
 */
export async function readInput(
  io: Io,
  path: string,
  what: string,
  { limit = MAX_INPUT_BYTES, hint }: { limit?: number; hint?: string } = {},
): Promise<Uint8Array> {
  if (path === "-") return io.readStdin();
  if (path === "") throw new MaestroError("usage", `Cannot read ${what}: the path is empty`);
  const full = resolve(io.cwd, path);
  try {
    // stat before open, because opening and closing a FIFO would lose what its writer has written.
    const stat = statSync(full);
    if (stat.isDirectory()) throw new MaestroError("usage", `Cannot read ${what}: it is a directory`);
    if (!stat.isFile()) return await readStream(createReadStream(full), limit);
    const fd = openSync(full, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return readFrom(fd, 0, Math.min(fstatSync(fd).size, limit));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errno(error) === undefined) throw error;
    throw new MaestroError("usage", `Cannot read ${what}: ${reasonOf(error)}`, { cause: error, hint });
  }
}

/** The first `limit` bytes of a stream. */
export async function readStream(stream: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit);
}

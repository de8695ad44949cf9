// Hashes the project's files for the session record, so that a resume can find out what changed in the meantime.

import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, readSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { pathFault, withParent } from "../../disk/contained.ts";
import { errno, MaestroError } from "../../errors.ts";
import type { FileHashes } from "../../session/events.ts";

const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Limit for all files of a call, because most callers hold the session lock during it. */
const MAX_CALL_BYTES = 256 * 1024 * 1024;
/** The content could not be hashed: callers must conclude nothing from it. */
export const UNKNOWN_HASH = "unknown";

/** Hash per path: null when the file does not exist, "unknown" when it cannot be hashed or is too large. Globs are left out. */
export function hashFiles(projectRoot: string, paths: Iterable<string>): FileHashes {
  const hashes: FileHashes = {};
  const budget = { left: MAX_CALL_BYTES };
  for (const path of paths) {
    if (/[*?{]/.test(path) || Object.hasOwn(hashes, path)) continue;
    Object.defineProperty(hashes, path, {
      value: hashFile(projectRoot, path, budget),
      enumerable: true,
      configurable: true,
    });
  }
  return hashes;
}

function hashFile(projectRoot: string, path: string, budget = { left: MAX_FILE_BYTES }): string | null {
  if (pathFault(path) !== undefined) return UNKNOWN_HASH;
  try {
    return withParent(projectRoot, path, { create: false }, (parent, name) => {
      const fd = parent.open(name, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        return hashOpen(fd, budget);
      } finally {
        closeSync(fd);
      }
    });
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errno(error) ?? "")) return null;
    if (errno(error) !== undefined || error instanceof MaestroError) return UNKNOWN_HASH;
    throw error;
  }
}

function hashOpen(fd: number, budget: { left: number }): string {
  const stat = fstatSync(fd);
  let left = Math.min(MAX_FILE_BYTES, budget.left);
  if (!stat.isFile() || stat.size > left) return UNKNOWN_HASH;
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(64 * 1024);
  for (let count = readSync(fd, chunk); count > 0; count = readSync(fd, chunk)) {
    left -= count;
    budget.left -= count;
    // The file grows while it is read.
    if (left < 0) return UNKNOWN_HASH;
    hash.update(chunk.subarray(0, count));
  }
  return hash.digest("hex");
}

/** A plan may be outside the project (in an absolute state directory): then its own directory is the root. */
export function hashPlan(projectRoot: string, path: string): string | null {
  return isAbsolute(path) ? hashFile(dirname(path), basename(path)) : hashFile(projectRoot, path);
}

export function hashText(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Whether one of the files was written after `since` (ms). Only a hint for the user; no decision may depend on it. */
export function changedSince(projectRoot: string, paths: Iterable<string>, since: number): boolean {
  for (const path of paths) {
    if (/[*?{]/.test(path) || pathFault(path) !== undefined) continue;
    const written = lstatSync(join(projectRoot, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (written > since) return true;
  }
  return false;
}

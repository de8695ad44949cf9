// A directory by its whole path, with those above it that are missing. For paths that a person gives and that have no root to stay in.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errno } from "../errors.ts";

/** One by one: Node's recursive form never returns where the system says ENOENT below a directory that is there, as in /proc. */
export function makeDirectories(path: string, mode: number): void {
  const missing: string[] = [];
  for (let at = path; !isDirectory(at) && at !== dirname(at); at = dirname(at)) {
    // Below a file, Node 20 throws ENOTDIR here; later versions do not, so the system has to be asked to make a directory there.
    if (at !== path && statSync(at, { throwIfNoEntry: false }) !== undefined) break;
    missing.unshift(at);
  }
  for (const directory of missing) make(directory, mode);
}

function make(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Somebody else was faster.
    if (errno(error) !== "EEXIST" || !isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

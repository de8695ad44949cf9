// Creates a directory and its missing parents, for paths that a user gives and that need not stay below a root.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errno } from "../errors.ts";

/** Creates them one by one: Node's recursive mkdir never returns when the system answers ENOENT in an existing directory, as in /proc. */
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
    // Another process may have created it first.
    if (errno(error) !== "EEXIST" || !isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

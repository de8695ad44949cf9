// Facts about a temporary directory: whether it is one that `mktemp -d` makes for this user. Reads metadata only.

import { lstatSync } from "node:fs";
import { errno } from "../errors.ts";

/**
 * `directory` belongs to this user, is not a link, and no other user can reach it. A file at `path` has no second name, under which it may
 * be part of a project.
 */
export function isOwnScratch(directory: string, path: string): boolean {
  try {
    const stat = lstatSync(directory, { throwIfNoEntry: false });
    if (stat?.isDirectory() !== true || stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0) return false;
    const target = lstatSync(path, { throwIfNoEntry: false });
    return target === undefined || target.isDirectory() || (target.isFile() && target.nlink === 1);
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return false;
  }
}

// Resolves the links of a path, including a path that does not exist yet. Reads metadata only and opens nothing.

import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, resolve, sep } from "node:path";
import { errno } from "../errors.ts";

const MAX_LINKS = 40;

/** A path that cannot be read counts as missing. Missing files create no error objects here: those would cost a hook more than all the rest. */
export function realPath(path: string): string {
  const rest: string[] = [];
  let links = 0;
  for (let at = path; ; ) {
    if (existsSync(at)) return below(realpathSync.native(at), rest);
    if (links < MAX_LINKS && isLink(at)) {
      links += 1;
      at = resolve(dirname(at), readlinkSync(at));
    } else if (dirname(at) === at) return path;
    else {
      rest.unshift(basename(at));
      at = dirname(at);
    }
  }
}

/** Both parts are normalized already: `join` would do it again, and its first call is slow in a hook. */
function below(directory: string, names: readonly string[]): string {
  if (names.length === 0) return directory;
  return (directory.endsWith(sep) ? directory : directory + sep) + names.join(sep);
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return false;
  }
}

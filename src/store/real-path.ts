// Where a path leads, through links and also when it does not exist yet. Looks, and opens nothing.

import { lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errno } from "../errors.ts";

const MAX_LINKS = 40;

/** What cannot be looked at counts as not there. A missing file makes no error on the way: that would cost a hook more than all the rest. */
export function realPath(path: string): string {
  const rest: string[] = [];
  let links = 0;
  for (let at = path; ; ) {
    const stat = statOf(at);
    if (stat?.isSymbolicLink() && links < MAX_LINKS) {
      links += 1;
      at = resolve(dirname(at), readlinkSync(at));
    } else if (stat !== undefined && !stat.isSymbolicLink()) return join(realpathSync.native(at), ...rest);
    else if (dirname(at) === at) return path;
    else {
      rest.unshift(basename(at));
      at = dirname(at);
    }
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}

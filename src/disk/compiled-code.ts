// Reads compiled code of this program from disk: what one start has compiled (keep-code.ts) serves the next. Used where Node has no such cache
// (before 22.8), and by hooks on every version.

import { closeSync, fstatSync, openSync, readvSync, statSync } from "node:fs";
import { basename } from "node:path";
import { Script } from "node:vm";

/** A script of which no code is kept yet, and the file for it. */
export interface Missing {
  path: string;
  script: Script;
}

/**
 * Compiles `body`, the text of the file at `filename` in the form of a function, with what is kept of it in `directory`. Adds the script to
 * `missing` when nothing is kept, or only code of another V8.
 */
export function compileKept(body: string, filename: string, directory: string, missing: Missing[]): Script {
  const key = keyOf(filename);
  if (key === undefined) return new Script(body, { filename });
  const path = `${directory}/${key}`;
  const cachedData = readWhole(path);
  const script = new Script(body, cachedData === undefined ? { filename } : { filename, cachedData });
  if (cachedData === undefined || script.cachedDataRejected === true) missing.push({ path, script });
  return script;
}

/**
 * V8 compares only the length of a source, so the name also has the time of its last change: the one that no copy can set. Undefined when the
 * file has just been deleted, as when the installation is replaced.
 */
export function keyOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  return `${basename(path)}@${process.version}-${process.arch}-${found.size}-${Math.round(found.ctimeMs)}`;
}

/**
 * V8 runs damaged code as it is, so a file has the code twice: comparing both takes less time than loading a checksum, which brings Node's
 * streams with it.
 */
function readWhole(path: string): Uint8Array | undefined {
  try {
    const fd = openSync(path, "r");
    try {
      // Not readFileSync, whose code for bytes a hook uses for nothing else and would have to compile.
      const bytes = new Uint8Array(fstatSync(fd).size);
      const isRead = readvSync(fd, [bytes]) === bytes.length;
      const code = bytes.subarray(0, bytes.length / 2);
      const isWhole = isRead && code.length > 0 && Buffer.compare(code, bytes.subarray(code.length)) === 0;
      return isWhole ? code : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

// Where programs are looked for: the absolute directories of a PATH. An empty or relative entry means the current directory, and that
// may be a project whose files are anybody's.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { errno } from "./errors.ts";

/** What a system without a PATH of its own has; an empty PATH would mean the current directory. */
const systemPath = process.platform === "win32" ? "" : "/usr/local/bin:/usr/bin:/bin";

/** The PATH without entries that depend on the current directory. */
export function searchPath(path: string | undefined): string {
  return (path ?? "")
    .split(delimiter)
    .filter((entry) => isAbsolute(entry))
    .join(delimiter);
}

/** The PATH for a process that we start. */
export function safePath(path: string | undefined): string {
  return searchPath(path) || systemPath;
}

/** Where a program is on the PATH; undefined when it is not. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  const names = process.platform === "win32" ? [`${name}.exe`, name] : [name];
  const directories = searchPath(path)
    .split(delimiter)
    .filter((directory) => directory !== "");
  return directories.flatMap((directory) => names.map((file) => join(directory, file))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (errno(error) !== undefined) return false;
    throw error;
  }
}

// Searches for programs in the absolute directories of PATH only. An empty or relative entry means the current directory, which may be a
// project with untrusted files.

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { errno } from "./errors.ts";

/** Used when PATH has no absolute entry; an empty PATH would mean the current directory. */
const systemPath = process.platform === "win32" ? "" : "/usr/local/bin:/usr/bin:/bin";

/** The PATH without entries that depend on the current directory. */
export function searchPath(path: string | undefined): string {
  return (path ?? "")
    .split(delimiter)
    .filter((entry) => isAbsolute(entry))
    .join(delimiter);
}

/** The PATH for a process that Maestro starts. */
export function safePath(path: string | undefined): string {
  return searchPath(path) || systemPath;
}

/** The path of a program on PATH, or of one that is named by its path; undefined when it is not found. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  if (isAbsolute(name)) return isExecutable(name) ? name : undefined;
  const names = process.platform === "win32" ? [`${name}.exe`, name] : [name];
  const directories = searchPath(path)
    .split(delimiter)
    .filter((directory) => directory !== "");
  return directories.flatMap((directory) => names.map((file) => join(directory, file))).find(isExecutable);
}

const remembered = new Map<string, { path: string | undefined; program: string }>();

/**
 * The same, remembered for the process: the directories of PATH are searched again only when PATH changes or the program is gone. For a
 * program that is started again and again.
 */
export function rememberedProgram(name: string, path: string | undefined): string | undefined {
  const known = remembered.get(name);
  if (known !== undefined && known.path === path && isExecutable(known.program)) return known.program;
  const program = findProgram(name, path);
  if (program !== undefined) remembered.set(name, { path, program });
  return program;
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

// The directory of compiled code: in the installation, so that it has the protection of the code itself. The guard keeps agents away from there, and no
// environment variable moves it.

import { lstatSync, mkdirSync } from "node:fs";

/** The directory in the installation, which ends with a slash. Created if it is missing; undefined when code must not be kept. */
export function cacheDirectory(installation: string): string | undefined {
  // Windows does not report which users can write to a directory.
  if (process.geteuid === undefined) return undefined;
  const cwd = `${process.cwd()}/`;
  // An agent may write to the project, so an installation in the project, or one that is the project, gets no cache.
  if (installation.startsWith(cwd) || cwd.startsWith(installation)) return undefined;
  const directory = `${installation}.compile-cache`;
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found !== undefined) return isClosed(found) ? directory : undefined;
  mkdirSync(directory, { mode: 0o700, recursive: true });
  return isClosed(lstatSync(directory)) ? directory : undefined;
}

/** A directory of the user who runs this process, closed to all others; never a link. */
function isClosed({ uid, mode }: { uid: number; mode: number }): boolean {
  return uid === process.geteuid?.() && (mode & 0o077) === 0;
}

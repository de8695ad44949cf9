// The env files that an agent's program could load when it starts in a directory: those of the directory, of its parents and of the
// user's home. Read through links, as the program would; never written.

import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readFrom } from "../../disk/durable.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";

interface EnvFile {
  path: string;
  text: string;
}

/** No hand-written env file is longer. A longer file is rejected, because it could set a variable after the part we read. */
const MAX_BYTES = 1024 * 1024;
/** The kernel's own limit. */
const MAX_LINKS = 40;

/**
 * `names`: the paths of env files in a directory, in the program's order. In the home directory the program loads only the first. In the other
 * directories all existing ones are read, because the first may be deleted a moment later. The home's files count as the user's own, even if
 * the home is a parent of `root`.
 */
export function readEnvFiles(
  root: string,
  home: string,
  names: readonly string[],
): { project: EnvFile[]; home: EnvFile | null } {
  if (names.length === 0) return { project: [], home: null };
  const homes = new Set([home, realOf(home)]);
  const read = (directory: string) => names.flatMap((name) => readIfThere(join(directory, name)) ?? []);
  const above = directoriesFrom(realOf(root)).filter((directory) => !homes.has(directory));
  return { project: above.flatMap(read), home: read(home)[0] ?? null };
}

function directoriesFrom(start: string): string[] {
  const directories = [start];
  for (let at = start; at !== dirname(at); at = dirname(at)) directories.push(dirname(at));
  return directories;
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return path;
  }
}

/** Undefined when the file does not exist or this user cannot read it: then the program cannot read it either. */
function readIfThere(path: string): EnvFile | undefined {
  if (!isThere(path)) return undefined;
  if (leadsIntoProcess(path)) throw unreadable(path, "it leads to a file that differs from process to process");
  let fd: number;
  try {
    // O_NONBLOCK: opening a FIFO must not wait for its writer.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (gone.has(errno(error) ?? "")) return undefined;
    throw unreadable(path, reasonOf(error));
  }
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) return undefined;
    if (!stat.isFile()) throw unreadable(path, "it is not a regular file");
    const bytes = stat.size > MAX_BYTES ? undefined : readFrom(fd, 0, MAX_BYTES + 1);
    if (bytes === undefined || bytes.length > MAX_BYTES) throw unreadable(path, `it is larger than ${MAX_BYTES} bytes`);
    return { path, text: bytes.toString("utf8") };
  } finally {
    closeSync(fd);
  }
}

/** Avoids creating an error for a missing file, the usual case: that error would cost most of the time spent here. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (gone.has(errno(error) ?? "")) return false;
    throw unreadable(path, reasonOf(error));
  }
}

const gone = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP", "ENAMETOOLONG"]);

/** A link to /dev/stdin, for example, is the prompt for the program and another file for this process. */
function leadsIntoProcess(path: string): boolean {
  let at = path;
  for (let hops = 0; hops < MAX_LINKS; hops++) {
    at = join(realOf(dirname(at)), basename(at));
    // Files in /dev/shm are ordinary files in memory.
    if (/^\/(?:proc|dev(?!\/shm\/))\//.test(at)) return true;
    const target = linkAt(at);
    if (target === undefined) return false;
    at = resolve(dirname(at), target);
  }
  return false;
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}

/** An agent must not start when an env file may set unknown variables. */
function unreadable(path: string, reason: string): MaestroError {
  return new MaestroError("environment", `Cannot tell which variables ${path} sets: ${reason}`, {
    hint: "An agent would load this file. Move it out of the way, or make it smaller.",
  });
}

// Creates the state directory tree. To add a directory, add a line to `manifest`.

import { accessSync, closeSync, constants, existsSync, fstatSync, lstatSync, openSync, writeSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { type Directory, ioError, pathFault, withDirectory } from "../disk/contained.ts";
import { newTemporaryName, shownPath } from "../disk/durable.ts";
import { makeDirectories } from "../disk/make-directories.ts";
import { errno, MaestroError, reasonOf } from "../errors.ts";
import { inState, locateState, type StateLocation, walk } from "./location.ts";

export const manifest: readonly (readonly string[])[] = [
  ["state"],
  ["state", "archive"],
  ["plans"],
  ["plans", "archive"],
  ["parallel"],
];

/** O_TMPFILE creates a file without a name: it proves that a directory is writable without changing its listing. */
const O_TMPFILE = 0o20000000;

/** The strict form for the script `ensure-workspace`: only a relative directory of the project, with the documented messages. */
export function ensureRelativeWorkspace(projectRoot: string, stateDir: string): void {
  const fault = pathFault(stateDir);
  if (fault === "absolute") refuse(`STATE_DIR must be a relative path within the project (got: ${stateDir})`);
  if (fault === "traversal") refuse(`STATE_DIR must not contain path traversal components (got: ${stateDir})`);
  if (fault !== undefined) refuse(`STATE_DIR must be a directory name (got: ${JSON.stringify(stateDir)})`);
  ensureWorkspace(locateState(projectRoot, stateDir), stateDir);
}

/** Creates missing directories and checks that all are writable. Changes nothing when they are. */
export function ensureWorkspace(location: StateLocation, given = location.shown): void {
  if (isAbsolute(location.shown)) makeRoot(location.root);
  for (const path of manifest) {
    refuseLinks(location, path, given);
    const shown = [location.shown, ...path].join("/");
    create(location, path, shown);
    probe(location, path, shown);
  }
}

/** Throws if a workspace that does not exist cannot be created, without creating anything. */
export function requireCreatable(location: StateLocation): void {
  let nearest = join(location.root, ...location.components);
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
  } catch (error) {
    throw failedToCreate(location.shown, error);
  }
}

/**
 * Keeps session files out of git commits, stashes and cleans, whatever the project's own ignore rules say. An existing .gitignore is not
 * changed.
 */
function hideFromGit(location: StateLocation): void {
  if (!isInRepository(join(location.root, ...location.components))) return;
  for (const part of ["state", "parallel"]) inState(location, [part], ignoreAll);
}

/** Best effort: a failure only warns. */
export function tryHiding(location: StateLocation, warn: (message: string) => void): void {
  try {
    hideFromGit(location);
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    warn(error.message);
  }
}

function ignoreAll(directory: Directory): void {
  const found = directory.lstat(".gitignore");
  // An empty .gitignore is left by a process that was killed before it wrote the content.
  if (found !== undefined && (!found.isFile() || found.size > 0)) return;
  try {
    const fd = directory.open(".gitignore", constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK, 0o644);
    try {
      if (fstatSync(fd).size === 0) writeSync(fd, "# A session's own files: not part of the project's history.\n*\n");
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw ioError("write", shownPath(directory, ".gitignore"), error);
  }
}

function isInRepository(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (dirname(at) === at) return false;
  }
}

function makeRoot(root: string): void {
  try {
    makeDirectories(root, 0o700);
  } catch (error) {
    throw failedToCreate(root, error);
  }
}

function refuseLinks(location: StateLocation, path: readonly string[], given: string): void {
  const components = [...location.components, ...path];
  for (let length = 1; length <= components.length; length++) {
    const prefix = components.slice(0, length);
    if (!isLink(join(location.root, ...prefix))) continue;
    refuse(`STATE_DIR must not be a symlink (got: ${length <= location.components.length ? given : prefix.join("/")})`);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch (error) {
    // A file in place of a directory, or a name that is too long: creating the directory reports it.
    if (errno(error) !== undefined) return false;
    throw error;
  }
}

function create(location: StateLocation, path: readonly string[], shown: string): void {
  try {
    withDirectory(location.root, [...location.components, ...path], walk(location, true), () => undefined);
  } catch (error) {
    if (error instanceof MaestroError && error.code === "environment") throw error;
    throw failedToCreate(shown, error);
  }
}

function probe(location: StateLocation, path: readonly string[], shown: string): void {
  try {
    withDirectory(location.root, [...location.components, ...path], walk(location, false), writeProbe);
  } catch (error) {
    throw new MaestroError("io", `Directory not writable: ${shown}`, {
      hint: `Reason: ${reasonOf(error)}. ${remedy(error, "Change its permissions")}`,
      cause: error,
    });
  }
}

function writeProbe(directory: Directory): void {
  try {
    writeByte(openSync(directory.at("."), O_TMPFILE | constants.O_DIRECTORY | constants.O_WRONLY, 0o600));
    return;
  } catch (error) {
    // Not every kernel and file system supports O_TMPFILE.
    if (!["EOPNOTSUPP", "ENOTSUP", "EISDIR", "EINVAL", "ENOENT"].includes(errno(error) ?? "")) throw error;
  }
  const name = newTemporaryName();
  try {
    writeByte(directory.open(name, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
  } finally {
    directory.unlink(name);
  }
}

/** Writes a byte, because a full disk may still accept an empty file. */
function writeByte(fd: number): void {
  try {
    writeSync(fd, "x");
  } finally {
    closeSync(fd);
  }
}

function failedToCreate(shown: string, error: unknown): MaestroError {
  return new MaestroError("io", `Failed to create directory: ${shown}`, {
    hint: `Reason: ${reasonOf(error)}. ${remedy(error, "Remove what is in the way, change the permissions")}`,
    cause: error,
  });
}

function remedy(error: unknown, ofRights: string): string {
  const elsewhere = "set MAESTRO_STATE_DIR to a directory you can write to.";
  switch (errno(error instanceof MaestroError ? error.cause : error)) {
    case "ENOSPC":
    case "EDQUOT":
      return `Free some space, or ${elsewhere}`;
    case "EROFS":
      return `Mount it for writing, or ${elsewhere}`;
    default:
      return `${ofRights}, or ${elsewhere}`;
  }
}

function refuse(message: string): never {
  throw new MaestroError("path", message);
}

// Paths that cannot leave their root. A path is resolved component by component, links are followed only while they stay
// inside, and the result is then walked again by directory descriptor with O_NOFOLLOW: a directory swapped for a link
// between the check and the use is refused by the kernel, not by us. No other file of the store opens a path by name.

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  type Stats,
  unlinkSync,
} from "node:fs";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import { errno, MaestroError, reasonOf } from "../errors.ts";
import { crashPoint } from "./fault.ts";

const MAX_LINKS = 40;
const MAX_SHOWN_CHARS = 100;
const separators = process.platform === "win32" ? /[\\/\0]/ : /[/\0]/;
/** Linux addresses a file below an open directory as /proc/self/fd/<n>/<name>: what openat() is elsewhere. */
const byDescriptor = process.platform === "linux" && existsSync("/proc/self/fd");

/** What is wrong with a path before the disk is asked: the words of the traversal test count `\` as a separator everywhere. */
export function pathFault(path: string): "empty" | "absolute" | "traversal" | "nul" | undefined {
  if (path === "") return "empty";
  if (path.includes("\0")) return "nul";
  if (path.startsWith("/") || path.startsWith("\\") || /^[A-Za-z]:[\\/]/.test(path)) return "absolute";
  return path.split(/[\\/]/).includes("..") ? "traversal" : undefined;
}

/** A file's path without detours (`./src/../src/a.ts`), by its letters alone. What names no file is left to `pathFault`, as it is. */
export function withoutDetours(path: string): string {
  const plain = posix.normalize(path);
  return plain === "." || plain === "./" ? path : plain;
}

/** An open directory. Names given to its methods are single components. */
export class Directory {
  readonly fd: number;
  /** For messages only. */
  readonly shown: string;
  readonly #path: string;
  readonly #identity: Stats;

  private constructor(fd: number, path: string, shown: string) {
    this.fd = fd;
    this.#path = path;
    this.shown = shown;
    this.#identity = fstatSync(fd);
  }

  /** Opens a root by its real path; everything below it is reached through `child`. */
  static openRoot(path: string, shown = path): Directory {
    const real = realpathSync.native(path);
    return new Directory(openSync(real, constants.O_RDONLY | constants.O_DIRECTORY), real, shown);
  }

  child(name: string): Directory {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    return new Directory(openSync(this.at(name), flags), join(this.#path, name), join(this.shown, name));
  }

  /** The directory as it was when it was opened. */
  get stat(): Stats {
    return this.#identity;
  }

  /** The path of an entry, or of the directory itself ("."), for a system call; valid while it is open. Refuses all but a single name. */
  at(name: string): string {
    if (name === "" || name === ".." || separators.test(name)) {
      throw new MaestroError("path", `Not a file name (got: ${JSON.stringify(name.slice(0, MAX_SHOWN_CHARS))})`);
    }
    if (byDescriptor) return `/proc/self/fd/${this.fd}/${name}`;
    const now = lstatSync(this.#path);
    if (now.ino !== this.#identity.ino || now.dev !== this.#identity.dev) {
      throw new MaestroError("path", `Path changed while it was in use: ${this.shown}`);
    }
    return join(this.#path, name);
  }

  lstat(name: string): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  list(): string[] {
    return readdirSync(this.at("."));
  }

  open(name: string, flags: number, mode?: number): number {
    return openSync(this.at(name), flags | constants.O_NOFOLLOW, mode);
  }

  mkdir(name: string, mode: number): void {
    mkdirSync(this.at(name), mode);
  }

  link(from: string, to: string): void {
    crashPoint("link");
    linkSync(this.at(from), this.at(to));
    crashPoint("linked");
  }

  rename(from: string, to: string, target: Directory = this): void {
    crashPoint("rename");
    renameSync(this.at(from), target.at(to));
    crashPoint("renamed");
  }

  /** Removes a file; one that is already gone is fine. */
  unlink(name: string): void {
    crashPoint("unlink");
    try {
      unlinkSync(this.at(name));
    } catch (error) {
      if (errno(error) !== "ENOENT") throw error;
    }
    crashPoint("unlinked");
  }

  sync(): void {
    crashPoint("sync-dir");
    try {
      fsyncSync(this.fd);
    } catch (error) {
      // Some file systems (and Windows) have no fsync for directories; there is nothing stronger to ask for.
      if (!["EINVAL", "EPERM", "EISDIR", "ENOTSUP"].includes(errno(error) ?? "")) throw error;
    }
    crashPoint("synced-dir");
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** The components of `path` below `root` with every link resolved; the last ones may not exist yet. */
export function resolveInside(root: string, path: string): string[] {
  const realRoot = realpathSync.native(root);
  const pending = split(path);
  const resolved: string[] = [];
  let links = 0;
  while (pending.length > 0) {
    const name = pending.shift() as string;
    if (name === "..") {
      if (resolved.pop() === undefined) throw leaves(path);
      continue;
    }
    const link = readLink(join(realRoot, ...resolved, name));
    if (link === undefined) {
      resolved.push(name);
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw new MaestroError("path", `Too many symbolic links (got: ${path})`);
    if (!isAbsolute(link)) {
      pending.unshift(...split(link));
      continue;
    }
    const inside = relative(realRoot, link);
    if (isAbsolute(inside) || inside.split(sep)[0] === "..") throw leaves(path);
    resolved.length = 0;
    pending.unshift(...split(inside));
  }
  return resolved;
}

export interface WalkOptions {
  /** Make what is missing. */
  create: boolean;
  mode?: number;
  /** How messages call the root; empty: paths are shown relative to it. */
  shown?: string;
  /** Called with every directory on the way; throws to refuse it. */
  admit?: ((directory: Directory, depth: number) => void) | undefined;
}

/** Runs `use` with the directory that holds the last component of `path`, opened without following any link. */
export function withParent<T>(
  root: string,
  path: string,
  options: WalkOptions,
  use: (parent: Directory, name: string) => T,
): T {
  const components = resolveInside(root, path);
  const name = components.pop();
  if (name === undefined) throw new MaestroError("path", `Not a file (got: ${path})`);
  return withDirectory(root, components, options, (parent) => use(parent, name));
}

/** Runs `use` with the directory `root/components...`, opened without following any link; missing ones are made on request. */
export function withDirectory<T>(
  root: string,
  components: readonly string[],
  options: WalkOptions,
  use: (directory: Directory) => T,
): T {
  const opened: Directory[] = [Directory.openRoot(root, options.shown ?? "")];
  try {
    options.admit?.(opened[0] as Directory, 0);
    for (const name of components) {
      const parent = opened.at(-1) as Directory;
      opened.push(enter(parent, name, options));
      options.admit?.(opened.at(-1) as Directory, opened.length - 1);
    }
    return use(opened.at(-1) as Directory);
  } finally {
    for (const directory of opened) directory.close();
  }
}

function enter(parent: Directory, name: string, options: WalkOptions): Directory {
  try {
    return parent.child(name);
  } catch (error) {
    if (errno(error) !== "ENOENT" || !options.create) throw error;
  }
  try {
    parent.mkdir(name, options.mode ?? 0o777);
    parent.sync();
  } catch (error) {
    if (errno(error) !== "EEXIST") throw error;
  }
  return parent.child(name);
}

/** A system error about a path, in our words. */
export function ioError(action: string, path: string, error: unknown): Error {
  if (error instanceof MaestroError) return error;
  // Not the system's word but ours: a defect, to be seen as one.
  if (errno(error) === undefined) return error instanceof Error ? error : new Error(String(error));
  return new MaestroError("io", `Cannot ${action} ${path}: ${reasonOf(error)}`, { cause: error });
}

function split(path: string): string[] {
  const separators = process.platform === "win32" ? /[\\/]/ : /\//;
  return path.split(separators).filter((name) => name !== "" && name !== ".");
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    // EINVAL: not a link. ENOENT, ENOTDIR: not there (yet); the walk by descriptor decides.
    if (["EINVAL", "ENOENT", "ENOTDIR", "UNKNOWN"].includes(errno(error) ?? "")) return undefined;
    throw error;
  }
}

function leaves(path: string): MaestroError {
  return new MaestroError("path", `Path leaves the project through a symbolic link (got: ${path})`);
}

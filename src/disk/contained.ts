// Paths that cannot leave their root. A path is resolved component by component and links are followed only while they stay inside;
// the result is then opened directory by directory with O_NOFOLLOW, so the kernel rejects a directory that is swapped for a link
// between the check and the use. No other file of the store opens a path by name.

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
/** Linux addresses a file in an open directory as /proc/self/fd/<n>/<name>, which replaces openat(): Node has no binding for it. */
const byDescriptor = process.platform === "linux" && existsSync("/proc/self/fd");

/** What is wrong with the text of a path, without touching the disk. `\` counts as a separator on every platform. */
export function pathFault(path: string): "empty" | "absolute" | "traversal" | "nul" | undefined {
  if (path === "") return "empty";
  if (path.includes("\0")) return "nul";
  if (path.startsWith("/") || path.startsWith("\\") || /^[A-Za-z]:[\\/]/.test(path)) return "absolute";
  return path.split(/[\\/]/).includes("..") ? "traversal" : undefined;
}

/** Normalizes the text of a file path (`./src/../src/a.ts`). A path that names no file stays as it is, for `pathFault` to reject. */
export function withoutDetours(path: string): string {
  const plain = posix.normalize(path);
  return plain === "." || plain === "./" ? path : plain;
}

/** An open directory. Its methods accept single path components only. */
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

  /** Opens a root by its real path. Everything below it must be opened through `child`. */
  static openRoot(path: string, shown = path): Directory {
    const real = realpathSync.native(path);
    return new Directory(openSync(real, constants.O_RDONLY | constants.O_DIRECTORY), real, shown);
  }

  child(name: string): Directory {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    return new Directory(openSync(this.at(name), flags), join(this.#path, name), join(this.shown, name));
  }

  /** The status of the directory when it was opened. */
  get stat(): Stats {
    return this.#identity;
  }

  /** The path of an entry (or "." for the directory itself) for a system call, valid while it is open. Rejects anything but one name. */
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

  /** Deletes a file. A missing file is not an error. */
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
      // Some file systems (and Windows) do not support fsync on directories, and they offer nothing stronger.
      if (!["EINVAL", "EPERM", "EISDIR", "ENOTSUP"].includes(errno(error) ?? "")) throw error;
    }
    crashPoint("synced-dir");
  }

  close(): void {
    closeSync(this.fd);
  }
}

/** The components of `path` below `root` with every link resolved. The last components need not exist yet. */
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
  /** Create missing directories. */
  create: boolean;
  mode?: number;
  /** The name of the root in messages. Empty: messages show paths relative to the root. */
  shown?: string;
  /** Called with every directory that is opened; throws to reject it. */
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

/** Runs `use` with the directory `root/components...`, opened without following any link. Creates missing directories on request. */
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

/** Turns a system error about a path into a MaestroError. */
export function ioError(action: string, path: string, error: unknown): Error {
  if (error instanceof MaestroError) return error;
  // An error without an errno is a bug in Maestro, so it must not be reported as an I/O error.
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
    // EINVAL: not a link. ENOENT, ENOTDIR: it does not exist (yet), and opening it later decides.
    if (["EINVAL", "ENOENT", "ENOTDIR", "UNKNOWN"].includes(errno(error) ?? "")) return undefined;
    throw error;
  }
}

function leaves(path: string): MaestroError {
  return new MaestroError("path", `Path leaves the project through a symbolic link (got: ${path})`);
}

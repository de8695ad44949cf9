// Detects changes in a project outside git by comparing file metadata before and after. It reads no content and follows no link; each
// directory is opened relative to its parent.

import { type BigIntStats, type Dirent, lstatSync, opendirSync } from "node:fs";
import { Directory, ioError } from "../../disk/contained.ts";
import { errno, MaestroError } from "../../errors.ts";
import { turns } from "../../git/yield-turn.ts";
import type { FileChange } from "../../session/events.ts";

export interface Listing {
  /** Files and links, keyed by path relative to the root. */
  files: ReadonlyMap<string, ListedFile>;
  /** False when the project has more entries than the limit. */
  complete: boolean;
  /** Paths that could not be read: directories, and names that are not valid UTF-8. */
  unreadable: string[];
}

export interface ListedFile {
  inode: bigint;
  size: bigint;
  /** Time of the last write, in nanoseconds. */
  mtime: bigint;
  /** File type and permissions. */
  mode: bigint;
  /** Time of the last change of content or metadata, which no process can set. */
  ctime?: bigint;
  /** How many names the file has. */
  links?: bigint;
}

export interface ListingOptions {
  /** Paths relative to the root that are left out with everything below them, such as the state directory. */
  exclude: readonly string[];
  /** The maximum number of files and directories. */
  limit?: number;
  /** An earlier listing of the project: it is returned itself when nothing has changed. */
  earlier?: Listing | undefined;
  /** Called with every directory before it is read. */
  visits?: (directory: Directory, path: string) => void;
}

const MAX_ENTRIES = 200_000;
/** Each level of the walk holds an open descriptor. */
const MAX_DEPTH = 128;
/** Events do not accept a longer path. */
const MAX_PATH_CHARS = 4_096;
/** The name of the root itself in `unreadable`. */
const ROOT = ".";
/** How many directory entries are read at once. */
const CHUNK = 256;

/**
 * Directories that tools fill and people do not edit: repositories, dependencies, caches. Outside git no ignore file exists, so without
 * this list running the tests would count as a change. Not `dist`, `build`, `out` or `coverage`: creating them may be a phase's task.
 */
const filledByTools: ReadonlySet<string> = new Set([
  ...[".git", ".hg", ".svn", ".jj"],
  ...["node_modules", "bower_components", "jspm_packages", "__pypackages__", ".venv", "venv", "elm-stuff"],
  ...["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox"],
  ...[".gradle", ".terraform", ".turbo", ".parcel-cache"],
]);

/** Names that people also use for their own files: left out only beside a file of the tool that fills them. */
const filledBeside: ReadonlyMap<string, readonly string[]> = new Map([
  ["vendor", ["composer.json", "go.mod", "Gemfile"]],
  ["target", ["Cargo.toml", "pom.xml", "build.sbt"]],
  ["deps", ["mix.exs", "rebar.config"]],
  ["Pods", ["Podfile"]],
]);

/** Lists every file below `root` except excluded paths, repositories, dependencies and caches. Yields to the event loop while it walks. */
export async function listProject(root: string, options: ListingOptions): Promise<Listing> {
  const { exclude, limit = MAX_ENTRIES, earlier, visits } = options;
  const walk: Walk = {
    files: new Map(),
    earlier: earlier?.files ?? new Map(),
    unchanged: 0,
    visits: visits ?? (() => undefined),
    unreadable: new Set(),
    excluded: excludedPaths(exclude),
    left: limit,
    complete: true,
    pause: turns(),
  };
  const top = openRoot(root);
  try {
    await visit(walk, top, "", 1);
  } finally {
    top.close();
  }
  const listing = { files: walk.files, complete: walk.complete, unreadable: [...walk.unreadable].sort() };
  return earlier !== undefined && walk.unchanged === walk.files.size && isAlike(earlier, listing) ? earlier : listing;
}

/** Whether listings of the same files are alike in everything else. */
function isAlike(one: Listing, other: Listing): boolean {
  const isSameSize = one.files.size === other.files.size && one.complete === other.complete;
  return isSameSize && one.unreadable.join("\n") === other.unreadable.join("\n");
}

export function excludedPaths(exclude: readonly string[]): Set<string> {
  return new Set(exclude.map((path) => path.replace(/^(?:\.\/+)+|\/+$/g, "")));
}

interface Walk {
  files: Map<string, ListedFile>;
  earlier: Listing["files"];
  /** How many files are as in the earlier listing. */
  unchanged: number;
  visits: (directory: Directory, path: string) => void;
  unreadable: Set<string>;
  excluded: ReadonlySet<string>;
  /** How many more entries may be read. */
  left: number;
  complete: boolean;
  pause: ReturnType<typeof turns>;
}

function openRoot(root: string): Directory {
  try {
    return Directory.openRoot(root);
  } catch (error) {
    throw ioError("list", root, error);
  }
}

async function visit(walk: Walk, directory: Directory, path: string, depth: number): Promise<void> {
  for (const name of await readDirectory(walk, directory, path)) {
    if (!walk.complete) return;
    const below = path === "" ? name : `${path}/${name}`;
    if (depth === MAX_DEPTH) {
      walk.unreadable.add(below);
      continue;
    }
    const child = ifReadable(walk, below, () => directory.child(name));
    if (child === undefined) continue;
    try {
      await visit(walk, child, below, depth + 1);
    } finally {
      child.close();
    }
  }
}

/** Records the files of one directory; returns its subdirectories to visit. */
async function readDirectory(walk: Walk, directory: Directory, path: string): Promise<string[]> {
  walk.visits(directory, path);
  // Read in chunks: listing all names of a large directory at once would block the event loop.
  const entries = ifReadable(walk, path || ROOT, () => opendirSync(directory.at("."), { bufferSize: CHUNK }));
  if (entries === undefined) return [];
  const directories: string[] = [];
  const next = () => ifReadable(walk, path || ROOT, () => entries.readSync()) ?? null;
  try {
    for (let entry = next(); entry !== null && walk.complete; entry = next()) {
      const pause = walk.pause();
      if (pause !== undefined) await pause;
      if (record(walk, directory, path, entry) === "directory") directories.push(entry.name);
    }
  } finally {
    entries.closeSync();
  }
  return directories;
}

function record(walk: Walk, directory: Directory, path: string, entry: Dirent): "directory" | undefined {
  const { name } = entry;
  const below = path === "" ? name : `${path}/${name}`;
  if (walk.excluded.has(below) || ifReadable(walk, below, () => isFilledByTool(directory, entry))) return undefined;
  walk.complete = walk.left > 0;
  if (!walk.complete) return undefined;
  walk.left -= 1;
  if (below.length > MAX_PATH_CHARS) {
    walk.unreadable.add(path);
    return undefined;
  }
  const stat = ifReadable(walk, below, () => lstatAt(directory, name));
  if (stat?.isDirectory()) return "directory";
  if (stat?.isFile() || stat?.isSymbolicLink()) {
    const earlier = walk.earlier.get(below);
    const file = listed(stat, earlier);
    if (file === earlier) walk.unchanged += 1;
    walk.files.set(below, file);
  }
  // A name that is not valid UTF-8 cannot be looked up by its decoded form.
  if (stat === undefined && name.includes("\ufffd")) walk.unreadable.add(below);
  return undefined;
}

function listed(
  { ino, size, mtimeNs, mode, ctimeNs, nlink }: BigIntStats,
  earlier: ListedFile | undefined,
): ListedFile {
  const file = { inode: ino, size, mtime: mtimeNs, mode, ctime: ctimeNs, links: nlink };
  return earlier?.ctime === ctimeNs && earlier.links === nlink && isSame(earlier, file) ? earlier : file;
}

function lstatAt(directory: Directory, name: string): BigIntStats | undefined {
  return lstatSync(directory.at(name), { bigint: true, throwIfNoEntry: false });
}

/** Whether one of the names, separated by NUL, is in a directory that a listing may leave out. */
export function leavesOut(names: string): boolean {
  return inLeftOut.test(names);
}

const leftOut = [...filledByTools, ...filledBeside.keys()].map((name) => name.replace(".", "\\."));
const inLeftOut = new RegExp(`(?:^|[\\0/])(?:${leftOut.join("|")})/`);

/** Whether a directory of this name is always left out. */
export function isFilledByTools(name: string): boolean {
  return filledByTools.has(name);
}

function isFilledByTool(directory: Directory, entry: Dirent): boolean {
  if (entry.isFile()) return false;
  if (isFilledByTools(entry.name)) return true;
  const tools = filledBeside.get(entry.name);
  return tools?.some((file) => directory.lstat(file) !== undefined) === true;
}

const unreadableCodes: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EIO", "ENAMETOOLONG"]);
/** The path was removed or replaced during the walk. */
const goneCodes: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

function ifReadable<T>(walk: Walk, path: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const code = errno(error) ?? "";
    if (goneCodes.has(code)) return undefined;
    if (!unreadableCodes.has(code) && !(error instanceof MaestroError)) throw error;
    walk.unreadable.add(path);
    return undefined;
  }
}

/**
 * Sorted by path. A file that moved and is otherwise the same counts as renamed. A path that one of the listings could not read counts as
 * neither created nor deleted, because its state is unknown.
 */
export function listingChanges(before: Listing, after: Listing): FileChange[] {
  if (before === after) return [];
  const missing = new Map<string, string[]>();
  const changes: FileChange[] = [];
  const unseen = { before: mayBeUnlisted(before), after: mayBeUnlisted(after) };
  let stayed = 0;
  for (const [path, file] of before.files) {
    const now = after.files.get(path);
    if (now !== undefined) {
      stayed += 1;
      if (!isSame(file, now)) changes.push(change(path, "modified"));
    } else if (!unseen.after(path)) {
      const paths = missing.get(identity(file));
      // Several paths share one identity when they are hard links to the same file.
      if (paths === undefined) missing.set(identity(file), [path]);
      else paths.push(path);
    }
  }
  for (const [path, file] of stayed === after.files.size ? [] : after.files) {
    if (before.files.has(path)) continue;
    const from = missing.get(identity(file))?.pop();
    if (from !== undefined) changes.push({ ...change(path, "renamed"), from });
    else if (!unseen.before(path)) changes.push(change(path, "created"));
  }
  for (const path of [...missing.values()].flat()) changes.push(change(path, "deleted"));
  return changes.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));
}

function isSame(one: ListedFile, other: ListedFile): boolean {
  if (one === other) return true;
  if (one.mtime !== other.mtime || one.size !== other.size || one.inode !== other.inode || one.mode !== other.mode)
    return false;
  // A new or removed name of the same file changes only its change time and its count of names.
  return one.ctime === other.ctime || one.ctime === undefined || one.links !== other.links;
}

/** The metadata that a file keeps when it is moved. */
function identity({ inode, size, mtime }: ListedFile): string {
  return `${inode} ${size} ${mtime}`;
}

function change(path: string, kind: FileChange["kind"]): FileChange {
  return { path, kind, added: null, removed: null };
}

/** Returns a test for paths that may exist although they are not listed. */
function mayBeUnlisted({ complete, unreadable }: Listing): (path: string) => boolean {
  if (!complete) return () => true;
  if (unreadable.length === 0) return () => false;
  const spots = new Set(unreadable);
  if (spots.has(ROOT)) return () => true;
  return (path) => {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      if (spots.has(path.slice(0, end))) return true;
    }
    return false;
  };
}

// What changed in a project that git knows nothing of: its files before and after, told apart by what the disk says about them. No content is
// read and no link followed; every directory is opened from the one above it.

import { type BigIntStats, type Dirent, lstatSync, opendirSync } from "node:fs";
import { Directory, ioError } from "../../disk/contained.ts";
import { errno, MaestroError } from "../../errors.ts";
import { turns } from "../../git/yield-turn.ts";
import type { FileChange } from "../../session/events.ts";

export interface Listing {
  /** Files and links by their path, relative to the root. */
  files: ReadonlyMap<string, ListedFile>;
  /** False: there was more than is looked at. */
  complete: boolean;
  /** What could not be looked at: directories, and names that are no text. */
  unreadable: string[];
}

export interface ListedFile {
  inode: bigint;
  size: bigint;
  /** Of the last write, in nanoseconds. */
  mtime: bigint;
  /** Kind and permissions. */
  mode: bigint;
}

export interface ListingOptions {
  /** Relative to the root, with all that lies below: the state directory. */
  exclude: readonly string[];
  /** Files and directories that are looked at. */
  limit?: number;
}

const MAX_ENTRIES = 200_000;
/** Each level holds a descriptor. */
const MAX_DEPTH = 128;
/** No event names a longer one. */
const MAX_PATH_CHARS = 4_096;
/** How the root itself is named among what could not be looked at. */
const ROOT = ".";
/** Entries of a directory that are read at once. */
const CHUNK = 256;

/**
 * Directories that tools fill and nobody edits: repositories, dependencies, caches. Outside git nothing says what is to be ignored, and
 * running the tests would count as a change. Not `dist`, `build`, `out` or `coverage`: a phase may be there to make what is in them.
 */
const filledByTools: ReadonlySet<string> = new Set([
  ...[".git", ".hg", ".svn", ".jj"],
  ...["node_modules", "bower_components", "jspm_packages", "__pypackages__", ".venv", "venv", "elm-stuff"],
  ...["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox"],
  ...[".gradle", ".terraform", ".turbo", ".parcel-cache"],
]);

/** Names that people use for their own work too: only beside a file of the tool that fills them. */
const filledBeside: ReadonlyMap<string, readonly string[]> = new Map([
  ["vendor", ["composer.json", "go.mod", "Gemfile"]],
  ["target", ["Cargo.toml", "pom.xml", "build.sbt"]],
  ["deps", ["mix.exs", "rebar.config"]],
  ["Pods", ["Podfile"]],
]);

/** Every file below `root` but for what is excluded, repositories, dependencies and caches. Lets others have their turn. */
export async function listProject(root: string, { exclude, limit = MAX_ENTRIES }: ListingOptions): Promise<Listing> {
  const walk: Walk = {
    files: new Map(),
    unreadable: new Set(),
    excluded: new Set(exclude.map((path) => path.replace(/^(?:\.\/+)+|\/+$/g, ""))),
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
  return { files: walk.files, complete: walk.complete, unreadable: [...walk.unreadable].sort() };
}

interface Walk {
  files: Map<string, ListedFile>;
  unreadable: Set<string>;
  excluded: ReadonlySet<string>;
  /** How many entries may still be looked at. */
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
  for (const name of await look(walk, directory, path)) {
    if (!walk.complete) return;
    const below = path === "" ? name : `${path}/${name}`;
    if (depth === MAX_DEPTH) {
      walk.unreadable.add(below);
      continue;
    }
    const child = unlessHidden(walk, below, () => directory.child(name));
    if (child === undefined) continue;
    try {
      await visit(walk, child, below, depth + 1);
    } finally {
      child.close();
    }
  }
}

/** Records the files of one directory; answers with the directories in it that are to be visited. */
async function look(walk: Walk, directory: Directory, path: string): Promise<string[]> {
  // In pieces: a list of all names of a large directory alone would keep others waiting.
  const entries = unlessHidden(walk, path || ROOT, () => opendirSync(directory.at("."), { bufferSize: CHUNK }));
  if (entries === undefined) return [];
  const directories: string[] = [];
  const next = () => unlessHidden(walk, path || ROOT, () => entries.readSync()) ?? null;
  try {
    for (let entry = next(); entry !== null && walk.complete; entry = next()) {
      await walk.pause();
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
  if (walk.excluded.has(below) || unlessHidden(walk, below, () => isForeign(directory, entry))) return undefined;
  walk.complete = walk.left > 0;
  if (!walk.complete) return undefined;
  walk.left -= 1;
  if (below.length > MAX_PATH_CHARS) {
    walk.unreadable.add(path);
    return undefined;
  }
  const stat = unlessHidden(walk, below, () => lookAt(directory, name));
  if (stat?.isDirectory()) return "directory";
  if (stat?.isFile() || stat?.isSymbolicLink()) {
    walk.files.set(below, { inode: stat.ino, size: stat.size, mtime: stat.mtimeNs, mode: stat.mode });
  }
  // A name that is no text cannot be asked for.
  if (stat === undefined && name.includes("\ufffd")) walk.unreadable.add(below);
  return undefined;
}

function lookAt(directory: Directory, name: string): BigIntStats | undefined {
  return lstatSync(directory.at(name), { bigint: true, throwIfNoEntry: false });
}

function isForeign(directory: Directory, entry: Dirent): boolean {
  if (entry.isFile()) return false;
  if (filledByTools.has(entry.name)) return true;
  const tools = filledBeside.get(entry.name);
  return tools?.some((file) => directory.lstat(file) !== undefined) === true;
}

const hidden: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EIO", "ENAMETOOLONG"]);
/** Removed, or something else by now. */
const gone: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

function unlessHidden<T>(walk: Walk, path: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const code = errno(error) ?? "";
    if (gone.has(code)) return undefined;
    if (!hidden.has(code) && !(error instanceof MaestroError)) throw error;
    walk.unreadable.add(path);
    return undefined;
  }
}

/**
 * Sorted by path. A file that moved and is otherwise the same was renamed. What one of the listings could not look at is neither created nor
 * deleted: nobody knows.
 */
export function listingChanges(before: Listing, after: Listing): FileChange[] {
  const missing = new Map<string, string[]>();
  const changes: FileChange[] = [];
  const unseen = { before: blindSpots(before), after: blindSpots(after) };
  let stayed = 0;
  for (const [path, file] of before.files) {
    const now = after.files.get(path);
    if (now !== undefined) {
      stayed += 1;
      if (!isSame(file, now)) changes.push(change(path, "modified"));
    } else if (!unseen.after(path)) {
      const paths = missing.get(identity(file));
      // More than one: they were links to the same file.
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
  return one.mtime === other.mtime && one.size === other.size && one.inode === other.inode && one.mode === other.mode;
}

/** What a file keeps when it is moved. */
function identity({ inode, size, mtime }: ListedFile): string {
  return `${inode} ${size} ${mtime}`;
}

function change(path: string, kind: FileChange["kind"]): FileChange {
  return { path, kind, added: null, removed: null };
}

/** Tells whether a path may be there although it is not listed. */
function blindSpots({ complete, unreadable }: Listing): (path: string) => boolean {
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

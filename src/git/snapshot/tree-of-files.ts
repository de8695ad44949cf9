// Builds the tree of the files in a directory, through a temporary index. Reads files and writes objects; does not change the files, the
// user's index or the references.

import { lstatSync, readFileSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { newTemporaryName } from "../../disk/durable.ts";
import { errno, MaestroError } from "../../errors.ts";
import type { TreeId } from "../../ids.ts";
import { isBelow, rawInput, rawNames, toRaw } from "../names.ts";
import { answeredTree, objectId } from "../objects/object-id.ts";
import { ownGit, theirGit } from "../own-git.ts";
import { readFile } from "../read-file.ts";
import type { Repository } from "../repository.ts";
import { submoduleReason, unmergedReason } from "../unfit.ts";
import { type Bound, beyond, type Unkept } from "./bounded.ts";
import { convertedEntries } from "./converted.ts";
import { type IndexEntry, type IndexFile, readIndexFile } from "./index-file.ts";
import { leftOut, specialFiles } from "./special-files.ts";

export interface Files {
  workTree: string;
  /** The index to start from, because it records which files are unchanged. It is copied, never written. */
  index: string;
  /** Whose index it is: entries of the user's index may hold content that git converted. */
  by: "user" | "us";
  /** Raw, from the top of the repository. These paths and everything below them are left out. */
  exclude: readonly string[];
  /** Raw. Left out too, except for files in `force`. */
  apart?: readonly string[];
  /** Raw. Files that are included although git ignores them. */
  force: readonly string[];
  /** The attempt in this worktree has ended, so files that git cannot read may be deleted. */
  isOver?: boolean;
  /** Limits how much is added to the objects. */
  bound?: Bound | undefined;
}

export interface FilesTree {
  tree: TreeId;
  /** Raw; a directory ends with "/". Ignored paths, with a wholly ignored directory as one entry. */
  ignored: string[];
  /** Raw. Nested repositories, which are left out. */
  nested: string[];
  /** Changed files beyond the bound: the tree has them as the index had them. */
  unkept: (Unkept & { isNew: boolean })[];
  warnings: string[];
}

const TRIES = 3;
const RETRY_WITHIN_MS = 60_000;

/** `use` receives the index of the tree, which is deleted afterwards. */
export async function treeOfFiles<T>(
  repository: Repository,
  files: Files,
  use: (found: FilesTree, index: string) => Promise<T>,
): Promise<T> {
  const began = performance.now();
  for (let attempt = 1; ; attempt++) {
    const index = join(repository.place, newTemporaryName());
    try {
      const found = await gather(repository, files, index).catch((error: unknown) => {
        // A file vanished or grew while git read it: retry. A lasting problem is thrown.
        const isEarly = attempt < TRIES && performance.now() - began < RETRY_WITHIN_MS;
        if (isEarly && error instanceof MaestroError && error.code === "environment") return undefined;
        throw error;
      });
      if (found !== undefined) return await use(found, index);
    } finally {
      for (const path of [index, `${index}.lock`]) removeIfThere(path);
    }
  }
}

async function gather(repository: Repository, files: Files, index: string): Promise<FilesTree> {
  const { workTree, by } = files;
  const exclude = [...files.exclude, ...ownPlace(repository, workTree)];
  const onIndex = (args: string[], input?: Buffer) =>
    ownGit(repository, args, { workTree, index, ...(input === undefined ? {} : { input }) });
  const { entries, tree: noted } = await copyIndex(repository, files.index, index);
  if (by === "user") {
    const unmerged = unmergedReason(repository.gitDir, entries);
    if (unmerged !== undefined) throw new MaestroError("conflict", `The project cannot be read: ${unmerged}`);
    const unfit = submoduleReason(entries);
    if (unfit !== undefined) throw new MaestroError("path", `The project cannot be read: ${unfit}`);
  }
  const wanted = new Set(files.force);
  const apart = files.apart ?? [];
  const isOut = (name: string) => isBelow(name, exclude) || (isBelow(name, apart) && !wanted.has(name));
  const tracked = directoriesOf(entries.filter(({ name }) => !isOut(name)));
  const special = await specialFiles(repository, {
    workTree,
    tracked,
    mayRemove: files.isOver === true,
    wanted: files.force,
  });
  const converted = by === "user" ? await convertedEntries(repository, index, entries) : [];
  const corrections = correct(entries, converted, isOut);
  if (corrections.length > 0) await onIndex(["update-index", "-z", "--index-info"], rawInput(corrections));

  // For a submodule, git would start another git, which runs what the submodule configures.
  const look = ["--porcelain", "-z", "-uall", "--ignored=matching", "--no-renames", "--ignore-submodules=all"];
  const status = await onIndex(["status", ...look]);
  const seen = sort(rawNames(status.stdout), isOut);
  const odd = new Set(seen.changed.filter((name) => !isContent(workTree, name)));
  const gone = [...seen.gone, ...odd];
  const changed = [
    ...seen.changed.filter((name) => !odd.has(name)),
    ...forced(files, [...seen.ignored, ...apart], exclude),
  ];
  const unkept = beyond(workTree, changed, files.bound);
  const left = new Set(unkept.map(({ name }) => name));
  const taken = changed.filter((name) => !left.has(name));
  if (gone.length > 0) {
    await onIndex(["update-index", "-z", "--index-info"], rawInput(gone.map((name) => removal(name, repository))));
  }
  if (taken.length > 0) {
    await onIndex(["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], rawInput(taken));
  }
  const isAsNoted = noted !== undefined && corrections.length + gone.length + taken.length === 0;
  const tree = isAsNoted
    ? (objectId(repository, noted) as TreeId)
    : answeredTree(repository, (await onIndex(["write-tree", "--missing-ok"])).stdout);
  const { ignored, nested } = seen;
  const told = await leftOut(
    repository,
    workTree,
    special.filter(({ name }) => !isOut(name)),
  );
  const warnings = told === undefined ? status.warnings : [...status.warnings, told];
  const known = new Set(unkept.length === 0 ? [] : entries.map(({ name }) => name));
  const toldUnkept = unkept.map((file) => ({ ...file, isNew: !known.has(file.name) }));
  return { tree, ignored, nested, unkept: toldUnkept, warnings };
}

/** Raw names of all directories that contain a file in the index. */
function directoriesOf(entries: readonly IndexEntry[]): Set<string> {
  const directories = new Set<string>();
  for (const { name } of entries) {
    for (let end = name.lastIndexOf("/"); end > 0; end = name.lastIndexOf("/", end - 1)) {
      const directory = name.slice(0, end);
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  }
  return directories;
}

/**
 * Copies an index with a time that is not later than its own: git rereads a file that is newer than the index, because it may have changed.
 * Full seconds, because some builds of git compare no further.
 */
async function copyIndex(
  repository: Repository,
  from: string,
  to: string,
): Promise<Pick<IndexFile, "entries" | "tree">> {
  const idBytes = repository.objectFormat === "sha1" ? 20 : 32;
  const source = readFile(from);
  if (source === undefined) return { entries: [], tree: undefined };
  const { mtimeMs } = source.stat;
  const { entries, shared, tree } = readIndexFile(source.bytes, idBytes);
  writeFileSync(to, source.bytes, { flag: "wx", mode: 0o600 });
  setTime(to, mtimeMs);
  if (shared === undefined || /^0*$/.test(shared)) return { entries, tree };
  // The other half is beside the user's index; git joins the two.
  await theirGit(repository, ["update-index", "--no-split-index"], { index: to });
  setTime(to, mtimeMs);
  return readIndexFile(readFileSync(to), idBytes);
}

function setTime(path: string, mtimeMs: number): void {
  const seconds = Math.floor(mtimeMs / 1000);
  utimesSync(path, seconds, seconds);
}

/** Lines that remove entries, or add them again without git's cached file status, so that git rereads the files. */
function correct(
  entries: readonly IndexEntry[],
  converted: readonly IndexEntry[],
  isOut: (name: string) => boolean,
): string[] {
  const suspects = new Set(converted);
  const lines: string[] = [];
  for (const entry of entries) {
    if (isOut(entry.name)) lines.push(`0 ${"0".repeat(entry.id.length)}\t${entry.name}`);
    else if (entry.isHidden || suspects.has(entry)) lines.push(`${entry.mode.toString(8)} ${entry.id}\t${entry.name}`);
  }
  return lines;
}

function removal(name: string, { objectFormat }: Repository): string {
  return `0 ${"0".repeat(objectFormat === "sha1" ? 40 : 64)}\t${name}`;
}

interface Seen {
  changed: string[];
  gone: string[];
  ignored: string[];
  nested: string[];
}

/** Records are "XY name": X compares the index with HEAD and does not matter here, Y compares the file with the index. */
function sort(records: readonly string[], isOut: (name: string) => boolean): Seen {
  const seen: Seen = { changed: [], gone: [], ignored: [], nested: [] };
  for (const record of records) {
    const state = record[1];
    if (state === " ") continue;
    const name = record.slice(3);
    if (isOut(name.replace(/\/$/, ""))) continue;
    if (state === "!") seen.ignored.push(name);
    else if (state === "D") seen.gone.push(name);
    else if (name.endsWith("/")) seen.nested.push(name);
    else seen.changed.push(name);
  }
  return seen;
}

/** The requested files (`force`) that are below an ignored or omitted path. */
function forced({ workTree, force }: Files, ignored: readonly string[], exclude: readonly string[]): string[] {
  if (force.length === 0 || ignored.length === 0) return [];
  const apart = new Set(ignored.map((name) => name.replace(/\/$/, "")));
  return force.filter((name) => hasAbove(name, apart) && !isBelow(name, exclude) && isFile(workTree, name));
}

function hasAbove(name: string, paths: ReadonlySet<string>): boolean {
  for (let end = name.length; end > 0; end = name.lastIndexOf("/", end - 1)) {
    if (paths.has(name.slice(0, end))) return true;
  }
  return false;
}

function isFile(workTree: string, name: string): boolean {
  try {
    return lstatSync(Buffer.from(`${toRaw(workTree)}/${name}`, "latin1"), { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    if (errno(error) === "ENOTDIR") return false;
    throw error;
  }
}

/** What git can store: not a FIFO or a socket that replaced a file. */
function isContent(workTree: string, name: string): boolean {
  const stat = lstatSync(Buffer.from(`${toRaw(workTree)}/${name}`, "latin1"), { throwIfNoEntry: false });
  return stat === undefined || stat.isFile() || stat.isSymbolicLink();
}

/** The path of Maestro's own directory when it is inside the working tree: the repository may be in the home directory. */
function ownPlace(repository: Repository, workTree: string): string[] {
  const below = relative(workTree, repository.place);
  return below === "" || below.startsWith("..") ? [] : [toRaw(below)];
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errno(error) !== "ENOENT") throw error;
  }
}

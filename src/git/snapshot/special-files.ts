// Finds FIFOs, sockets and devices in a directory before git reads it. git opens some files without checking their kind (.gitignore,
// .gitattributes, HEAD of a nested repository) and would wait forever for a writer. Directory listings have the kinds.

import { type Dirent, lstatSync, readdirSync, unlinkSync } from "node:fs";
import { MaestroError } from "../../errors.ts";
import { stripControls } from "../../text.ts";
import { fromRaw, rawInput, rawNames, toRaw } from "../names.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { dependencyNames } from "../worktree/dependency-names.ts";
import { turns } from "../yield-turn.ts";
import { blockingKindAt, fileKindOf, gitDirectory, isUnreachable, mayBlock, type SpecialKind } from "./file-kind.ts";

export interface SpecialFile {
  /** Raw, from the top of the repository. */
  name: string;
  kind: SpecialKind;
}

export interface Looking {
  workTree: string;
  /** Raw names of the directories that are in the index. */
  tracked: ReadonlySet<string>;
  /** Whether a special file that git would open may be deleted: in a worktree of Maestro's whose attempt has ended. */
  mayRemove: boolean;
  /** Also visit ignored directories, for a git command that does not skip them. */
  everywhere?: boolean;
  /** Raw names of files that git reads even inside ignored directories. */
  wanted?: readonly string[];
}

/** Names that git opens in every directory that it enters. */
const opened = /^\.git(?:ignore|attributes)$/i;
const MAX_NAMED = 10;
/** The files by which git recognizes a nested repository. */
const signs = ["HEAD", "commondir"];

/**
 * All special files that git would come across. Those that git would open are deleted or, where Maestro may not do that, rejected with an
 * error that names them.
 */
export async function specialFiles(repository: Repository, looking: Looking): Promise<SpecialFile[]> {
  const walk: Walk = { ...looking, found: [], opened: [], unknown: [], pause: turns() };
  const isIgnored = async (names: readonly string[]) => {
    clear(walk);
    return looking.everywhere ? new Set<string>() : ignoredAmong(repository, looking.workTree, names);
  };
  await visit(walk, [""]);
  for (const name of looking.wanted ?? []) walk.opened.push(...attributesOnTheWay(walk.workTree, name));
  while (walk.unknown.length > 0) {
    const names = walk.unknown.splice(0);
    for (const name of names) walk.opened.push(...repositorySigns(walk.workTree, name));
    const ignored = await isIgnored(names);
    await visit(
      walk,
      names.filter((name) => !ignored.has(name)),
    );
  }
  clear(walk);
  return walk.found;
}

/** A warning about special files; undefined when all of them are ignored, such as the socket of a tool. */
export async function leftOut(
  repository: Repository,
  workTree: string,
  found: readonly SpecialFile[],
): Promise<string | undefined> {
  if (found.length === 0) return undefined;
  const ignored = await ignoredAmong(
    repository,
    workTree,
    found.map(({ name }) => name),
  );
  const told = found.filter(({ name }) => !ignored.has(name));
  if (told.length === 0) return undefined;
  const more = told.length > MAX_NAMED ? ` and ${told.length - MAX_NAMED} more` : "";
  return `Left out, because git cannot store it: ${told.slice(0, MAX_NAMED).map(shown).join(", ")}${more}`;
}

interface Walk extends Looking {
  found: SpecialFile[];
  /** The ones among `found` that git would open. */
  opened: SpecialFile[];
  /** Directories that may be ignored. They are visited only once git has said that they are not. */
  unknown: string[];
  pause: ReturnType<typeof turns>;
}

async function visit(walk: Walk, names: readonly string[]): Promise<void> {
  const left = [...names];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    await walk.pause();
    for (const entry of entriesOf(walk.workTree, name)) {
      const isRepository = entry.name === ".git" && name !== "" && !walk.tracked.has(name);
      if (isRepository) walk.opened.push(...repositorySigns(walk.workTree, name));
      if (entry.isFile() || entry.isSymbolicLink()) continue;
      const path = name === "" ? entry.name : `${name}/${entry.name}`;
      if (!entry.isDirectory()) note(walk, path, entry);
      else if (entry.name !== ".git") (isPlain(walk, name, entry.name, path) ? left : walk.unknown).push(path);
    }
  }
}

/** Whether git certainly enters the directory, or visiting it is cheaper than asking git. */
function isPlain({ tracked, everywhere }: Walk, parent: string, name: string, path: string): boolean {
  if (everywhere || tracked.has(path)) return true;
  // Everything below a new directory is new, and asking git about each one would take longer than visiting it.
  return parent !== "" && !tracked.has(parent) && !dependencyNames.has(name);
}

function note(walk: Walk, name: string, entry: Dirent): void {
  const kind = fileKindOf(entry);
  if (kind === undefined) return;
  walk.found.push({ name, kind });
  if (mayBlock(kind) && !walk.everywhere && opened.test(entry.name)) walk.opened.push({ name, kind });
}

/** Deletes the files that git would open, or throws because Maestro may not. */
function clear({ workTree, mayRemove, opened: names }: Walk): void {
  for (const file of names.splice(0)) {
    if (!mayRemove || !opened.test(file.name.slice(file.name.lastIndexOf("/") + 1))) {
      throw new MaestroError("path", `${shown(file)} has the name of a file that git reads`, {
        hint: "Delete it: git would wait for it forever.",
      });
    }
    if (kindIn(workTree, file.name) !== undefined) unlinkSync(rawPath(workTree, file.name));
  }
}

/** For the attributes of a file, git reads .gitattributes in every directory above it. */
function attributesOnTheWay(workTree: string, name: string): SpecialFile[] {
  const found: SpecialFile[] = [];
  for (let end = name.lastIndexOf("/"); end > 0; end = name.lastIndexOf("/", end - 1)) {
    const path = `${name.slice(0, end)}/.gitattributes`;
    const kind = kindIn(workTree, path);
    if (mayBlock(kind)) found.push({ name: path, kind });
  }
  return found;
}

function kindIn(workTree: string, name: string): SpecialKind | undefined {
  try {
    const stat = lstatSync(rawPath(workTree, name), { throwIfNoEntry: false });
    return stat === undefined ? undefined : fileKindOf(stat);
  } catch (error) {
    if (isUnreachable(error)) return undefined;
    throw error;
  }
}

/** The files that git would wait for in the repository inside `name`, or in the one that its .git points to. */
function repositorySigns(workTree: string, name: string): SpecialFile[] {
  const base = `${toRaw(workTree)}/${name}`;
  const gitDir = gitDirectory(base);
  if (gitDir === undefined) return [];
  return signs.flatMap((sign) => {
    const kind = blockingKindAt(`${gitDir}/${sign}`);
    return kind === undefined ? [] : [{ name: `${name}/.git/${sign}`, kind }];
  });
}

async function ignoredAmong(
  repository: Repository,
  workTree: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  // This command does not accept literal pathspecs; "./" keeps a leading colon from having a special meaning.
  const { stdout } = await ownGit(repository, ["--no-literal-pathspecs", "check-ignore", "-z", "--stdin"], {
    workTree,
    input: rawInput(names.map((name) => `./${name}`)),
    codes: [0, 1],
  });
  return new Set(rawNames(stdout).map((name) => name.slice(2)));
}

/** In a directory that is missing, unreadable or too deep, git cannot open anything either. */
function entriesOf(workTree: string, name: string): Dirent[] {
  try {
    return readdirSync(rawPath(workTree, name), { withFileTypes: true, encoding: "latin1" });
  } catch (error) {
    if (isUnreachable(error)) return [];
    throw error;
  }
}

function rawPath(workTree: string, name: string): Buffer {
  return Buffer.from(name === "" ? toRaw(workTree) : `${toRaw(workTree)}/${name}`, "latin1");
}

function shown({ name, kind }: SpecialFile): string {
  return `${stripControls(fromRaw(name)).replace(/\s+/g, " ")} (${kind})`;
}

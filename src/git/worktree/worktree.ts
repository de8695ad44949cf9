// Worktrees: a directory with the files for an attempt, outside the project, registered with the repository so that the agent's git works
// there. Maestro does not rely on the `.git` or the index there, which the agent may change: its own index is beside the directory.

import { copyFileSync, mkdirSync, readFileSync, renameSync, statSync, utimesSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { withDirectory } from "../../disk/contained.ts";
import { newTemporaryName } from "../../disk/durable.ts";
import { judge } from "../../disk/identity.ts";
import { MaestroError } from "../../errors.ts";
import type { CommitId, SessionId } from "../../ids.ts";
import { fromProject, fromRaw, toProject } from "../names.ts";
import { commitTree, treeIdOf } from "../objects/commit.ts";
import { END_OF_OPTIONS, objectId } from "../objects/object-id.ts";
import { ownGit } from "../own-git.ts";
import { keepBase } from "../refs.ts";
import type { Repository } from "../repository.ts";
import type { Bound } from "../snapshot/bounded.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { type FilesTree, treeOfFiles } from "../snapshot/tree-of-files.ts";
import { copyIgnored } from "./copy-ignored.ts";
import { checkName, inPlace, type Marker, newMarker, placeMarker, readMarker, updateMarker } from "./marker.ts";
import { aboutWorktrees } from "./registration.ts";
import { removeWorktree } from "./removal.ts";

export interface Worktree {
  name: string;
  purpose: string;
  /** The directory that corresponds to the top of the repository. */
  path: string;
  /** The directory that corresponds to the project. */
  root: string;
  /** The commit that its files were created from. */
  commit: CommitId;
  /** Copied or linked from the project and not part of its tree; relative to the project. */
  apart: string[];
  /** What could not be copied or linked. */
  warnings: string[];
}

/**
 * `session`: keeps the commit, which the agent's git reads. `name`: one component, unique among the worktrees of the repository. `purpose`:
 * required again to adopt or remove the worktree. A failure leaves nothing behind.
 */
export async function addWorktree(
  repository: Repository,
  session: SessionId,
  name: string,
  from: Pick<Snapshot, "commit" | "ignored" | "links">,
  purpose = "",
): Promise<Worktree> {
  checkName(name);
  const { ignored, links } = from;
  const { commit } = from;
  objectId(repository, commit);
  const apart = [...ignored.map((path) => path.replace(/\/$/, "")), ...links];
  const marker = newMarker({ purpose, commit, apart });
  if (!placeMarker(repository, name, marker)) {
    throw new MaestroError("conflict", `A worktree named ${name} already exists`);
  }
  try {
    const worktree = describe(repository, name, marker);
    await keepBase(repository, session, commit);
    mkdirSync(join(repository.place, name), { mode: 0o700 });
    await aboutWorktrees(repository, ["add", "--detach", "--no-checkout", END_OF_OPTIONS, worktree.path, commit]);
    await checkOut(repository, worktree, commit);
    shareIndex(repository, worktree);
    const fromTop = (path: string) => fromRaw(fromProject(repository.prefix, path));
    worktree.warnings = await copyIgnored(repository.toplevel, worktree.path, {
      copied: ignored.map(fromTop),
      linked: links.map(fromTop),
    });
    return worktree;
  } catch (error) {
    await removeWorktree(repository, name);
    throw error;
  }
}

/** The path of the project in a worktree of this name. */
export function worktreeRoot(repository: Repository, name: string): string {
  return join(pathOf(repository, name), repository.prefix.replace(/\/$/, ""));
}

/** Takes over a worktree that this process, or a dead one, created for this purpose; undefined when there is none. */
export function adoptWorktree(repository: Repository, name: string, purpose = ""): Worktree | undefined {
  checkName(name);
  const marker = readMarker(repository, name);
  if (marker === undefined || marker.purpose !== purpose || !isOursOrDead(marker)) return undefined;
  const worktree = describe(repository, name, marker);
  if (!isThere(repository, name) || statSync(ownIndex(repository, name), { throwIfNoEntry: false }) === undefined)
    return undefined;
  updateMarker(repository, name, newMarker(marker));
  return worktree;
}

export interface WorktreeTree extends Pick<Snapshot, "tree" | "commit" | "nested" | "warnings"> {
  /** Changed files beyond the bound: the tree has their old version. */
  unkept: { path: string; bytes: number; kind: "created" | "modified" }[];
}

export interface WorktreeLook {
  exclude: readonly string[];
  force?: readonly string[];
  /** The attempt in the worktree has ended. */
  isOver?: boolean;
  /** Limits what is added to the objects, by paths relative to the project. */
  bound?: Bound;
}

/** Records the files of a worktree as a commit after the one it was created from, or as that one when nothing changed. Trusts, follows and runs nothing in it. */
export async function treeOf(repository: Repository, worktree: Worktree, options: WorktreeLook): Promise<WorktreeTree> {
  return gather(repository, worktree, options, async ({ tree, nested, unkept, warnings }) => {
    const isUnchanged = (await treeIdOf(repository, worktree.commit)) === tree;
    const work = { tree, parents: [worktree.commit], message: `What ${worktree.name} left`, isPassing: true };
    const commit = isUnchanged ? worktree.commit : await commitTree(repository, work);
    const shown = (name: string) => toProject(repository.prefix, name);
    return {
      tree,
      commit,
      nested: nested.map(shown),
      warnings,
      unkept: unkept.map(({ name, bytes, isNew }) => ({
        path: shown(name),
        bytes,
        kind: isNew ? "created" : "modified",
      })),
    };
  });
}

/** Resets the files of a worktree to another commit; ignored, copied and linked files stay. */
export async function resetWorktree(repository: Repository, worktree: Worktree, commit: CommitId): Promise<Worktree> {
  const index = ownIndex(repository, worktree.name);
  objectId(repository, commit);
  await gather(repository, worktree, { exclude: [], isOver: true }, async (_, current) => {
    const copy = join(repository.place, newTemporaryName());
    copyIndexFile(current, copy);
    renameSync(copy, index);
  });
  await checkOut(repository, worktree, commit);
  updateMarker(repository, worktree.name, newMarker({ ...worktree, commit }));
  return { ...worktree, commit };
}

/** Gives a new worktree the files of another commit. It still counts as created from its own, so they are its changes. */
export async function fillWorktree(repository: Repository, worktree: Worktree, commit: CommitId): Promise<void> {
  await checkOut(repository, worktree, commit);
}

function gather<T>(
  repository: Repository,
  { name, path, apart }: Worktree,
  { exclude, force = [], isOver = false, bound }: WorktreeLook,
  use: (found: FilesTree, index: string) => Promise<T>,
): Promise<T> {
  const raw = (paths: readonly string[]) => paths.map((one) => fromProject(repository.prefix, one));
  if (!isThere(repository, name)) throw new MaestroError("not_found", `The worktree ${name} no longer exists`);
  return treeOfFiles(
    repository,
    {
      workTree: path,
      index: ownIndex(repository, name),
      by: "us",
      exclude: raw(exclude),
      apart: raw(apart),
      force: raw(force),
      isOver,
      bound: bound && { ...bound, counts: (name) => bound.counts(toProject(repository.prefix, name)) },
    },
    use,
  );
}

/** Writes the files and a matching index, byte for byte as they are in the repository. */
async function checkOut(repository: Repository, { name, path }: Worktree, commit: CommitId): Promise<void> {
  const index = ownIndex(repository, name);
  await ownGit(repository, ["read-tree", "--reset", "-u", END_OF_OPTIONS, objectId(repository, commit)], {
    workTree: path,
    index,
  });
  // git does not store empty directories, and the project may be one.
  const below = repository.prefix.split("/").filter((part) => part !== "");
  withDirectory(path, below, { create: true, mode: 0o755 }, () => undefined);
}

/** Gives the agent's git a copy of the index, so that it need not read all files again. */
function shareIndex(repository: Repository, { name, path }: Worktree): void {
  const pointer = readFileSync(join(path, ".git"), "utf8");
  const registration = /^gitdir: (.*)$/m.exec(pointer)?.[1];
  if (registration === undefined) throw new MaestroError("environment", `git created no worktree at ${path}`);
  copyIndexFile(ownIndex(repository, name), resolve(path, registration, "index"));
}

/** Keeps the modification time: an index must not look newer than its files. */
function copyIndexFile(from: string, to: string): void {
  const seconds = Math.floor(statSync(from).mtimeMs / 1000);
  copyFileSync(from, to);
  utimesSync(to, seconds, seconds);
}

function describe(repository: Repository, name: string, about: Omit<Marker, "v" | "owner">): Worktree {
  const { purpose, commit, apart } = about;
  const path = pathOf(repository, name);
  return { name, purpose, path, root: worktreeRoot(repository, name), commit, apart, warnings: [] };
}

/** The directory with its files. */
export function pathOf(repository: Repository, name: string): string {
  checkName(name);
  return join(repository.place, name, basename(repository.toplevel) || "root");
}

function isOursOrDead({ owner }: Marker): boolean {
  return owner.pid === process.pid || judge(owner) === "dead";
}

function ownIndex(repository: Repository, name: string): string {
  return join(repository.place, name, "index");
}

/** True for a directory, false for a link that an agent put in its place. */
function isThere(repository: Repository, name: string): boolean {
  return inPlace(repository, (place) => {
    if (!place.lstat(name)?.isDirectory()) return false;
    const directory = place.child(name);
    try {
      return directory.lstat(basename(repository.toplevel) || "root")?.isDirectory() === true;
    } finally {
      directory.close();
    }
  });
}

// Which files of a project differ from its last commit, from `git status` and without an object: for repositories that are too large for a
// snapshot, or whose files a worktree could not have. Reads only, and starts nothing that the repository names.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { errno } from "../../errors.ts";
import type { CommitId } from "../../ids.ts";
import { fromProject, isBelow, rawNames, toProject, toRaw } from "../names.ts";
import { readHead } from "../objects/commit.ts";
import { END_OF_OPTIONS, objectId } from "../objects/object-id.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";

export interface StatusLook {
  /** The commit that the files are compared with; null before the first one. */
  head: CommitId | null;
  /** The files that differ from it, by path relative to the project. */
  files: Record<string, StatusEntry>;
}

export interface StatusEntry {
  kind: "created" | "modified" | "deleted";
  /** Identifies the content on disk without reading it; empty when the file does not exist. */
  stamp: string;
}

export interface StatusChange {
  path: string;
  kind: StatusEntry["kind"];
}

const kinds: Readonly<Record<string, StatusEntry["kind"]>> = { "?": "created", A: "created", D: "deleted" };

/** `head`: the commit of an earlier look, so that work that was committed meanwhile still differs. */
export async function gitStatus(
  repository: Repository,
  exclude: readonly string[],
  head?: CommitId | null,
): Promise<StatusLook> {
  const { toplevel, prefix, gitDir } = repository;
  const base = head === undefined ? ((await readHead(repository))?.commit ?? null) : head;
  const left = exclude.map((path) => fromProject(prefix, path));
  const found = new Map<string, StatusEntry["kind"]>();
  const add = (name: string, state: string) => {
    if (!isBelow(name.replace(/\/$/, ""), left)) found.set(name, kinds[state] ?? "modified");
  };
  const index = join(gitDir, "index");
  const look = ["--porcelain", "-z", "-uall", "--no-renames", "--ignore-submodules=all"];
  const [staged, unstaged] = await Promise.all([
    base === null ? [] : stagedSince(repository, base, index),
    ownGit(repository, ["status", ...look], { workTree: toplevel, index }),
  ]);
  for (const [state, name] of staged) add(name, state);
  // The second letter compares the file with the index; the first one compares the index with a commit that Maestro's own git lacks.
  for (const record of rawNames(unstaged.stdout)) {
    const [state, name] = [record[1] ?? " ", record.slice(3)];
    if (state !== " " && !name.endsWith("/")) add(name, found.get(name) === "created" && state === "M" ? "A" : state);
  }
  const files = Object.create(null) as StatusLook["files"];
  for (const [name, kind] of found) files[toProject(prefix, name)] = { kind, stamp: stampOf(toplevel, name) };
  return { head: base, files };
}

async function stagedSince(
  repository: Repository,
  head: CommitId,
  index: string,
): Promise<[state: string, name: string][]> {
  const options = ["--cached", "-z", "--name-status", "--no-renames", "--ignore-submodules=all"];
  const args = ["diff-index", ...options, END_OF_OPTIONS, objectId(repository, head)];
  const fields = rawNames((await ownGit(repository, args, { index })).stdout);
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) pairs.push([fields[at] ?? "", fields[at + 1] ?? ""]);
  return pairs;
}

function stampOf(toplevel: string, name: string): string {
  try {
    const path = Buffer.from(`${toRaw(toplevel)}/${name}`, "latin1");
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? "" : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.mode}`;
  } catch (error) {
    if (errno(error) === "ENOTDIR") return "";
    throw error;
  }
}

/** Sorted by path. A file that was changed before and is untouched since then is not listed. */
export function statusChanges(before: StatusLook, after: StatusLook): StatusChange[] {
  const paths = [...new Set([...Object.keys(before.files), ...Object.keys(after.files)])].sort();
  return paths.flatMap((path): StatusChange[] => {
    const [then, now] = [before.files[path], after.files[path]];
    if (then === undefined) return now === undefined ? [] : [{ path, kind: now.kind }];
    if (now === undefined) return [{ path, kind: undone[then.kind] }];
    if (then.stamp === now.stamp) return [];
    return [{ path, kind: then.stamp === "" ? "created" : now.stamp === "" ? "deleted" : "modified" }];
  });
}

/** A file that is again as the commit has it. */
const undone = { created: "deleted", modified: "modified", deleted: "created" } as const;

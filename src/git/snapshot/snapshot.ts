// Records the project as it is now as a commit: committed, staged, unstaged and untracked files, without ignored ones. Does not touch the
// user's index, branch, stash, reflog or files.

import { join } from "node:path";
import type { CommitId, TreeId } from "../../ids.ts";
import { fromProject, toProject } from "../names.ts";
import { commitTree, type Head, readHead } from "../objects/commit.ts";
import { hasLoose } from "../objects/loose.ts";
import type { Repository } from "../repository.ts";
import { dependencyDirectories, includedNames } from "../worktree/ignored.ts";
import { treeOfFiles } from "./tree-of-files.ts";

export interface SnapshotOptions {
  /** Paths below the project that do not belong to it, such as the state directory. */
  exclude: readonly string[];
  /** Files below the project that belong to it although git ignores them. */
  force?: readonly string[];
  /** Lines in gitignore syntax: ignored files to copy into worktrees. */
  include: readonly string[];
}

/** Paths are relative to the project; those that begin with "../" are elsewhere in its repository. */
export interface Snapshot {
  tree: TreeId;
  commit: CommitId;
  /** Ignored files to copy into a worktree; a directory ends with "/". */
  ignored: string[];
  /** Dependency directories to link into a worktree. */
  links: string[];
  /** Nested repositories, which are left out. */
  nested: string[];
  /** What git could not read. */
  warnings: string[];
}

export async function snapshot(repository: Repository, options: SnapshotOptions): Promise<Snapshot> {
  const { toplevel, prefix, gitDir } = repository;
  const exclude = options.exclude.map((path) => fromProject(prefix, path));
  const shown = (names: readonly string[]) => names.map((name) => toProject(prefix, name));
  const force = (options.force ?? []).map((path) => fromProject(prefix, path));
  const files = { workTree: toplevel, index: join(gitDir, "index"), by: "user", exclude, force } as const;
  return treeOfFiles(repository, files, async ({ tree, ignored, nested, warnings }, index) => {
    const dependencies = dependencyDirectories(toplevel, ignored);
    const [head, included] = await Promise.all([
      readHead(repository),
      includedNames(repository, index, options.include, { exclude, dependencies }),
    ]);
    const commit = await commitOf(repository, tree, head);
    const links = dependencies.filter((name) => !included.includes(name)).map((name) => name.slice(0, -1));
    return { tree, commit, ignored: shown(included), links: shown(links), nested: shown(nested), warnings };
  });
}

/** The last snapshot of a repository: while nothing changes, one commit stands for all snapshots. */
const lastCommits = new WeakMap<Repository, { tree: TreeId; head: CommitId | undefined; commit: CommitId }>();

/** HEAD itself when the files are as they are there. */
async function commitOf(repository: Repository, tree: TreeId, head: Head | undefined): Promise<CommitId> {
  if (head !== undefined && head.tree === tree) return head.commit;
  const last = lastCommits.get(repository);
  const isSame = last !== undefined && last.tree === tree && last.head === head?.commit;
  if (isSame && hasLoose(repository.objects, last.commit)) return last.commit;
  const parents = head === undefined ? [] : [head.commit];
  const commit = await commitTree(repository, { tree, parents, message: "The project as Maestro found it" });
  lastCommits.set(repository, { tree, head: head?.commit, commit });
  return commit;
}

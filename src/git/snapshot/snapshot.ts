// The project as it is now, as a commit: committed, staged, unstaged and untracked files, and nothing that is ignored. The user's index,
// branch, stash, reflog and files are not touched.

import { join } from "node:path";
import type { CommitId, TreeId } from "../../ids.ts";
import { fromProject, toProject } from "../names.ts";
import { commitTree, headCommit } from "../objects/commit.ts";
import type { Repository } from "../repository.ts";
import { dependencyDirectories, includedNames } from "../worktree/ignored.ts";
import { treeOfFiles } from "./tree-of-files.ts";

export interface SnapshotOptions {
  /** Paths below the project that are no part of it, such as the state directory. */
  exclude: readonly string[];
  /** Files below the project that are a part of it although they are ignored. */
  force?: readonly string[];
  /** Lines in gitignore syntax: ignored files to take along. */
  include: readonly string[];
}

/** Paths are relative to the project; those that begin with "../" are elsewhere in its repository. */
export interface Snapshot {
  tree: TreeId;
  commit: CommitId;
  /** Ignored files, and directories with a "/" at the end, to be copied into a worktree. */
  ignored: string[];
  /** Directories of dependencies, to be linked. */
  links: string[];
  /** Repositories inside the project that are no part of it: they are left out. */
  nested: string[];
  /** What git could not look at. */
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
      headCommit(repository),
      includedNames(repository, index, options.include, { exclude, dependencies }),
    ]);
    const parents = head === undefined ? [] : [head];
    const commit = await commitTree(repository, { tree, parents, message: "The project as Maestro found it" });
    const links = dependencies.filter((name) => !included.includes(name)).map((name) => name.slice(0, -1));
    return { tree, commit, ignored: shown(included), links: shown(links), nested: shown(nested), warnings };
  });
}

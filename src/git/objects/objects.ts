// Which objects a repository still has: those that nothing refers to are collected in time.

import type { ObjectId } from "../../ids.ts";
import { fromProject, rawNames, toProject } from "../names.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { END_OF_OPTIONS, objectId } from "./object-id.ts";

/** Of these ids the ones that are not there. */
export async function missingObjects(repository: Repository, ids: readonly string[]): Promise<string[]> {
  const input = ids.map((id) => `${objectId(repository, id)}\n`).join("");
  const { stdout } = await ownGit(repository, ["cat-file", "--batch-check=%(objectname)"], { input });
  const lines = stdout.toString().split("\n");
  return ids.filter((_, at) => lines[at]?.endsWith(" missing"));
}

/** Of these paths, relative to the project, the files that a tree holds. */
export async function filesIn(repository: Repository, tree: ObjectId, paths: readonly string[]): Promise<Set<string>> {
  const args = ["ls-tree", "-r", "-z", "--name-only", END_OF_OPTIONS, objectId(repository, tree)];
  const { stdout } = await ownGit(repository, args);
  const wanted = new Set(paths.map((path) => fromProject(repository.prefix, path)));
  return new Set(
    rawNames(stdout)
      .filter((name) => wanted.has(name))
      .map((name) => toProject(repository.prefix, name)),
  );
}

// Finds out which objects a repository still has: git deletes unreferenced ones after a while.

import type { ObjectId } from "../../ids.ts";
import { fromProject, fromRaw, rawNames, toProject } from "../names.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { END_OF_OPTIONS, objectId } from "./object-id.ts";

/** The ids whose objects do not exist. */
export async function missingObjects(repository: Repository, ids: readonly string[]): Promise<string[]> {
  const input = ids.map((id) => `${objectId(repository, id)}\n`).join("");
  const { stdout } = await ownGit(repository, ["cat-file", "--batch-check=%(objectname)"], { input });
  const lines = stdout.toString().split("\n");
  return ids.filter((_, at) => lines[at]?.endsWith(" missing"));
}

/** Which of these paths, relative to the project, are files in a tree. */
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

/** Every file in a tree that is one of these paths or below one, relative to the project. An empty path stands for the whole project. */
export async function filesBelow(repository: Repository, tree: ObjectId, paths: readonly string[]): Promise<string[]> {
  const names = paths.map((path) => fromProject(repository.prefix, path));
  const isWhole = names.includes("");
  const args = ["ls-tree", "-r", "-z", "--name-only", END_OF_OPTIONS, objectId(repository, tree)];
  const { stdout } = await ownGit(repository, [...args, ...(isWhole ? [] : names.map(fromRaw))]);
  return rawNames(stdout).map((name) => toProject(repository.prefix, name));
}

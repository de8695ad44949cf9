// The difference between two trees as a unified diff. Runs no external diff program and no textconv.

import type { ObjectId } from "../../ids.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { END_OF_OPTIONS, objectId } from "./object-id.ts";

/** Contents byte for byte; paths from the top of the repository, as `git apply` expects. `from` and `to` are trees or commits. */
export async function patchBetween(repository: Repository, from: ObjectId, to: ObjectId): Promise<Buffer> {
  // Control characters and quotes in names are still escaped.
  const names = ["-c", "core.quotePath=false"];
  const options = ["-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
  const sides = [from, to].map((id) => objectId(repository, id));
  return (await ownGit(repository, [...names, "diff-tree", ...options, END_OF_OPTIONS, ...sides])).stdout;
}

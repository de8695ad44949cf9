// The difference between two trees as a unified diff. No diff program and no text conversion of anybody's runs.

import type { ObjectId } from "../../ids.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { END_OF_OPTIONS, objectId } from "./object-id.ts";

/** Bytes as the files have them; names from the top of the repository, as `git apply` takes them. `from` and `to` are trees or commits. */
export async function patchBetween(repository: Repository, from: ObjectId, to: ObjectId): Promise<Buffer> {
  // Control characters and quotes in names are written as escapes all the same.
  const names = ["-c", "core.quotePath=false"];
  const options = ["-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
  const sides = [from, to].map((id) => objectId(repository, id));
  return (await ownGit(repository, [...names, "diff-tree", ...options, END_OF_OPTIONS, ...sides])).stdout;
}

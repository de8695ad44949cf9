// Lists the names of all files in a tree.

import type { ObjectId } from "../../ids.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { END_OF_OPTIONS, objectId } from "./object-id.ts";

/** Raw names, each terminated by NUL, as one text. */
export async function treeNames(repository: Repository, tree: ObjectId): Promise<string> {
  const options = ["-r", "-z", "--name-only", "--full-tree", END_OF_OPTIONS, objectId(repository, tree)];
  return (await ownGit(repository, ["ls-tree", ...options])).stdout.toString("latin1");
}

// Builds a tree in which some files are replaced by their version in another tree: an attempt's work without its unwanted changes.
// Works on objects alone.

import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { newTemporaryName } from "../../disk/durable.ts";
import type { ObjectId, TreeId } from "../../ids.ts";
import { rawInput, rawNames, toProject } from "../names.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { answeredTree, END_OF_OPTIONS, objectId } from "./object-id.ts";

/** Returns the id of `tree` with `paths` (relative to the project) as they are in `base`. Both are trees or commits. */
export async function treeWithout(
  repository: Repository,
  { tree, base, paths }: { tree: ObjectId; base: ObjectId; paths: readonly string[] },
): Promise<TreeId> {
  const unwanted = new Set(paths);
  const options = ["-r", "-z", "--raw", "--no-renames", "--full-index", "--no-ext-diff"];
  const sides = [base, tree].map((id) => objectId(repository, id));
  const fields = rawNames((await ownGit(repository, ["diff-tree", ...options, END_OF_OPTIONS, ...sides])).stdout);
  const lines: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [mode = "", , id = ""] = (fields[at] ?? "").slice(1).split(" ");
    const name = fields[at + 1] ?? "";
    if (unwanted.has(toProject(repository.prefix, name))) lines.push(`${mode} ${id}\t${name}`);
  }
  const index = join(repository.place, newTemporaryName());
  const onIndex = (command: string[], input?: Buffer) =>
    ownGit(repository, command, { index, ...(input === undefined ? {} : { input }) });
  try {
    await onIndex(["read-tree", END_OF_OPTIONS, objectId(repository, tree)]);
    if (lines.length > 0) await onIndex(["update-index", "--replace", "-z", "--index-info"], rawInput(lines));
    return answeredTree(repository, (await onIndex(["write-tree", "--missing-ok"])).stdout);
  } finally {
    unlinkSync(index);
  }
}

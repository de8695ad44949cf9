// Merges three trees into one, or lists the files that cannot be merged. Works on objects alone: no file, index or reference changes, and
// no merge driver of the repository runs. Used for integrations and for predicting conflicts.

import type { ObjectId, TreeId } from "../../ids.ts";
import { rawNames, toProject } from "../names.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { commitTree, treeIdOf } from "./commit.ts";
import { END_OF_OPTIONS, objectId } from "./object-id.ts";

export interface MergeRequest {
  /** Trees or commits. */
  base: ObjectId;
  ours: ObjectId;
  theirs: ObjectId;
}

export type Merge = { kind: "clean"; tree: TreeId } | { kind: "conflict"; files: ConflictFile[] };

export interface ConflictFile {
  /** Relative to the project. */
  path: string;
  reason: string;
}

const conflict = /^CONFLICT \(([^)]*)\)/;

/** Plain-English reasons for git's conflict types. */
const reasons: Record<string, string> = {
  content: "both changed the same lines",
  binary: "both changed it, and it is binary",
  "add/add": "both created it with different content",
  "modify/delete": "one changed it, the other deleted it",
  "rename/delete": "one renamed it, the other deleted it",
  "rename/rename": "both renamed it, to different names",
  "rename/add": "one renamed a file to this name, the other created it",
  "file/directory": "it is a file for one and a directory for the other",
  "distinct types": "it is of different types",
  "distinct modes": "it is of different types",
  "file location": "it was created in a directory that the other renamed",
  "directory rename split": "the directory it was created in was split by the other",
  "implicit dir rename": "it was created in a directory that the other renamed",
};

export async function mergeTrees(repository: Repository, request: MergeRequest): Promise<Merge> {
  const base = objectId(repository, request.base);
  const [ours, theirs] = [objectId(repository, request.ours), objectId(repository, request.theirs)];
  // Nothing to merge: `base` need not exist any more.
  if (base === theirs) return { kind: "clean", tree: await treeIdOf(repository, ours) };
  const trees = await Promise.all([base, ours, theirs].map((id) => treeIdOf(repository, id)));
  const [baseTree, ourTree, theirTree] = trees as [TreeId, TreeId, TreeId];
  if (ourTree === theirTree || baseTree === theirTree) return { kind: "clean", tree: ourTree };
  if (baseTree === ourTree) return { kind: "clean", tree: theirTree };
  // merge-tree computes the base from commits, so create two with one parent. The fixed time makes the same merge create the same objects.
  const about = { at: new Date(0), isPassing: true };
  const root = await commitTree(repository, { ...about, tree: baseTree, parents: [], message: "base" });
  const sides = [ourTree, theirTree].map((tree) =>
    commitTree(repository, { ...about, tree, parents: [root], message: "side" }),
  );
  const options = ["--write-tree", "-z", "--name-only", "--messages"];
  const args = ["merge-tree", ...options, END_OF_OPTIONS, ...(await Promise.all(sides))];
  // Run in the project, for its attributes: "merge=union" needs no program.
  const { code, stdout } = await ownGit(repository, args, { workTree: repository.toplevel, codes: [0, 1] });
  const fields = rawNames(stdout);
  if (code === 0) return { kind: "clean", tree: objectId(repository, fields[0]) as TreeId };
  return { kind: "conflict", files: conflicts(fields, (raw) => toProject(repository.prefix, raw)) };
}

/** Fields: the tree, the files, an empty field, then messages, each with the number of paths, the paths, the type and the text. */
function conflicts(fields: readonly string[], shown: (raw: string) => string): ConflictFile[] {
  const end = fields.indexOf("", 1);
  const found = new Map(fields.slice(1, end).map((name) => [shown(name), ""]));
  for (let at = end + 1; at < fields.length; ) {
    const count = Number(fields[at]);
    const paths = fields.slice(at + 1, at + 1 + count).map(shown);
    const [type = "", text = ""] = fields.slice(at + 1 + count);
    const kind = (conflict.exec(text) ?? conflict.exec(type))?.[1];
    at += count + 3;
    if (kind === undefined) continue;
    for (const path of paths) if (found.get(path) === "") found.set(path, reasons[kind] ?? kind);
  }
  return [...found].map(([path, reason]) => ({ path, reason: reason || "it cannot be merged" }));
}

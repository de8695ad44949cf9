// Creates Maestro's own commits, which store a tree and a time. Never signed, on no branch, in no reflog.

import { join } from "node:path";
import { type CommitId, type ObjectId, objectIdForm, type TreeId } from "../../ids.ts";
import { ownGit, theirGit } from "../own-git.ts";
import { readFile } from "../read-file.ts";
import type { Repository } from "../repository.ts";
import { partsOf, readLoose, writeLoose } from "./loose.ts";
import { answeredTree, END_OF_OPTIONS, objectId } from "./object-id.ts";

const identity = "Maestro <maestro@localhost>";

export interface NewCommit {
  /** A tree or a commit. */
  tree: ObjectId;
  parents: readonly CommitId[];
  message: string;
  at?: Date;
  /** Only needed for a moment: not flushed to disk. */
  isPassing?: boolean;
}

/** Returns the id of the new commit. */
export async function commitTree(repository: Repository, commit: NewCommit): Promise<CommitId> {
  const date = `${Math.floor((commit.at ?? new Date()).getTime() / 1000)} +0000`;
  const parents = commit.parents.map((parent) => `parent ${objectId(repository, parent)}\n`);
  const tree = await treeIdOf(repository, commit.tree);
  const people = `author ${identity} ${date}\ncommitter ${identity} ${date}\n`;
  // git takes no NUL in a message.
  const message = commit.message.replaceAll("\0", "");
  const content = Buffer.from(`tree ${tree}\n${parents.join("")}${people}\n${message}\n`);
  const id = objectId(repository, writeLoose(repository, "commit", content, commit.isPassing !== true)) as CommitId;
  treesOf(repository).set(id, tree);
  return id;
}

/** An object never changes, so the tree of a commit can be cached. */
const knownTrees = new WeakMap<Repository, Map<string, TreeId>>();

function treesOf(repository: Repository): Map<string, TreeId> {
  const trees = knownTrees.get(repository) ?? new Map<string, TreeId>();
  knownTrees.set(repository, trees);
  return trees;
}

/** The tree of a commit; a tree is its own. */
export async function treeIdOf(repository: Repository, id: ObjectId): Promise<TreeId> {
  const known = treesOf(repository);
  const tree = known.get(id) ?? (await resolveTree(repository, objectId(repository, id)));
  known.set(id, tree);
  return tree;
}

async function resolveTree(repository: Repository, id: ObjectId): Promise<TreeId> {
  const own = readLoose(repository.objects, id);
  if (own?.type === "tree") return id as TreeId;
  if (own?.type === "commit") return objectId(repository, partsOf(own, repository.objectFormat)[0]?.id) as TreeId;
  const { stdout } = await ownGit(repository, ["rev-parse", "--verify", END_OF_OPTIONS, `${id}^{tree}`]);
  return answeredTree(repository, stdout);
}

export interface Head {
  commit: CommitId;
  /** Undefined when the repository does not have it: in a partial clone. */
  tree: TreeId | undefined;
}

/** What HEAD points to; undefined before the first commit. */
export async function readHead(repository: Repository): Promise<Head | undefined> {
  const commit = headInFiles(repository);
  if (commit !== undefined && treesOf(repository).has(commit)) return { commit, tree: treesOf(repository).get(commit) };
  const input = "HEAD^{commit}\nHEAD^{tree}\n";
  const { stdout } = await theirGit(repository, ["cat-file", "--batch-check=%(objectname)"], { input });
  const [answered, tree] = stdout
    .toString()
    .split("\n", 2)
    .map((line) => (line.endsWith(" missing") ? undefined : objectId(repository, line)));
  if (answered === undefined) return undefined;
  const head = { commit: answered as CommitId, tree: tree as TreeId | undefined };
  if (head.tree !== undefined) treesOf(repository).set(head.commit, head.tree);
  return head;
}

/** The commit of HEAD, read without git; undefined when git has to be asked: before the first commit, or for another kind of storage. */
function headInFiles({ gitDir, commonDir, objectFormat }: Repository): CommitId | undefined {
  const textOf = (path: string) => readFile(path)?.bytes.toString("latin1");
  const isId = (text: string) => objectIdForm.test(text) && text.length === (objectFormat === "sha1" ? 40 : 64);
  const head = textOf(join(gitDir, "HEAD"))?.trimEnd() ?? "";
  if (isId(head)) return head as CommitId;
  const ref = /^ref: (refs\/heads\/[^\s\0]+)$/.exec(head)?.[1];
  if (ref === undefined || ref.includes("..")) return undefined;
  const packed = () =>
    textOf(join(commonDir, "packed-refs"))
      ?.split("\n")
      .find((line) => line.endsWith(` ${ref}`));
  const id = (textOf(join(commonDir, ref)) ?? packed() ?? "").split(/\s/)[0] ?? "";
  return isId(id) ? (id as CommitId) : undefined;
}

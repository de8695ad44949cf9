// Lists the differences between two trees, file by file, with renames and line counts. Runs no external diff program and no textconv.

import type { ObjectId } from "../../ids.ts";
import { rawNames, toProject } from "../names.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { END_OF_OPTIONS, objectId } from "./object-id.ts";

export interface TreeChange {
  /** Relative to the project; begins with "../" elsewhere in its repository. */
  path: string;
  kind: "created" | "modified" | "deleted" | "renamed";
  /** The old path of a renamed file. */
  from?: string;
  /** Lines; 0 for binary content. */
  added: number;
  removed: number;
  binary: boolean;
}

const kinds: Record<string, TreeChange["kind"]> = {
  A: "created",
  D: "deleted",
  R: "renamed",
  M: "modified",
  T: "modified",
};

/** `from` and `to` are trees or commits. */
export async function changesBetween(repository: Repository, from: ObjectId, to: ObjectId): Promise<TreeChange[]> {
  if (from === to) return [];
  const options = [
    "-r",
    "-z",
    "--raw",
    "--numstat",
    "-M",
    "--no-ext-diff",
    "--no-textconv",
    "--ignore-submodules=none",
  ];
  const sides = [from, to].map((id) => objectId(repository, id));
  const { stdout } = await ownGit(repository, ["diff-tree", ...options, END_OF_OPTIONS, ...sides]);
  return parseChanges(rawNames(stdout), (raw) => toProject(repository.prefix, raw));
}

/** git prints the state records of all files first, then the line counts. */
function parseChanges(fields: readonly string[], shown: (raw: string) => string): TreeChange[] {
  const changes: TreeChange[] = [];
  const byName = new Map<string, TreeChange>();
  let at = 0;
  for (let record = fields[at]; record?.startsWith(":"); record = fields[at]) {
    const kind = kinds[record.split(" ").at(-1)?.[0] ?? ""] ?? "modified";
    const isRename = kind === "renamed";
    const [first = "", second = ""] = fields.slice(at + 1, at + 3);
    const name = isRename ? second : first;
    const from = isRename ? { from: shown(first) } : {};
    const change: TreeChange = { path: shown(name), kind, ...from, added: 0, removed: 0, binary: false };
    changes.push(change);
    byName.set(name, change);
    at += isRename ? 3 : 2;
  }
  while (at < fields.length) {
    const [added = "", removed = "", ...rest] = (fields[at] ?? "").split("\t");
    // A name may contain tabs; a renamed file has its two names in separate fields.
    const name = rest.join("\t") || fields[at + 2] || "";
    const change = byName.get(name);
    if (change !== undefined) {
      change.binary = added === "-";
      change.added = Number(added) || 0;
      change.removed = Number(removed) || 0;
    }
    at += rest.join("\t") === "" ? 3 : 1;
  }
  return changes;
}

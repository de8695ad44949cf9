// A parcel: a commit with a few documents and a directory of the project. An order and a delivery are one each; the commit's message has the
// seal. Parcels are built and read as objects alone.

import { MaestroError } from "../../errors.ts";
import { commitTree } from "../../git/objects/commit.ts";
import { writeLoose } from "../../git/objects/loose.ts";
import { END_OF_OPTIONS, objectId } from "../../git/objects/object-id.ts";
import { ownGit } from "../../git/own-git.ts";
import type { Repository } from "../../git/repository.ts";
import type { CommitId, TreeId } from "../../ids.ts";

/** In both kinds the same, so that git finds at once what an order and its delivery share. */
const PROJECT = "tree";

export interface Parcel {
  /** By file name. */
  documents: Readonly<Record<string, Uint8Array>>;
  project: TreeId;
  /** Documents that are objects already, by file name. */
  blobs?: Readonly<Record<string, string>>;
}

export interface ReadParcel {
  /** The commit's tree. */
  tree: TreeId;
  parents: CommitId[];
  seal: string;
  project: TreeId;
  /** The ids and sizes of its documents. */
  documents: ReadonlyMap<string, { id: string; size: number }>;
}

/** Returns the id of the tree; `sealParcel` makes the commit. */
export function packParcel(repository: Repository, { documents, project, blobs = {} }: Parcel): TreeId {
  const files = Object.entries(documents).map(([name, bytes]) => {
    const id = writeLoose(repository, "blob", Buffer.from(bytes), true);
    return { mode: "100644", name, id };
  });
  for (const [name, id] of Object.entries(blobs)) files.push({ mode: "100644", name, id });
  const entries = [...files, { mode: "40000", name: PROJECT, id: objectId(repository, project) as string }];
  // git compares a directory as if its name ended with a slash.
  const sortKey = ({ mode, name }: { mode: string; name: string }) => (mode === "40000" ? `${name}/` : name);
  entries.sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  const content = entries.map(({ mode, name, id }) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]),
  );
  return writeLoose(repository, "tree", Buffer.concat(content), true) as TreeId;
}

export function sealParcel(
  repository: Repository,
  { tree, parents, kind, seal }: { tree: TreeId; parents: readonly CommitId[]; kind: string; seal: string },
): Promise<CommitId> {
  return commitTree(repository, { tree, parents, message: `Maestro ${kind}\n\nSeal: ${seal}` });
}

/** Reads what a commit of the exchange has, and none of its documents yet. Throws when it is not a parcel. */
export async function readParcel(repository: Repository, commit: CommitId): Promise<ReadParcel> {
  const id = objectId(repository, commit);
  const [{ stdout: raw }, { stdout: listed }] = await Promise.all([
    ownGit(repository, ["cat-file", "commit", END_OF_OPTIONS, id]),
    ownGit(repository, ["ls-tree", "-l", "-z", END_OF_OPTIONS, id]),
  ]);
  const text = raw.toString("latin1");
  const head = text.slice(0, text.indexOf("\n\n"));
  const tree = /^tree ([0-9a-f]+)$/m.exec(head)?.[1];
  const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(
    ([, parent]) => objectId(repository, parent) as CommitId,
  );
  const seal = /\n\nSeal: ([0-9a-f]{64})\n*$/.exec(text)?.[1] ?? "";
  const documents = new Map<string, { id: string; size: number }>();
  let project: TreeId | undefined;
  for (const line of listed.toString("latin1").split("\0")) {
    const [, mode, type, entry = "", size, name = ""] =
      /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t([\s\S]*)$/.exec(line) ?? [];
    if (type === "blob" && mode === "100644") documents.set(name, { id: entry, size: Number(size) });
    if (type === "tree" && name === PROJECT) project = objectId(repository, entry) as TreeId;
  }
  if (tree === undefined || project === undefined) throw notAParcel("it has no directory of a project");
  return { tree: objectId(repository, tree) as TreeId, parents, seal, project, documents };
}

/** The bytes of a document; empty when the parcel does not have it. Throws when it is larger than `most`. */
export async function readDocument(
  repository: Repository,
  { documents }: Pick<ReadParcel, "documents">,
  name: string,
  most: number,
): Promise<Buffer> {
  const found = documents.get(name);
  if (found === undefined) return Buffer.alloc(0);
  if (found.size > most) throw notAParcel(`its ${name} has ${found.size} bytes, and ${most} are allowed`);
  const { stdout } = await ownGit(repository, ["cat-file", "blob", END_OF_OPTIONS, objectId(repository, found.id)]);
  return stdout;
}

function notAParcel(why: string): MaestroError {
  return new MaestroError("parse_failed", `The content of the exchange for this attempt cannot be used: ${why}`);
}

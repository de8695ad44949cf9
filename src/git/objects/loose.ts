// Loose objects, read and written without git: one compressed file per object, at a path that its id gives. Saves a git process for every
// commit, and lists what an object consists of.

import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { newTemporaryName } from "../../disk/durable.ts";
import { MaestroError } from "../../errors.ts";
import { readFile } from "../read-file.ts";
import type { ObjectFormat, Repository } from "../repository.ts";

interface LooseObject {
  type: string;
  content: Buffer;
}

export function loosePath(directory: string, id: string): string {
  return join(directory, id.slice(0, 2), id.slice(2));
}

export function hasLoose(directory: string, id: string): boolean {
  return existsSync(loosePath(directory, id));
}

/** Undefined when the directory has no such file: the object may still be in a pack. */
export function readLoose(directory: string, id: string): LooseObject | undefined {
  const path = loosePath(directory, id);
  const bytes = readFile(path)?.bytes;
  if (bytes === undefined) return undefined;
  const plain = inflated(path, bytes);
  const end = plain.indexOf(0);
  return { type: plain.toString("latin1", 0, plain.indexOf(" ")), content: plain.subarray(end + 1) };
}

function inflated(path: string, bytes: Buffer): Buffer {
  try {
    return inflateSync(bytes);
  } catch (error) {
    throw new MaestroError("environment", `The object ${path} is damaged`, { cause: error });
  }
}

/**
 * Writes an object into Maestro's own object directory and returns its id. `isDurable`: it survives a power cut. It is written even if it
 * exists, because one that was written without `isDurable` may be damaged by a power cut.
 */
export function writeLoose(
  { objects, objectFormat }: Pick<Repository, "objects" | "objectFormat">,
  type: string,
  content: Buffer,
  isDurable: boolean,
): string {
  const plain = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash(objectFormat).update(plain).digest("hex");
  const path = loosePath(objects, id);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = join(objects, newTemporaryName());
  const fd = openSync(temporary, "wx", 0o444);
  try {
    const bytes = deflateSync(plain);
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    if (isDurable) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, path);
  return id;
}

interface Part {
  id: string;
  /** Blobs consist of nothing else, and may be large: they need not be read. */
  isBlob: boolean;
}

/** The objects that a commit or a tree refers to. */
export function partsOf({ type, content }: LooseObject, objectFormat: ObjectFormat): Part[] {
  if (type === "tree") return entriesOf(content, objectFormat === "sha1" ? 20 : 32);
  if (type !== "commit") return [];
  const head = content.toString("latin1", 0, content.indexOf("\n\n"));
  return [...head.matchAll(/^(?:tree|parent) ([0-9a-f]+)$/gm)].map(([, id = ""]) => ({ id, isBlob: false }));
}

const DIRECTORY = "40000";
const SUBMODULE = "160000";

/** Entries are "<mode> <name>\0<id>", with the id in binary. */
function entriesOf(tree: Buffer, idBytes: number): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < tree.length; ) {
    const mode = tree.toString("latin1", at, tree.indexOf(" ", at));
    const end = tree.indexOf(0, at) + 1;
    at = end + idBytes;
    if (mode !== SUBMODULE) parts.push({ id: tree.toString("hex", end, at), isBlob: mode !== DIRECTORY });
  }
  return parts;
}

// Limits how much is added to a repository's objects: of the files that count, only so many bytes are taken, the smallest files first.
// Decided by their sizes on disk, before git reads any of them.

import { lstatSync } from "node:fs";
import { toRaw } from "../names.ts";

export interface Bound {
  /** The limit for all counted files together. */
  bytes: number;
  /** Whether a file (raw name) counts; the others are taken whatever their size. */
  counts: (name: string) => boolean;
}

export interface Unkept {
  /** Raw, from the top of the repository. */
  name: string;
  bytes: number;
}

/** A file occupies at least one block on disk, so a million small files are not small. */
const LEAST_BYTES = 4096;

/** The largest of the counted files, as many as must be dropped so that the rest is within the bound. */
export function beyond(workTree: string, names: readonly string[], bound: Bound | undefined): Unkept[] {
  if (bound === undefined) return [];
  const all = names.map((name) => ({ name, bytes: sizeOf(workTree, name) }));
  // Finding out whether a file counts takes longer than reading its size.
  if (weight(all) <= bound.bytes) return [];
  const counted = all.filter(({ name }) => bound.counts(name)).sort((one, other) => other.bytes - one.bytes);
  let left = weight(counted);
  const end = counted.findIndex((file) => {
    const fits = left <= bound.bytes;
    left -= weight([file]);
    return fits;
  });
  return end === -1 ? counted : counted.slice(0, end);
}

function weight(files: readonly Unkept[]): number {
  return files.reduce((sum, { bytes }) => sum + Math.max(bytes, LEAST_BYTES), 0);
}

function sizeOf(workTree: string, name: string): number {
  return lstatSync(Buffer.from(`${toRaw(workTree)}/${name}`, "latin1"), { throwIfNoEntry: false })?.size ?? 0;
}

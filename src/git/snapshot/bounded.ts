// Keeps what nobody wants out of a repository's objects: of some files together only so much is taken, the smallest first. Decided by their
// sizes on disk, before git reads one.

import { lstatSync } from "node:fs";
import { toRaw } from "../names.ts";

export interface Bound {
  /** Of all files that count, together. */
  bytes: number;
  /** Whether a file (raw) counts; the others are taken whatever their size. */
  counts: (name: string) => boolean;
}

export interface Unkept {
  /** Raw, from the top of the repository. */
  name: string;
  bytes: number;
}

/** On disk a file takes at least a block: a million small ones are no small thing. */
const LEAST_BYTES = 4096;

/** The largest of the files that count, until what is left of them is within the bound. */
export function beyond(workTree: string, names: readonly string[], bound: Bound | undefined): Unkept[] {
  if (bound === undefined) return [];
  const all = names.map((name) => ({ name, bytes: sizeOf(workTree, name) }));
  // Whose a file is takes longer to find out than how large it is.
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

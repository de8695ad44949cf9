// The marker file of a worktree, which names its owner: written before the directory is created, deleted after it is removed. Without a
// marker nothing is ever removed.

import { closeSync, constants, fsyncSync } from "node:fs";
import { join } from "node:path";
import { Directory } from "../../disk/contained.ts";
import { newTemporaryName, readRegular, replaceDurably, writeAll } from "../../disk/durable.ts";
import { ownIdentity, type ProcessIdentity } from "../../disk/identity.ts";
import { errno, MaestroError } from "../../errors.ts";
import type { CommitId } from "../../ids.ts";
import type { Repository } from "../repository.ts";

export interface Marker {
  v: 1;
  owner: ProcessIdentity;
  /** What the worktree was created for. Names are reused, and a process must not mistake a new worktree for its own. */
  purpose: string;
  /** The commit that the files were created from. */
  commit: CommitId;
  /** Copied or linked paths that are not part of its tree; relative to the project. */
  apart: string[];
}

type Place = Pick<Repository, "place">;

const ENDING = ".worktree.json";
const MAX_MARKER_BYTES = 16 * 1024 * 1024;
const legalName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function checkName(name: string): void {
  if (!legalName.test(name) || name === "git" || name.endsWith(ENDING)) {
    throw new MaestroError("path", `Not a valid worktree name (got: ${name})`);
  }
}

export function newMarker(about: Omit<Marker, "v" | "owner">): Marker {
  const { purpose, commit, apart } = about;
  return { v: 1, owner: ownIdentity(), purpose, commit, apart: [...apart] };
}

/** Claims a name; false when it is taken. */
export function placeMarker(place: Place, name: string, marker: Marker): boolean {
  return inPlace(place, (directory) => {
    const draft = newTemporaryName();
    const fd = directory.open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      writeAll(fd, Buffer.from(JSON.stringify(marker)), "marker");
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    try {
      directory.link(draft, name + ENDING);
      return true;
    } catch (error) {
      if (errno(error) === "EEXIST") return false;
      throw error;
    } finally {
      directory.unlink(draft);
    }
  });
}

export function updateMarker(place: Place, name: string, marker: Marker): void {
  inPlace(place, (directory) => void replaceDurably(directory, name + ENDING, JSON.stringify(marker)));
}

export function readMarker(place: Place, name: string): Marker | undefined {
  const bytes = inPlace(place, (directory) => readRegular(directory, name + ENDING, MAX_MARKER_BYTES));
  if (bytes === undefined) return undefined;
  const marker = parse(bytes.toString("utf8"));
  if (marker?.v === 1) return marker as Marker;
  const path = join(place.place, name + ENDING);
  const reason = marker === undefined ? "is damaged" : "was written by a newer Maestro";
  throw new MaestroError("environment", `The marker of the worktree ${name} ${reason}: ${path}`);
}

function parse(text: string): Partial<Marker> | undefined {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** When the marker was last written, in ms. */
export function markerTime(place: Place, name: string): number {
  return inPlace(place, (directory) => directory.lstat(name + ENDING)?.mtimeMs ?? 0);
}

export function removeMarker(place: Place, name: string): void {
  inPlace(place, (directory) => directory.unlink(name + ENDING));
}

/** The first of <prefix>1, <prefix>2, ... that is free and not in `reserved`. */
export function freeName(place: Place, prefix: string, reserved: ReadonlySet<string>): string {
  const there = new Set(inPlace(place, (directory) => directory.list()));
  for (let number = 1; ; number += 1) {
    const name = `${prefix}${number}`;
    if (!reserved.has(name) && !there.has(name) && !there.has(name + ENDING)) return name;
  }
}

/** All names that are taken. */
export function markedNames(directory: Directory): string[] {
  return directory
    .list()
    .filter((entry) => entry.endsWith(ENDING))
    .map((entry) => entry.slice(0, -ENDING.length));
}

export function inPlace<T>({ place }: Place, use: (directory: Directory) => T): T {
  const directory = Directory.openRoot(place);
  try {
    return use(directory);
  } finally {
    directory.close();
  }
}

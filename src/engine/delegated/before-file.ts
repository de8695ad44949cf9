// What the hook at the start of a delegation leaves for the process that records its end, as the text of `results/<name>.before`: where Gemini
// CLI keeps the agent's transcript, and the state of the project. Pure.

import type { StatusLook } from "../../git/snapshot/status.ts";
import { type CommitId, objectIdForm } from "../../ids.ts";
import * as is from "../../shape.ts";
import type { ListedFile, Listing } from "../attempt/listing.ts";
import type { Before } from "./look.ts";

export interface DelegationNote {
  /** The directory of the transcripts of the conversation's agents; null when the CLI did not name it. */
  transcripts: string | null;
  /** The state of the project, or why it is not known. */
  before: Before | { kind: "unknown"; why: string };
}

const MAX_FILES = 1_000_000;
const digits = is.matching(/^\d{1,30}$/, "a number");
const listedFile = is.object({ path: is.path, inode: digits, size: digits, mtime: digits, mode: digits });
const statusFile = is.object({
  path: is.path,
  kind: is.oneOf(["created", "modified", "deleted"]),
  stamp: is.text(200),
});
const commit = is.matching<CommitId>(objectIdForm, "a commit");
const noteShape = is.object({
  transcripts: is.nullable(is.text(4096)),
  commit: is.optional(commit),
  why: is.optional(is.text(10_000)),
  listing: is.optional(
    is.object({ complete: is.boolean, unreadable: is.paths, files: is.list(listedFile, MAX_FILES) }),
  ),
  status: is.optional(
    is.object({
      head: is.nullable(is.matching(/^[0-9a-f]{40,64}$/, "a commit")),
      files: is.list(statusFile, MAX_FILES),
    }),
  ),
});
type Stored = is.TypeOf<typeof noteShape>;

export function noteText({ transcripts, before }: DelegationNote): string {
  return `${JSON.stringify({ transcripts, ...storedBefore(before) })}\n`;
}

function storedBefore(before: DelegationNote["before"]): Omit<Stored, "transcripts"> {
  switch (before.kind) {
    case "commit":
      return { commit: before.commit };
    case "listing":
      return { listing: storedListing(before.listing) };
    case "status":
      return { status: storedStatus(before.status) };
    case "unknown":
      return { why: before.why };
  }
}

const NOT_KNOWN = "the state of the project before it is not known";

export function readNote(text: string | undefined): DelegationNote {
  const value = text === undefined ? undefined : parsed(text);
  if (value === undefined || noteShape(value) !== undefined)
    return { transcripts: null, before: { kind: "unknown", why: NOT_KNOWN } };
  const { transcripts, ...stored } = value as Stored;
  return { transcripts, before: readBefore(stored) };
}

function readBefore({ commit: base, listing, status, why }: Omit<Stored, "transcripts">): DelegationNote["before"] {
  if (base !== undefined) return { kind: "commit", commit: base };
  if (listing !== undefined) return { kind: "listing", listing: readListing(listing) };
  if (status !== undefined) return { kind: "status", status: readStatus(status) };
  return { kind: "unknown", why: why ?? NOT_KNOWN };
}

function storedListing({ files, complete, unreadable }: Listing): NonNullable<Stored["listing"]> {
  const stored = [...files].map(([path, { inode, size, mtime, mode }]) => ({
    path,
    inode: String(inode),
    size: String(size),
    mtime: String(mtime),
    mode: String(mode),
  }));
  return { complete, unreadable: [...unreadable], files: stored };
}

function readListing({ files, complete, unreadable }: NonNullable<Stored["listing"]>): Listing {
  const listed = files.map(({ path, inode, size, mtime, mode }): [string, ListedFile] => [
    path,
    { inode: BigInt(inode), size: BigInt(size), mtime: BigInt(mtime), mode: BigInt(mode) },
  ]);
  return { complete, unreadable, files: new Map(listed) };
}

function storedStatus({ head, files }: StatusLook): NonNullable<Stored["status"]> {
  return { head, files: Object.entries(files).map(([path, entry]) => ({ path, ...entry })) };
}

function readStatus({ head, files }: NonNullable<Stored["status"]>): StatusLook {
  const entries = files.map(({ path, ...entry }) => [path, entry]);
  return { head: head as StatusLook["head"], files: Object.fromEntries(entries) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

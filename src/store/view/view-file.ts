// state/active-session.md on disk: distinguishes Maestro's rendering from an edited file, writes it, and moves or copies files aside.
// The last line carries the sequence number and a checksum of everything above it.

import type { Stats } from "node:fs";
import type { Directory } from "../../disk/contained.ts";
import { crc32, hex } from "../../disk/crc32.ts";
import { readRegular, replaceDurably } from "../../disk/durable.ts";
import { MaestroError } from "../../errors.ts";
import type { PhaseId } from "../../ids.ts";
import type { Session } from "../../session/session.ts";
import { type PhaseText, renderSession } from "../../views/record/session-view.ts";
import { VIEW_FILE } from "../journal/journal-file.ts";

export const MAX_VIEW_BYTES = 64 * 1024 * 1024;
const marker = /\n<!-- maestro:view seq=(\d+) crc=([0-9a-f]{8}) -->\n$/;

/** The text of each phase as it was last drawn. */
export type PhaseTexts = Map<PhaseId, PhaseText>;

export type ViewOnDisk =
  | { kind: "none" }
  /** Rendered by Maestro at `seq`. */
  | { kind: "ours"; seq: number; text: string }
  /** Written or edited by a user or another program. */
  | { kind: "foreign"; text: string }
  | { kind: "unreadable"; reason: string };

export function inspectView(directory: Directory): ViewOnDisk {
  let bytes: Buffer | undefined;
  try {
    bytes = readRegular(directory, VIEW_FILE, MAX_VIEW_BYTES);
  } catch (error) {
    if (error instanceof MaestroError) return { kind: "unreadable", reason: error.message };
    throw error;
  }
  if (bytes === undefined) return { kind: "none" };
  const text = bytes.toString("utf8");
  const found = marker.exec(bytes.toString("latin1", Math.max(0, bytes.length - 100)));
  if (found !== null) {
    const above = bytes.length - found[0].length + 1;
    if (hex(crc32(bytes, 0, above)) === found[2]) return { kind: "ours", seq: Number(found[1]), text };
  }
  return { kind: "foreign", text };
}

/** The file content: the rendering and the marker line. */
function renderView(session: Session, known: PhaseTexts): Buffer {
  const text = Buffer.from(`${renderSession(session, known)}\n`);
  return Buffer.concat([text, Buffer.from(`<!-- maestro:view seq=${session.seq} crc=${hex(crc32(text))} -->\n`)]);
}

/** Writes the view, unless `isAsJudged` says at the last moment that the file has changed since its review. */
export function writeView(
  directory: Directory,
  session: Session,
  known: PhaseTexts,
  isAsJudged: () => boolean,
): Stats | undefined {
  return replaceDurably(directory, VIEW_FILE, renderView(session, known), { confirm: isAsJudged });
}

/** Deletes a view that shows records after `seq`, which were quarantined. */
export function dropAhead(directory: Directory, seq: number): void {
  const view = inspectView(directory);
  if (view.kind === "ours" && view.seq > seq) directory.unlink(VIEW_FILE);
}

/** The sequence number in the marker line of a view, even if the view was edited since. */
export function markedSeq(text: string): number | undefined {
  const found = lastMarker(text);
  return found === undefined ? undefined : Number(found[1]);
}

/** The text of a view without its marker line. */
export function withoutMarker(text: string): string {
  const found = lastMarker(text);
  if (found === undefined) return text;
  const [above, below] = [text.slice(0, Math.max(0, found.index - 1)), text.slice(found.index + found[0].length)];
  return below.trim() === "" ? above : `${above}${below}`;
}

/** The marker is not always the last line: a user may have appended text. */
function lastMarker(text: string): RegExpExecArray | undefined {
  return [...text.matchAll(/^<!-- maestro:view seq=(\d{1,15}) [^\n]*-->[^\S\n]*$/gm)].at(-1);
}

/** Renames `name` to `<name>.<tag>-<time>` and returns the new name. */
export function setAside(directory: Directory, name: string, tag: string, now: Date): string {
  const target = freeName(directory, name, tag, now);
  directory.rename(name, target);
  return target;
}

/** Saves `bytes` as `<name>.<tag>-<time>`, unless an identical copy exists. Returns the name of the copy. */
export function keepCopy(directory: Directory, name: string, tag: string, now: Date, bytes: Uint8Array): string {
  for (const entry of directory.list()) {
    const stat = entry.startsWith(`${name}.${tag}-`) ? directory.lstat(entry) : undefined;
    if (stat?.isFile() !== true || stat.size !== bytes.length) continue;
    if (readRegular(directory, entry, bytes.length)?.equals(bytes)) return entry;
  }
  const target = freeName(directory, name, tag, now);
  replaceDurably(directory, target, bytes);
  return target;
}

function freeName(directory: Directory, name: string, tag: string, now: Date): string {
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, "");
  for (let attempt = 1; ; attempt++) {
    const candidate = `${name}.${tag}-${stamp}${attempt === 1 ? "" : `-${attempt}`}`;
    if (directory.lstat(candidate) === undefined) return candidate;
  }
}

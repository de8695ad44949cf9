// A file that `maestro setup` writes into the user's home: its last line seals the text, so that a file which the user edited, or which
// another program wrote, is recognized and left alone.

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { Directory } from "../../disk/contained.ts";
import { readRegular, replaceDurably } from "../../disk/durable.ts";
import { makeDirectories } from "../../disk/make-directories.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";

export interface OwnFile {
  /** What it is for, as a person reads it. */
  purpose: string;
  path: string;
  text: string;
  mode: number;
}

/** `older`: an unedited file of another version of Maestro, or of another installation. */
export type OwnFileState = "absent" | "current" | "older" | "edited" | "foreign";

const MAX_BYTES = 1024 * 1024;
const seal = /^# Written by "maestro setup"; left alone once it is edited\. sha256 ([0-9a-f]{64})\n/m;

export function sealed(text: string): string {
  return `${text}# Written by "maestro setup"; left alone once it is edited. sha256 ${digest(text)}\n`;
}

export function ownFileStateOf(wanted: string, found: string | undefined): OwnFileState {
  if (found === undefined) return "absent";
  if (found === wanted) return "current";
  const seen = seal.exec(found);
  if (seen === null) return "foreign";
  const isLast = seen.index + seen[0].length === found.length;
  return isLast && digest(found.slice(0, seen.index)) === seen[1] ? "older" : "edited";
}

/** Anything but a regular file, such as a link or a directory, was not written by Maestro. */
export function ownFileState({ path, text }: OwnFile): OwnFileState {
  return within(dirname(path), false, (directory) => {
    const entry = directory?.lstat(basename(path));
    if (directory === undefined || entry === undefined) return "absent";
    if (!entry.isFile() || entry.size > MAX_BYTES) return "foreign";
    return ownFileStateOf(text, readRegular(directory, basename(path), MAX_BYTES)?.toString("utf8"));
  });
}

export function writeOwn({ path, text, mode }: OwnFile): void {
  within(dirname(path), true, (directory) => directory && replaceDurably(directory, basename(path), text, { mode }));
}

export function removeOwn({ path }: OwnFile): void {
  within(dirname(path), false, (directory) => directory?.unlink(basename(path)));
}

function within<T>(path: string, isMade: boolean, use: (directory: Directory | undefined) => T): T {
  let directory: Directory | undefined;
  try {
    if (isMade) makeDirectories(path, 0o755);
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) directory = Directory.openRoot(path);
    return use(directory);
  } catch (error) {
    if (errno(error) === undefined) throw error;
    throw new MaestroError("io", `Cannot use the directory ${path}: ${reasonOf(error)}`, { cause: error });
  } finally {
    directory?.close();
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

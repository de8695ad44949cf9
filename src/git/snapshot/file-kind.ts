// Recognizes special files. Opening a FIFO or a device may block forever.

import { type Dirent, type Stats, statSync } from "node:fs";
import { devNull } from "node:os";
import { errno } from "../../errors.ts";
import { readFile } from "../read-file.ts";

export type SpecialKind = "FIFO" | "socket" | "device";

/** Undefined for files, directories and links. */
export function fileKindOf(entry: Dirent | Stats): SpecialKind | undefined {
  if (entry.isFIFO()) return "FIFO";
  if (entry.isSocket()) return "socket";
  return entry.isCharacterDevice() || entry.isBlockDevice() ? "device" : undefined;
}

/** Whether opening it may block forever. A socket does not block: it cannot be opened at all. */
export function mayBlock(kind: SpecialKind | undefined): kind is "FIFO" | "device" {
  return kind === "FIFO" || kind === "device";
}

/** The kind of a file that would block when opened, after following links; undefined if it would not block. `path` is raw. */
export function blockingKindAt(path: string): SpecialKind | undefined {
  const stat = statOf(path);
  const kind = stat === undefined ? undefined : fileKindOf(stat);
  return mayBlock(kind) && stat?.rdev !== nullDevice() ? kind : undefined;
}

/** A link to /dev/null is a common way to say "nothing", and reads as an empty file. */
function nullDevice(): number | undefined {
  return statSync(devNull, { throwIfNoEntry: false })?.rdev;
}

/** The status of a path's target, after following links; undefined when it cannot be reached. `path` is raw. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(Buffer.from(path, "latin1"), { throwIfNoEntry: false });
  } catch (error) {
    if (isUnreachable(error)) return undefined;
    throw error;
  }
}

/** A path that does not exist or that this process may not access: git cannot reach it either. */
export function isUnreachable(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENAMETOOLONG"].includes(errno(error) ?? "");
}

/** The git directory of a directory that seems to have one: its .git, or the directory that it points to. Raw. */
export function gitDirectory(directory: string): string | undefined {
  const pointer = `${directory}/.git`;
  const stat = statOf(pointer);
  if (stat?.isDirectory()) return pointer;
  if (!stat?.isFile()) return undefined;
  const text = readFile(Buffer.from(pointer, "latin1"))?.bytes.toString("latin1") ?? "";
  const target = /^gitdir: ([^\r\n]+)/.exec(text)?.[1];
  if (target === undefined) return undefined;
  return target.startsWith("/") ? target : `${directory}/${target}`;
}

// What a name on disk stands for, as far as opening it is concerned: opening a FIFO, a socket or a device may wait for ever.

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

/** Whether opening it may wait for ever: a socket cannot be opened at all. */
export function mayBlock(kind: SpecialKind | undefined): kind is "FIFO" | "device" {
  return kind === "FIFO" || kind === "device";
}

/** What opening a path, through links, would wait for; undefined for all else. `path`: raw. */
export function blockingKindAt(path: string): SpecialKind | undefined {
  const stat = statOf(path);
  const kind = stat === undefined ? undefined : fileKindOf(stat);
  return mayBlock(kind) && stat?.rdev !== nullDevice() ? kind : undefined;
}

/** A link to /dev/null is a common way to say "nothing", and an empty file to whoever opens it. */
function nullDevice(): number | undefined {
  return statSync(devNull, { throwIfNoEntry: false })?.rdev;
}

/** What a path leads to, through links; undefined when nothing can be reached there. `path`: raw. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(Buffer.from(path, "latin1"), { throwIfNoEntry: false });
  } catch (error) {
    if (isUnreachable(error)) return undefined;
    throw error;
  }
}

/** A path that leads nowhere, or where this process may not go: git does not come there either. */
export function isUnreachable(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENAMETOOLONG"].includes(errno(error) ?? "");
}

/** Where the repository of a directory is, if it looks like having one: its .git, or what that points to. Raw. */
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

// Removes a directory whatever an agent did to it: no write permission, deeper than there are descriptors, full of links. Opens it by
// descriptor: a link is removed, never followed.

import { isUtf8 } from "node:buffer";
import { chmodSync, fchmodSync, fstatSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Directory, ioError } from "../../disk/contained.ts";
import { shownPath } from "../../disk/durable.ts";
import { randomHex } from "../../disk/random.ts";
import { errno, MaestroError } from "../../errors.ts";
import { turns } from "../yield-turn.ts";

const OWNER_ALL = 0o700;
/** Each level needs a descriptor; deeper directories are moved up first. */
const MAX_DEPTH = 64;
const PATIENCE = 100;
const WAIT_MS = 50;

/** Removes `name` with its content. A missing directory is not an error. */
export async function removeDirectory(parent: Directory, name: string): Promise<void> {
  const stat = parent.lstat(name);
  if (stat === undefined) return;
  try {
    if (!stat.isDirectory()) unlinkSync(parent.at(name));
    else await removeBelow(parent, name, stat.mode);
  } catch (error) {
    throw ioError("remove", shownPath(parent, name), error);
  }
}

async function removeBelow(parent: Directory, name: string, mode: number): Promise<void> {
  if ((mode & OWNER_ALL) !== OWNER_ALL) chmodSync(parent.at(name), OWNER_ALL);
  const top = parent.child(name);
  try {
    for (let idle = 0; ; ) {
      const isFlat = await empty(top, 1, { top, pause: turns() });
      if (isFlat && removedIfEmpty(parent, name)) return;
      if (!isFlat) continue;
      // Another process still writes there: it outlived its engine by a moment.
      idle += 1;
      if (idle > PATIENCE)
        throw new MaestroError("io", `Cannot remove ${shownPath(parent, name)}: another process keeps writing to it`);
      await sleep(WAIT_MS);
    }
  } finally {
    top.close();
  }
}

/** Removes everything in a directory; false when something was too deep for one pass. */
async function empty(directory: Directory, depth: number, walk: Walk): Promise<boolean> {
  if ((fstatSync(directory.fd).mode & OWNER_ALL) !== OWNER_ALL) fchmodSync(directory.fd, OWNER_ALL);
  let isFlat = true;
  for (const entry of namesIn(directory)) {
    await walk.pause();
    if (unlinked(directory, entry)) continue;
    if (depth === MAX_DEPTH) {
      directory.rename(entry, `deep-${randomHex(8)}`, walk.top);
      isFlat = false;
      continue;
    }
    if (((directory.lstat(entry)?.mode ?? 0) & OWNER_ALL) !== OWNER_ALL) chmodSync(directory.at(entry), OWNER_ALL);
    const child = directory.child(entry);
    try {
      if (!(await empty(child, depth + 1, walk))) isFlat = false;
    } finally {
      child.close();
    }
    removedIfEmpty(directory, entry);
  }
  return isFlat;
}

/** Renames entries whose names are not UTF-8, because all functions here take names as text. */
function namesIn(directory: Directory): string[] {
  const names = directory.list();
  if (!names.some((name) => name.includes("\ufffd"))) return names;
  const path = `${directory.at(".")}/`;
  for (const name of readdirSync(path, { encoding: "buffer" })) {
    if (isUtf8(name)) continue;
    renameSync(Buffer.concat([Buffer.from(path), name]), directory.at(`raw-${randomHex(8)}`));
  }
  return directory.list();
}

interface Walk {
  top: Directory;
  pause: ReturnType<typeof turns>;
}

function removedIfEmpty(parent: Directory, name: string): boolean {
  try {
    rmdirSync(parent.at(name));
    return true;
  } catch (error) {
    if (errno(error) === "ENOTEMPTY" || errno(error) === "EEXIST") return false;
    throw error;
  }
}

/** Deletes a file; false when it is a directory. */
function unlinked(directory: Directory, name: string): boolean {
  try {
    unlinkSync(directory.at(name));
    return true;
  } catch (error) {
    if (errno(error) === "ENOENT") return true;
    // Linux answers EISDIR, POSIX specifies EPERM.
    if (errno(error) === "EISDIR" || (errno(error) === "EPERM" && directory.lstat(name)?.isDirectory())) return false;
    throw error;
  }
}

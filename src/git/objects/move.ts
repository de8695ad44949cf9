// Copies objects from Maestro's own object directory to the user's object database, for a reference that is about to keep them. They are
// on disk before this returns, and each one appears after the objects that it refers to: a reference never points to a missing object.
// A list of what was copied, written first, lets collect.ts delete it again.

import {
  appendFileSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { ioError } from "../../disk/contained.ts";
import { newTemporaryName } from "../../disk/durable.ts";
import { crashPoint } from "../../disk/fault.ts";
import { errno } from "../../errors.ts";
import { userObjects } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { turns } from "../yield-turn.ts";
import { hasLoose, loosePath, partsOf, readLoose } from "./loose.ts";

const MAX_OPEN = 64;
/** git renews the time of an object that it is asked to store again; a time in the past shows that this has not happened. */
const AGE_SECONDS = 3600;

const synced = promisify(fsync);
const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** `list`: the file that names what was copied, one "<time> <id>" per line. */
export async function moveObjects(repository: Repository, id: string, list: string): Promise<void> {
  const ids = await ownObjects(repository, id);
  if (ids.length === 0) return;
  const target = userObjects(repository);
  const time = Math.floor(Date.now() / 1000) - AGE_SECONDS;
  mkdirSync(dirname(list), { recursive: true, mode: 0o700 });
  appendFileSync(list, ids.map((one) => `${time} ${one}\n`).join(""), { mode: 0o600 });
  const copies = new Map<string, string>();
  try {
    const pause = turns();
    for (const one of ids) {
      await pause();
      const copy = join(target, newTemporaryName());
      copies.set(one, copy);
      copyFileSync(loosePath(repository.objects, one), copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      utimesSync(copy, time, time);
    }
    await syncAll([...copies.values()]);
    crashPoint("objects-copied");
    for (const [one, copy] of copies) {
      await pause();
      publish(copy, loosePath(target, one));
      copies.delete(one);
      crashPoint("objects-linked");
    }
    await syncAll([...new Set(ids.map((one) => dirname(loosePath(target, one))))]);
    crashPoint("objects-moved");
  } catch (error) {
    for (const copy of copies.values()) if (existsSync(copy)) unlinkSync(copy);
    throw ioError("write", target, error);
  }
}

/** What `id` consists of and the user's object database lacks: each object after those that it refers to. */
async function ownObjects({ objects, objectFormat, commonDir }: Repository, id: string): Promise<string[]> {
  const target = userObjects({ commonDir });
  const found = new Set<string>();
  const seen = new Set<string>();
  const pause = turns();
  const visit = async (one: string, isBlob: boolean): Promise<void> => {
    if (seen.has(one)) return;
    seen.add(one);
    await pause();
    // An object that is there came with everything that it refers to.
    if (!hasLoose(objects, one) || hasLoose(target, one)) return;
    const object = isBlob ? undefined : readLoose(objects, one);
    for (const part of object === undefined ? [] : partsOf(object, objectFormat)) await visit(part.id, part.isBlob);
    found.add(one);
  };
  await visit(id, false);
  return [...found];
}

/** Gives a copy its name, unless the object is there already. */
function publish(copy: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    linkSync(copy, path);
  } catch (error) {
    // On a file system without links, rename: the name was free a moment ago.
    if (noLinks.has(errno(error) ?? "")) renameSync(copy, path);
    else if (errno(error) !== "EEXIST") throw error;
  }
  if (existsSync(copy)) unlinkSync(copy);
}

async function syncAll(paths: readonly string[]): Promise<void> {
  for (let at = 0; at < paths.length; at += MAX_OPEN) {
    const open = paths.slice(at, at + MAX_OPEN).map((path) => openSync(path, constants.O_RDONLY));
    // Wait for all, even if one fails: a descriptor must not be closed while it is being synced.
    const results = await Promise.allSettled(open.map((fd) => synced(fd)));
    for (const fd of open) closeSync(fd);
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
}

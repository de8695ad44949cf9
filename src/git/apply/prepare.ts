// Writes the new contents of an integration to temporary files beside their targets, with permissions and fsync, before anything in the
// project is touched.

import { accessSync, closeSync, constants, fchmodSync, fsync, type Stats, symlinkSync, unlinkSync } from "node:fs";
import { promisify } from "node:util";
import { ioError } from "../../disk/contained.ts";
import { newTemporaryName, writeAll } from "../../disk/durable.ts";
import { crashPoint } from "../../disk/fault.ts";
import { errno } from "../../errors.ts";
import { readBlobs } from "../objects/blobs.ts";
import type { Repository } from "../repository.ts";
import { turns } from "../yield-turn.ts";
import type { FileState } from "./apply-plan.ts";
import { type Seen, splitPath } from "./disk-state.ts";
import { type ProjectWalk, walking } from "./project-walk.ts";

export interface Prepared {
  seen: Seen;
  /** Absent for a deletion, and once the file has been renamed into place. */
  temporary?: { directory: string[]; name: string };
}

/** Syncing many files at once is faster than one after the other. */
const MAX_OPEN = 64;
const synced = promisify(fsync);

/** On failure no temporary file is left. */
export function prepare(repository: Repository, pending: readonly Seen[]): Promise<Prepared[]> {
  const prepared: Prepared[] = pending.map((seen) => ({ seen }));
  return walking(repository, async (walk) => {
    try {
      for (const one of prepared) if (one.seen.step.new === null) named(one, () => checkRemovable(walk, one.seen));
      await writeAllOf(repository, walk, prepared);
      return prepared;
    } catch (error) {
      discard(walk, prepared);
      throw ioError("write in", repository.projectRoot, error);
    }
  });
}

async function writeAllOf(repository: Repository, walk: ProjectWalk, prepared: readonly Prepared[]): Promise<void> {
  const byContent = new Map<string, Prepared[]>();
  for (const one of prepared) {
    const id = one.seen.step.new?.id;
    if (id !== undefined) byContent.set(id, [...(byContent.get(id) ?? []), one]);
  }
  const pause = turns();
  const open: number[] = [];
  const settle = async () => {
    crashPoint("integrate-fsync");
    // Wait for all, even if one fails: a descriptor must not be closed while it is being synced.
    const results = await Promise.allSettled(open.map((fd) => synced(fd)));
    for (const fd of open.splice(0)) closeSync(fd);
    for (const result of results) if (result.status === "rejected") throw result.reason;
  };
  try {
    for await (const batch of readBlobs(repository, byContent.keys())) {
      for (const [id, content] of batch) {
        for (const one of byContent.get(id) ?? []) {
          await pause();
          const fd = named(one, () => write(repository, walk, one, content));
          if (fd !== undefined) open.push(fd);
          if (open.length >= MAX_OPEN) await settle();
        }
      }
    }
    await settle();
  } finally {
    for (const fd of open) closeSync(fd);
  }
}

/** Deletes the temporary files that were not renamed into place. */
export function discard(walk: ProjectWalk, prepared: readonly Prepared[]): void {
  for (const { temporary } of prepared) {
    if (temporary === undefined) continue;
    try {
      unlinkSync(walk.to(temporary.directory).directory.at(temporary.name));
    } catch (error) {
      if (errno(error) !== "ENOENT") throw error;
    }
  }
}

/** Finds a read-only directory before it can stop an integration halfway; for written files, creating the temporary file finds it. */
function checkRemovable(walk: ProjectWalk, { step }: Seen): void {
  accessSync(walk.to(splitPath(step.path).directory).directory.at("."), constants.W_OK);
}

function named<T>({ seen }: Prepared, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw ioError("write", seen.step.path, error);
  }
}

/** Returns the descriptor of the new file, which the caller must sync and close; undefined for a link. */
function write(repository: Repository, walk: ProjectWalk, one: Prepared, content: Buffer): number | undefined {
  const { step, stat } = one.seen;
  const state = step.new as FileState;
  const name = newTemporaryName();
  const components = splitPath(step.path).directory;
  const { directory, depth } = walk.to(components);
  crashPoint("integrate-open");
  if (state.kind === "link" && repository.symlinks) {
    symlinkSync(content, directory.at(name));
    one.temporary = { directory: components.slice(0, depth), name };
    return undefined;
  }
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const fd = directory.open(name, flags, state.kind === "executable" ? 0o777 : 0o666);
  one.temporary = { directory: components.slice(0, depth), name };
  try {
    writeAll(fd, content, "integrate-write");
    const mode = permissions(state, stat, repository.fileMode);
    if (mode !== undefined) fchmodSync(fd, mode);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** A replaced file keeps its read and write permissions: git stores only the executable bit. */
function permissions(state: FileState, stat: Stats | undefined, hasModes: boolean): number | undefined {
  if (stat === undefined || !stat.isFile()) return undefined;
  const kept = stat.mode & 0o777;
  if (!hasModes) return kept;
  return state.kind === "executable" ? kept | ((kept & 0o444) >> 2) : kept & ~0o111;
}

// Removes worktrees: the directory, the registration with the repository, then the marker. Only what lies in our own place and has a marker
// is removed, whatever an agent did to it; a worktree of the user's is never looked at twice.

import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { Directory } from "../../disk/contained.ts";
import { isTemporary, sweepTemporaries } from "../../disk/durable.ts";
import { judge } from "../../disk/identity.ts";
import { errno } from "../../errors.ts";
import { END_OF_OPTIONS } from "../objects/object-id.ts";
import { ownDirectories, ownDirectory } from "../own-git.ts";
import { readFile } from "../read-file.ts";
import type { Repository } from "../repository.ts";
import { deadWorktrees } from "./dead-worktrees.ts";
import { checkName, markedNames, readMarker, removeMarker } from "./marker.ts";
import { requireClosed } from "./place-directory.ts";
import { aboutWorktrees } from "./registration.ts";
import { removeDirectory } from "./remove-directory.ts";

/** False when there is none of that name, or it was made for something else. */
export async function removeWorktree(repository: Repository, name: string, purpose?: string): Promise<boolean> {
  checkName(name);
  const marker = readMarker(repository, name);
  if (marker === undefined || (purpose !== undefined && marker.purpose !== purpose)) return false;
  const place = Directory.openRoot(repository.place);
  try {
    await removeDirectory(place, name);
  } finally {
    place.close();
  }
  await unregister(repository, (owner) => owner === name);
  removeMarker(repository, name);
  return true;
}

/** Removes what dead processes left: their worktrees, registrations without a directory, temporary files. Returns the names removed. */
export async function pruneWorktrees(
  repository: Repository,
  prefix = "",
  needed: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const place = Directory.openRoot(repository.place);
  try {
    const dead = deadWorktrees(repository, prefix).filter((name) => !needed.has(name));
    for (const name of dead) await removeWorktree(repository, name);
    await unregister(repository, (name) => !markedNames(place).includes(name) && place.lstat(name) === undefined);
    sweepTemporaries(place);
    for (const path of ownDirectories(repository.place)) sweepBelow(path);
    sweepLocks(place);
    return dead;
  } finally {
    place.close();
  }
}

/** Removes what is kept for repositories that are no more; returns the names of their places. */
export async function prunePlaces(cacheRoot: string): Promise<string[]> {
  requireClosed(cacheRoot);
  const root = Directory.openRoot(cacheRoot);
  try {
    const abandoned = root.list().filter((name) => isAbandoned(join(cacheRoot, name)));
    for (const name of abandoned) await removeDirectory(root, name);
    return abandoned;
  } finally {
    root.close();
  }
}

function isAbandoned(place: string): boolean {
  const origin = readFile(join(ownDirectory(place), "origin"))?.bytes.toString("utf8");
  if (origin === undefined || existsSync(origin)) return false;
  const directory = Directory.openRoot(place);
  try {
    return markedNames(directory).every((name) => {
      const marker = readMarker({ place }, name);
      return marker === undefined || judge(marker.owner) === "dead";
    });
  } finally {
    directory.close();
  }
}

/** Takes registrations in our place out of the repository; `isMeant` is asked with the name of each worktree. */
async function unregister(repository: Repository, isMeant: (name: string) => boolean): Promise<void> {
  for (const path of registeredPaths(repository)) {
    const name = nameOf(repository, path);
    if (name === undefined || !isMeant(name)) continue;
    // Somebody else may be faster.
    const isGone = () => !registeredPaths(repository).includes(path);
    // Twice: also one that somebody locked.
    await aboutWorktrees(repository, ["remove", "--force", "--force", END_OF_OPTIONS, path], isGone);
  }
}

/** Where the worktrees of the repository are, all of them; what is written there is compared, never opened. */
function registeredPaths({ commonDir }: Repository): string[] {
  const registrations = join(commonDir, "worktrees");
  return listIfThere(registrations).flatMap((id) => {
    const pointer = readFile(join(registrations, id, "gitdir"))?.bytes.toString("utf8");
    return pointer === undefined ? [] : [dirname(resolve(registrations, id, pointer.replace(/\n$/, "")))];
  });
}

/** The name of the worktree when it is one in our place. */
function nameOf({ place }: Repository, path: string): string | undefined {
  return path.startsWith(place + sep) ? path.slice(place.length + 1).split(sep)[0] : undefined;
}

/** Lock files of a git that was killed while it wrote one of our temporary files. */
function sweepBelow(path: string): void {
  const directory = Directory.openRoot(path);
  try {
    sweepTemporaries(directory);
  } finally {
    directory.close();
  }
}

function sweepLocks(place: Directory): void {
  for (const entry of place.list()) {
    const target = entry.replace(/\.lock$/, "");
    if (target !== entry && isTemporary(target) && place.lstat(target) === undefined) place.unlink(entry);
  }
}

function listIfThere(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (errno(error) === "ENOENT") return [];
    throw error;
  }
}

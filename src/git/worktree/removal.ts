// Removes worktrees: the directory, the registration with the repository, then the marker. Removes only what is in Maestro's own directory
// and has a marker, whatever an agent did to it. The user's worktrees are never touched.

import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { Directory } from "../../disk/contained.ts";
import { deadDirectories, isTemporary, sweepTemporaries } from "../../disk/durable.ts";
import { judge } from "../../disk/identity.ts";
import { errno } from "../../errors.ts";
import type { CommitId } from "../../ids.ts";
import { END_OF_OPTIONS } from "../objects/object-id.ts";
import { ownDirectories, ownDirectory, userObjects } from "../own-git.ts";
import { readFile } from "../read-file.ts";
import { holdCommit } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { deadWorktrees } from "./dead-worktrees.ts";
import { checkName, markedNames, readMarker, removeMarker } from "./marker.ts";
import { requireClosed } from "./place-directory.ts";
import { aboutWorktrees } from "./registration.ts";
import { removeDirectory } from "./remove-directory.ts";

/** False when no worktree has this name, or it was created for another purpose. */
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
  if (hasCommits(repository, name, marker.commit)) holdCommit(repository, marker.commit);
  await unregister(repository, (owner) => owner === name);
  removeMarker(repository, name);
  return true;
}

/** Removes what dead processes left: worktrees, registrations without a directory, temporary files. Returns the removed names. */
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
    // Objects that a killed process was fetching.
    for (const name of deadDirectories(place)) await removeDirectory(place, name);
    sweepTemporaries(place);
    const directories = [...ownDirectories(repository.place), repository.objects, userObjects(repository)];
    for (const path of directories) sweepBelow(path);
    sweepLocks(place);
    return dead;
  } finally {
    place.close();
  }
}

/** Removes the directories of repositories that no longer exist; returns their names. */
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

/** Removes registrations of worktrees in Maestro's directory from the repository; `isMeant` selects them by name. */
async function unregister(repository: Repository, isMeant: (name: string) => boolean): Promise<void> {
  for (const path of registeredPaths(repository)) {
    const name = nameOf(repository, path);
    if (name === undefined || !isMeant(name)) continue;
    // Another process may remove it first.
    const isGone = () => !registeredPaths(repository).includes(path);
    // "--force" twice also removes a locked worktree.
    await aboutWorktrees(repository, ["remove", "--force", "--force", END_OF_OPTIONS, path], isGone);
  }
}

/** The paths of all worktrees of the repository. They are only compared, never opened. */
function registeredPaths(repository: Repository): string[] {
  return registrationsOf(repository).map(({ path }) => path);
}

function registrationsOf({ commonDir }: Repository): { directory: string; path: string }[] {
  const registrations = join(commonDir, "worktrees");
  return listIfThere(registrations).flatMap((id) => {
    const directory = join(registrations, id);
    const pointer = readFile(join(directory, "gitdir"))?.bytes.toString("utf8");
    return pointer === undefined ? [] : [{ directory, path: dirname(resolve(directory, pointer.replace(/\n$/, ""))) }];
  });
}

/** Whether an agent's git moved the HEAD of a worktree: the agent may have made commits, which no reference has to keep. */
function hasCommits(repository: Repository, name: string, commit: CommitId): boolean {
  return registrationsOf(repository).some(({ directory, path }) => {
    if (nameOf(repository, path) !== name) return false;
    const [head, log] = ["HEAD", "logs/HEAD"].map((file) => readFile(join(directory, file))?.bytes.toString("latin1"));
    return head?.trim() !== commit || (log ?? "") !== "";
  });
}

/** The name of a worktree in Maestro's directory; undefined for any other path. */
function nameOf({ place }: Repository, path: string): string | undefined {
  return path.startsWith(place + sep) ? path.slice(place.length + 1).split(sep)[0] : undefined;
}

/** Deletes the temporary files of dead processes in a directory. */
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

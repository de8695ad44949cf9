// Maestro's cache directory for a repository, with its worktrees and Maestro's own git directory. git trusts the files there, so the
// directory must belong to the user alone: one that another user owns or can write to is rejected.

import { createHash } from "node:crypto";
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { makeDirectories } from "../../disk/make-directories.ts";
import { errno, MaestroError } from "../../errors.ts";
import { ownDirectory } from "../own-git.ts";

const OTHERS_WRITE = 0o002;
const ANY_OTHER_WRITES = 0o022;
const STICKY = 0o1000;

/** Creates or reuses the directory of a repository below `cacheRoot`; returns its real path. */
export function makePlace(cacheRoot: string, toplevel: string, gitDir: string): string {
  if (!isAbsolute(cacheRoot))
    throw new MaestroError("path", `The cache directory must be absolute (got: ${cacheRoot})`);
  // Checked before anything is created: a directory below one that others can change is not safe.
  requireClosed(cacheRoot);
  const name = basename(toplevel)
    .replace(/[^A-Za-z0-9._-]/g, "_")
    .slice(0, 40);
  const key = createHash("sha256").update(gitDir).digest("hex").slice(0, 12);
  const path = join(cacheRoot, `${name}-${key}`);
  makeDirectories(path, 0o700);
  const place = realpathSync.native(path);
  for (const directory of [realpathSync.native(cacheRoot), place]) requireOwn(directory, statSync(directory));
  for (const directory of [place, ownDirectory(place)]) requireOwnEntries(directory);
  return place;
}

/** Rejects a cache directory that does not belong to the user alone, or that another user could replace. */
export function requireClosed(cacheRoot: string): void {
  let there = cacheRoot;
  while (statSync(there, { throwIfNoEntry: false }) === undefined && there !== dirname(there)) there = dirname(there);
  const real = realpathSync.native(there);
  if (there === cacheRoot) requireOwn(real, statSync(real));
  for (let at = there === cacheRoot ? dirname(real) : real; at !== dirname(at); at = dirname(at)) {
    const { mode } = statSync(at);
    // In a directory with the sticky bit, such as /tmp, users cannot rename the files of others.
    if (!hasUsers || (mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0) continue;
    throw new MaestroError("environment", `The cache directory ${cacheRoot} is not safe: ${at} is ${open(mode)}`, {
      hint: `${ELSEWHERE} chmod o-w "${at}"`,
    });
  }
}

const ELSEWHERE = "Set XDG_CACHE_HOME to a directory that only you can write to, or run:";
const hasUsers = process.getuid !== undefined;

function requireOwn(path: string, { uid, mode }: Stats): void {
  if (!hasUsers) return;
  requireOwner(path, uid);
  if ((mode & ANY_OTHER_WRITES) === 0) return;
  throw new MaestroError("environment", `The cache directory ${path} is not safe: it is ${open(mode)}`, {
    hint: `${ELSEWHERE} chmod 700 "${path}"`,
  });
}

function requireOwner(path: string, uid: number): void {
  const own = process.getuid?.();
  if (own === undefined || uid === own) return;
  const whose = `${path} belongs to user ${uid}, and you are user ${own}`;
  throw new MaestroError("environment", `The cache directory is not safe: ${whose}`, {
    hint: `${ELSEWHERE} rm -rf "${path}"`,
  });
}

/** Rejects entries that another user created while the directory was writable for them. */
function requireOwnEntries(directory: string): void {
  for (const name of namesIn(directory)) {
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat !== undefined) requireOwner(path, stat.uid);
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errno(error) === "ENOENT") return [];
    throw error;
  }
}

function open(mode: number): string {
  return `writable by other users (mode ${(mode & 0o7777).toString(8).padStart(4, "0")})`;
}

// The mounts of a cell while it is put together, each found by its path, and the looks at the disk that this takes. What cannot be looked
// at is not there.

import { accessSync, constants, type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, relative, sep } from "node:path";
import { errno } from "../errors.ts";
import type { Mount } from "./sandbox.ts";

export type Mounts = Map<string, Mount>;

export function put(mounts: Mounts, mount: Mount): void {
  mounts.set(mount.path, mount);
}

/** A directory that the machine has becomes an empty one. */
export function putEmpty(mounts: Mounts, path: string, writable: boolean): void {
  const real = realOf(path);
  if (real !== undefined && statOf(real)?.isDirectory()) put(mounts, { kind: "empty", path: real, writable });
}

/** The mount by which those inside see a path. */
export function around(mounts: Mounts, path: string): Mount {
  for (let at = path; ; at = dirname(at)) {
    const mount = mounts.get(at);
    if (mount !== undefined) return mount;
    if (at === dirname(at)) throw new Error(`nothing is mounted around ${path}`);
  }
}

/** Makes a path that would be gone readable again, also when it leads there through a link. */
export function keep(mounts: Mounts, path: string): void {
  const real = isAbsolute(path) ? realOf(path) : undefined;
  if (real === undefined) return;
  if (real !== path && around(mounts, path).kind === "empty") put(mounts, { kind: "link", path, target: real });
  const mount = around(mounts, real);
  if (mount.kind === "empty" && mount.path !== real) put(mounts, { kind: "machine", path: real, writable: false });
}

/** Takes a path away, unless it is not to be seen anyhow. */
export function cover(mounts: Mounts, path: string): void {
  const stat = statOf(path);
  if (stat === undefined || around(mounts, path).kind !== "machine") return;
  put(mounts, stat.isDirectory() ? { kind: "empty", path, writable: false } : { kind: "void", path });
}

/** What contains something is shorter. */
export function byLength(a: string, b: string): number {
  return a.length - b.length;
}

export function isReadable(path: string): boolean {
  const isAllowed = look(() => {
    accessSync(path, constants.R_OK);
    return true;
  });
  return isAllowed ?? false;
}

export function isPlain(stat: Stats | undefined): boolean {
  return stat !== undefined && (stat.isFile() || stat.isDirectory());
}

export function contains(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
}

export function containsAny(directory: string, paths: readonly string[]): boolean {
  return paths.some((path) => contains(directory, path));
}

export function entriesOf(directory: string): Dirent[] {
  return look(() => readdirSync(directory, { withFileTypes: true })) ?? [];
}

export function realOf(path: string): string | undefined {
  return look(() => realpathSync.native(path));
}

export function statOf(path: string): Stats | undefined {
  return look(() => statSync(path));
}

function look<T>(at: () => T): T | undefined {
  try {
    return at();
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}

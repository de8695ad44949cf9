// The mounts of a cell while it is being built, keyed by path, and the file system queries this needs. A path that cannot be read counts as
// absent.

import {
  accessSync,
  constants,
  type Dirent,
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { errno } from "../../errors.ts";
import type { Mount } from "./sandbox.ts";

export type Mounts = Map<string, Mount>;

/** A directory with more entries is mounted as a whole, because each entry would be a mount, and many mounts are slow. */
const MAX_ENTRIES = 200;

export function put(mounts: Mounts, mount: Mount): void {
  mounts.set(mount.path, mount);
}

/** Mounts an empty directory over an existing one. */
export function putEmpty(mounts: Mounts, path: string, writable: boolean): void {
  const real = realOf(path);
  if (real !== undefined && statOf(real)?.isDirectory()) put(mounts, { kind: "empty", path: real, writable });
}

/** The mount that determines what a process inside sees at a path. */
export function around(mounts: Mounts, path: string): Mount {
  for (let at = path; ; at = dirname(at)) {
    const mount = mounts.get(at);
    if (mount !== undefined) return mount;
    if (at === dirname(at)) throw new Error(`nothing is mounted around ${path}`);
  }
}

/** Makes a path of the machine readable, including when it is a link. */
export function keep(mounts: Mounts, path: string): void {
  const real = lead(mounts, path);
  if (real !== undefined && isAbsent(mounts, real)) put(mounts, { kind: "machine", path: real, writable: false });
}

/** Makes a path resolve as it does outside, and returns its real path, which the caller has to mount. */
export function lead(mounts: Mounts, path: string): string | undefined {
  const real = isAbsolute(path) ? realOf(path) : undefined;
  if (real === undefined) return undefined;
  if (real !== path && isAbsent(mounts, path)) put(mounts, { kind: "link", path, target: real });
  return real;
}

/** Whether the path is not visible inside so far. */
export function isAbsent(mounts: Mounts, path: string): boolean {
  const mount = around(mounts, path);
  return mount.kind === "empty" && mount.path !== path;
}

/** Hides a path, or its target if it is a link, unless it is absent already. */
export function cover(mounts: Mounts, path: string): void {
  const real = realOf(path);
  const stat = real === undefined ? undefined : statOf(real);
  if (real === undefined || stat === undefined || around(mounts, real).kind !== "machine") return;
  put(mounts, stat.isDirectory() ? { kind: "empty", path: real, writable: false } : { kind: "void", path: real });
}

/**
 * Mounts a directory without its hidden entries, by mounting the other entries one by one. Mounting over a hidden file would not last,
 * because the mount disappears when a process outside replaces the file.
 */
export function keepExcept(mounts: Mounts, directory: string, isHidden: (name: string) => boolean): void {
  if (!isAbsent(mounts, directory)) return;
  const entries = entriesOf(directory);
  // A socket among programs would be a way out of the sandbox.
  const isShown = (entry: Dirent) =>
    !isHidden(entry.name) && (entry.isFile() || entry.isDirectory() || entry.isSymbolicLink());
  const shown = entries.filter(isShown);
  if (shown.length === entries.length || shown.length > MAX_ENTRIES) {
    put(mounts, { kind: "machine", path: directory, writable: false });
    for (const entry of entries) if (!isShown(entry)) coverEntry(mounts, join(directory, entry.name));
    return;
  }
  put(mounts, { kind: "empty", path: directory, writable: false });
  for (const entry of shown) {
    const path = join(directory, entry.name);
    if (mounts.has(path)) continue;
    if (entry.isSymbolicLink()) put(mounts, { kind: "link", path, target: readlinkSync(path) });
    else if (isPlain(statOf(path))) put(mounts, { kind: "machine", path, writable: false });
  }
}

/** Skips links: bubblewrap cannot mount over them, and a link shows nothing that is not mounted elsewhere. */
function coverEntry(mounts: Mounts, path: string): void {
  if (look(() => lstatSync(path))?.isSymbolicLink() === false) cover(mounts, path);
}

/** Drops mounts without effect: below a link, or machine paths and links where the machine is already visible. */
export function simplified(mounts: Mounts): Mount[] {
  return [...mounts.values()].filter((mount) => {
    if (mount.path === "/") return true;
    const parent = around(mounts, dirname(mount.path));
    if (parent.kind === "link" || (parent.kind === "machine" && mount.kind === "link")) return false;
    const isSame = mount.kind === "machine" && parent.kind === "machine" && mount.writable === parent.writable;
    return !isSame;
  });
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

/** Both paths must be absolute and normalised. */
export function contains(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

export function containsAny(directory: string, paths: readonly string[]): boolean {
  return paths.some((path) => contains(directory, path));
}

export function isInAny(directories: readonly string[], path: string): boolean {
  return directories.some((directory) => contains(directory, path));
}

export function entriesOf(directory: string): Dirent[] {
  return existsSync(directory) ? (look(() => readdirSync(directory, { withFileTypes: true })) ?? []) : [];
}

export function realOf(path: string): string | undefined {
  // Most paths do not exist, and creating an error is slow.
  return existsSync(path) ? look(() => realpathSync.native(path)) : undefined;
}

export function statOf(path: string): Stats | undefined {
  return look(() => statSync(path, { throwIfNoEntry: false }));
}

/** The target of a link as written in it; undefined for anything else. */
export function linkAt(path: string): string | undefined {
  return look(() => readlinkSync(path));
}

export function look<T>(at: () => T): T | undefined {
  try {
    return at();
  } catch (error) {
    if (errno(error) === undefined) throw error;
    return undefined;
  }
}

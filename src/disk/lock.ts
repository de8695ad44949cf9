// A lock between processes: a dead owner never keeps it, a living owner never loses it.
// Hand-written because lock libraries decide by modification time, which is wrong after a laptop slept or a clock jumped.
//
// The lock is a file with its owner's identity, created complete by link() so that no process ever reads half of it.
// Taking over from a dead owner: only the process that created the marker `<lock>.reap.<token of the dead owner>` may remove
// that owner's lock, and it checks the owner again once it has the marker. Tokens are never reused, so a process that decided
// on outdated information cannot remove another process's lock. The removal renames the lock onto the marker.

import { closeSync, constants } from "node:fs";
import { errno, MaestroError } from "../errors.ts";
import { type Directory, ioError } from "./contained.ts";
import { newTemporaryName, readRegular, shownPath, writeAll } from "./durable.ts";
import { judge, ownIdentity, type ProcessIdentity } from "./identity.ts";
import { randomHex } from "./random.ts";

export interface LockOwner extends ProcessIdentity {
  token: string;
  since: string;
  /** Set on an engine's lock: the engine runs the session and checks what other processes record. */
  drives?: true;
}

/** The lock of a session, in its state directory. */
export const LOCK_FILE = ".lock";

const DEFAULT_WAIT_MS = 10_000;
/** How long a lock may be unreadable before it counts as abandoned. */
const UNREADABLE_MS = 1_000;
const MAX_OWNER_BYTES = 4096;
/** Errors of link() on file systems without hard links (exFAT, some network shares). */
const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

export function newOwner(): LockOwner {
  return { ...ownIdentity(), token: randomHex(12), since: new Date().toISOString() };
}

export interface LockOptions {
  waitMs?: number;
  /** An owner that takes the lock repeatedly: its claim file stays on disk in between, and `dropClaim` deletes it. */
  keeper?: LockOwner | undefined;
}

/** Runs `work` while holding the lock `name` in `directory`. Waits up to `waitMs` for a living owner, then throws an error naming it. */
export function withLock<T>(directory: Directory, name: string, work: () => T, options: LockOptions = {}): T {
  const { waitMs = DEFAULT_WAIT_MS, keeper } = options;
  const owner = keeper ?? newOwner();
  const take = keeper === undefined ? tryAcquire : tryAcquireAgain;
  const started = performance.now();
  const unreadable = { inode: 0, since: started };
  // Creating a claim costs more than reading the lock, so retries read first.
  const tryOnce = (isFirst: boolean) => (isFirst || !isHeld(directory, name)) && take(directory, name, owner);
  for (let attempt = 0; !tryOnce(attempt === 0); attempt++) {
    if (performance.now() - started >= waitMs) throw heldBy(directory, name, readOwner(directory, name));
    clearUnreadable(directory, name, owner, unreadable);
    pause(Math.random() * Math.min(20, 1 + attempt));
  }
  try {
    return work();
  } finally {
    if (readOwner(directory, name)?.token === owner.token) directory.unlink(name);
  }
}

/** Takes the lock for longer than one change, without waiting. Returns how to release it, or its owner (undefined: unreadable). */
export function claimLock(
  directory: Directory,
  name: string,
  about: Pick<LockOwner, "drives"> = {},
): { release: (directory: Directory) => void } | { heldBy: LockOwner | undefined } {
  const owner = { ...newOwner(), ...about };
  const started = performance.now();
  const unreadable = { inode: 0, since: started };
  for (;;) {
    if (tryAcquire(directory, name, owner)) {
      sweepMarkers(directory, name);
      return { release: (from) => void (readOwner(from, name)?.token === owner.token && from.unlink(name)) };
    }
    const heldBy = readOwner(directory, name);
    const isHeld = heldBy !== undefined && judge(heldBy) !== "dead";
    if (isHeld || performance.now() - started > 2 * UNREADABLE_MS) return { heldBy };
    clearUnreadable(directory, name, owner, unreadable);
    pause(Math.random() * 5);
  }
}

/** One attempt: true when this owner now holds the lock. Removes a dead owner's lock, for the next attempt. */
function tryAcquire(directory: Directory, name: string, owner: LockOwner): boolean {
  if (place(directory, name, owner)) return true;
  const current = readOwner(directory, name);
  if (current !== undefined && judge(current) === "dead") reap(directory, name, current, owner);
  return false;
}

/** Like `tryAcquire`, but reuses one claim file: creating files is most of the cost of a lock. */
function tryAcquireAgain(directory: Directory, name: string, owner: LockOwner): boolean {
  try {
    directory.link(claimName(name, owner), name);
    return true;
  } catch (error) {
    if (errno(error) === "EEXIST") return tryAcquire(directory, name, owner);
    if (errno(error) !== "ENOENT" && !noLinks.has(errno(error) ?? ""))
      throw ioError("lock", shownPath(directory, name), error);
  }
  place(directory, claimName(name, owner), owner);
  return tryAcquire(directory, name, owner);
}

export function dropClaim(directory: Directory, name: string, owner: LockOwner): void {
  directory.unlink(claimName(name, owner));
}

function claimName(name: string, { token }: LockOwner): string {
  return `${name}.claim.${token}`;
}

/** Whether there are claims or markers beside the lock that no process will use again. */
export function hasLitter(directory: Directory, name: string): boolean {
  return directory
    .list()
    .some((entry) => entry.startsWith(`${name}.reap.`) || (isClaim(entry, name) && isAbandoned(directory, entry)));
}

function isClaim(entry: string, name: string): boolean {
  return entry.startsWith(`${name}.claim.`);
}

/** The owner of the lock; undefined when it is free or its file is unreadable. */
export function readOwner(directory: Directory, name: string): LockOwner | undefined {
  const bytes = readIfThere(directory, name);
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isOwner(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** True when the owner is alive or may be. */
function isHeld(directory: Directory, name: string): boolean {
  const owner = readOwner(directory, name);
  return owner !== undefined && judge(owner) !== "dead";
}

/** True when the lock exists and its owner is dead. */
export function isAbandoned(directory: Directory, name: string): boolean {
  const owner = readOwner(directory, name);
  return owner !== undefined && judge(owner) === "dead";
}

/** Deletes claims and markers of dead processes. Call it while holding the lock. */
export function sweepMarkers(directory: Directory, name: string): void {
  for (const entry of directory.list()) {
    if (!entry.startsWith(`${name}.reap.`) && !isClaim(entry, name)) continue;
    const owner = readOwner(directory, entry);
    if (owner === undefined || judge(owner) === "dead") directory.unlink(entry);
  }
}

/** Creates the file with its whole content at once; false when it already exists. */
function place(directory: Directory, name: string, owner: LockOwner): boolean {
  const claim = newTemporaryName();
  try {
    try {
      writeOwner(directory, claim, owner);
      directory.link(claim, name);
      return true;
    } catch (error) {
      if (errno(error) === "EEXIST" || errno(error) === "ENOENT") return false;
      if (!noLinks.has(errno(error) ?? "")) throw error;
    } finally {
      directory.unlink(claim);
    }
    writeOwner(directory, name, owner);
    return true;
  } catch (error) {
    if (errno(error) === "EEXIST") return false;
    throw ioError("lock", shownPath(directory, name), error);
  }
}

function writeOwner(directory: Directory, name: string, owner: LockOwner): void {
  const fd = directory.open(name, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    writeAll(fd, Buffer.from(JSON.stringify(owner)), "lock");
  } finally {
    closeSync(fd);
  }
}

function reap(directory: Directory, name: string, dead: LockOwner, me: LockOwner): void {
  const marker = `${name.split(".reap.")[0]}.reap.${dead.token}`;
  if (!place(directory, marker, me)) {
    const rival = readOwner(directory, marker);
    // A marker that holds the dead owner itself is a finished removal whose process died before the last step.
    if (rival === undefined || rival.token === dead.token || judge(rival) !== "dead") return;
    reap(directory, marker, rival, me);
    return;
  }
  if (readOwner(directory, name)?.token === dead.token) directory.rename(name, marker);
  directory.unlink(marker);
}

/**
 * A lock without a readable owner was left by a power cut or, on file systems without links, is being written right now.
 * If the same file stays unreadable for a while, it is the former.
 */
function clearUnreadable(
  directory: Directory,
  name: string,
  me: LockOwner,
  seen: { inode: number; since: number },
): void {
  const inode = directory.lstat(name)?.ino ?? 0;
  const isReadable = inode === 0 || readOwner(directory, name) !== undefined;
  if (isReadable || inode !== seen.inode) {
    seen.inode = isReadable ? 0 : inode;
    seen.since = performance.now();
    return;
  }
  if (performance.now() - seen.since < UNREADABLE_MS) return;
  const marker = `${name}.reap.${inode}`;
  if (!place(directory, marker, me)) return;
  const still = directory.lstat(name)?.ino === inode && readOwner(directory, name) === undefined;
  if (still) directory.rename(name, marker);
  directory.unlink(marker);
}

function readIfThere(directory: Directory, name: string): Buffer | undefined {
  try {
    return readRegular(directory, name, MAX_OWNER_BYTES);
  } catch (error) {
    // Deleted between lstat and open: the owner has just released it.
    if (error instanceof MaestroError && errno(error.cause) === "ENOENT") return undefined;
    throw error;
  }
}

function heldBy(directory: Directory, name: string, owner: LockOwner | undefined): MaestroError {
  const path = shownPath(directory, name);
  const hint = `If you are sure that nothing is using it, remove ${path}.`;
  if (owner === undefined) return new MaestroError("locked", `State is locked by ${path}`, { hint });
  const who = `process ${owner.pid} on ${owner.host} since ${owner.since}`;
  return new MaestroError("locked", `State is locked by ${who} (${path})`, { hint });
}

function isOwner(value: unknown): value is LockOwner {
  const fields = value as Partial<LockOwner> | null;
  return (
    typeof fields === "object" &&
    fields !== null &&
    Number.isInteger(fields.pid) &&
    typeof fields.token === "string" &&
    /^[0-9a-f]{24}$/.test(fields.token) &&
    typeof fields.host === "string"
  );
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

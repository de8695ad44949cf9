// Durable replacement of one file, and the removal of what a killed writer left behind.
// Ours because the libraries of this field open their temporary file without O_EXCL, follow links, or never fsync the directory.

import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, readSync, type Stats, writeSync } from "node:fs";
import { MaestroError } from "../errors.ts";
import { type Directory, ioError } from "./contained.ts";
import { crc32, hex } from "./crc32.ts";
import { crashPoint, isArmed } from "./fault.ts";
import { judge, ownIdentity, type ProcessIdentity } from "./identity.ts";

const temporaryName = /^\.maestro-([0-9a-f]{8})-([0-9a-f]{8})-(\d+)-(\w+)-[0-9a-f]{24}\.tmp$/;

export interface ReplaceOptions {
  mode?: number;
  /** Asked when the new bytes are safe, directly before they take the place of the old ones; false gives it up. */
  confirm?: () => boolean;
}

/**
 * Replaces `name` by `content`: a reader sees the old bytes or the new ones, and once this returns the new ones survive a power cut. On
 * failure the old file is untouched and the temporary one is gone. Returns what the new file is; undefined when it was given up.
 */
export function replaceDurably(
  directory: Directory,
  name: string,
  content: string | Uint8Array,
  options: ReplaceOptions = {},
): Stats | undefined {
  const { mode = 0o600, confirm } = options;
  const temporary = newTemporaryName();
  let created = false;
  try {
    crashPoint("open");
    const fd = directory.open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    created = true;
    let stat: Stats;
    try {
      crashPoint("opened");
      writeAll(fd, typeof content === "string" ? Buffer.from(content) : content, "write");
      fchmodSync(fd, mode);
      crashPoint("sync");
      fsyncSync(fd);
      crashPoint("synced");
      stat = fstatSync(fd);
    } finally {
      closeSync(fd);
    }
    if (confirm?.() === false) {
      directory.unlink(temporary);
      return undefined;
    }
    directory.rename(temporary, name);
    created = false;
    directory.sync();
    return stat;
  } catch (error) {
    if (created) directory.unlink(temporary);
    throw ioError("write", shownPath(directory, name), error);
  }
}

/** Writes every byte, also when the system takes them in pieces. */
export function writeAll(fd: number, bytes: Uint8Array, step: string): void {
  crashPoint(step);
  if (isArmed(`${step}-half`)) writeSync(fd, bytes, 0, bytes.length >> 1);
  crashPoint(`${step}-half`);
  let written = 0;
  while (written < bytes.length) written += writeSync(fd, bytes, written);
  crashPoint(`${step}-done`);
}

/** The bytes of a regular file; undefined when there is none. Anything else, or more than `limit` bytes, is refused. */
export function readRegular(directory: Directory, name: string, limit: number): Buffer | undefined {
  if (directory.lstat(name) === undefined) return undefined;
  const shown = shownPath(directory, name);
  let fd: number;
  try {
    // O_NONBLOCK: opening a FIFO must not wait for its writer.
    fd = directory.open(name, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw ioError("read", shown, error);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new MaestroError("path", `Not a regular file: ${shown}`);
    if (stat.size > limit) {
      throw new MaestroError("parse_failed", `File too large: ${shown} has ${stat.size} bytes, the limit is ${limit}`);
    }
    return readFrom(fd, 0, stat.size);
  } finally {
    closeSync(fd);
  }
}

/** Reads `[offset, end)` of an open file, less when it ends earlier. */
export function readFrom(fd: number, offset: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - offset));
  let filled = 0;
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** Removes the temporary files of writers that no longer live; returns how many. */
export function sweepTemporaries(directory: Directory): number {
  let removed = 0;
  for (const name of directory.list()) {
    const owner = ownerOf(name);
    if (owner === undefined || judge(owner) !== "dead") continue;
    directory.unlink(name);
    removed += 1;
  }
  return removed;
}

export function isTemporary(name: string): boolean {
  return temporaryName.test(name);
}

export function shownPath(directory: Directory, name: string): string {
  return directory.shown === "" ? name : `${directory.shown}/${name}`;
}

/** A random name, short whatever the target's length, that tells who is writing. */
export function newTemporaryName(): string {
  const { pid, start } = ownIdentity();
  return `.maestro-${tags(ownIdentity()).join("-")}-${pid}-${start?.replace(/\W/g, "_") ?? "x"}-${randomHex(12)}.tmp`;
}

export function randomHex(bytes: number): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
}

function tags(identity: ProcessIdentity): [machine: string, boot: string] {
  const tag = (text: string) => hex(crc32(Buffer.from(text)));
  return [tag(`${identity.host} ${identity.namespace}`), tag(identity.boot ?? "")];
}

function ownerOf(name: string): ProcessIdentity | undefined {
  const match = temporaryName.exec(name);
  if (match === null) return undefined;
  const me = ownIdentity();
  const [machine, boot] = tags(me);
  return {
    pid: Number(match[3]),
    start: me.start?.includes(" ") ? null : (match[4] ?? null),
    boot: match[2] === boot ? me.boot : `not ${me.boot}`,
    host: match[1] === machine ? me.host : `not ${me.host}`,
    namespace: me.namespace,
  };
}

// Replaces one file durably, and deletes what a killed writer left behind.
// Hand-written because the libraries for this open their temporary file without O_EXCL, follow links, or never fsync the directory.

import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, readSync, type Stats, writeSync } from "node:fs";
import { MaestroError } from "../errors.ts";
import { type Directory, ioError } from "./contained.ts";
import { crc32, hex } from "./crc32.ts";
import { crashPoint, isArmed } from "./fault.ts";
import { judge, ownIdentity, type ProcessIdentity } from "./identity.ts";
import { randomHex } from "./random.ts";

const temporaryName = /^\.maestro-([0-9a-f]{8})-([0-9a-f]{8})-(\d+)-(\w+)-[0-9a-f]{24}\.tmp$/;

export interface ReplaceOptions {
  mode?: number;
  /** Called when the new bytes are on disk, just before they replace the old ones; false cancels the replacement. */
  confirm?: () => boolean;
}

/**
 * Replaces `name` with `content`: a reader sees either the old or the new bytes, and after the return the new ones survive a power cut. On
 * failure the old file is untouched and the temporary file is deleted. Returns the new file's status, or undefined when it was cancelled.
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

/** Writes all bytes, even when the system accepts them only in parts. */
export function writeAll(fd: number, bytes: Uint8Array, step: string): void {
  crashPoint(step);
  if (isArmed(`${step}-half`)) writeSync(fd, bytes, 0, bytes.length >> 1);
  crashPoint(`${step}-half`);
  let written = 0;
  while (written < bytes.length) written += writeSync(fd, bytes, written);
  crashPoint(`${step}-done`);
}

/** The bytes of a regular file; undefined when it does not exist. Rejects other kinds of files and more than `limit` bytes. */
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

/** Reads `[offset, end)` of an open file; returns less when the file is shorter. */
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

/** Deletes the temporary files of dead writers; returns how many. */
export function sweepTemporaries(directory: Directory): number {
  let removed = 0;
  for (const name of directory.list()) {
    const owner = ownerOf(name);
    if (owner === undefined || judge(owner) !== "dead" || directory.lstat(name)?.isDirectory()) continue;
    directory.unlink(name);
    removed += 1;
  }
  return removed;
}

/** The temporary directories of dead writers, which the caller removes. */
export function deadDirectories(directory: Directory): string[] {
  return directory.list().filter((name) => {
    const owner = ownerOf(name);
    return owner !== undefined && judge(owner) === "dead" && directory.lstat(name)?.isDirectory() === true;
  });
}

export function isTemporary(name: string): boolean {
  return temporaryName.test(name);
}

export function shownPath(directory: Directory, name: string): string {
  return directory.shown === "" ? name : `${directory.shown}/${name}`;
}

/** A random name that identifies the writing process. Its length does not depend on the target's name. */
export function newTemporaryName(): string {
  const { pid, start } = ownIdentity();
  return `.maestro-${tags(ownIdentity()).join("-")}-${pid}-${start?.replace(/\W/g, "_") ?? "x"}-${randomHex(12)}.tmp`;
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

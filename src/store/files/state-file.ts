// read-state and write-state: read and write any file of the project by relative path, bypassing ignore rules, with the documented messages.

import { closeSync, constants, fstatSync, readSync } from "node:fs";
import { basename } from "node:path";
import { type Directory, ioError, pathFault, withParent } from "../../disk/contained.ts";
import { replaceDurably, sweepTemporaries } from "../../disk/durable.ts";
import { LOCK_FILE, withLock } from "../../disk/lock.ts";
import { errno, MaestroError } from "../../errors.ts";
import { JOURNAL_FILE, VIEW_FILE } from "../journal/journal-file.ts";

const CHUNK_BYTES = 1024 * 1024;

/** Passes the file's bytes to `write`, chunk by chunk and unchanged. */
export function readStateFile(projectRoot: string, path: string, write: (chunk: Uint8Array) => void): void {
  checkPath(path);
  if (/[\\/]$/.test(path)) throw new MaestroError("not_found", `State file not found: ${path}`);
  try {
    withParent(projectRoot, path, { create: false }, (parent, name) => {
      // O_NONBLOCK: opening a FIFO must not wait for its writer.
      const fd = parent.open(name, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        if (!fstatSync(fd).isFile()) throw new MaestroError("path", `Not a regular file: ${path}`);
        const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
        for (let count = readSync(fd, chunk); count > 0; count = readSync(fd, chunk)) write(chunk.subarray(0, count));
      } finally {
        closeSync(fd);
      }
    });
  } catch (error) {
    throw translate("read", path, error);
  }
}

/** Replaces the file durably and creates missing parent directories. Does not check the content: its readers do. */
export function writeStateFile(projectRoot: string, path: string, content: Uint8Array): void {
  checkPath(path);
  if (/[\\/]$/.test(path)) throw new MaestroError("path", `Not a file (got: ${path})`);
  try {
    withParent(projectRoot, path, { create: true }, (parent, name) => {
      refuseJournal(parent, name, path);
      const present = parent.lstat(name);
      if (present !== undefined && !present.isFile()) throw new MaestroError("path", `Not a regular file: ${path}`);
      sweepTemporaries(parent);
      const mode = present === undefined ? 0o666 & ~process.umask() : present.mode & 0o777;
      const replace = () => replaceDurably(parent, name, content, { mode });
      // Under the lock, because Maestro renders this file too, and one of the two writes would be lost.
      if (name === VIEW_FILE) withLock(parent, LOCK_FILE, replace);
      else replace();
    });
  } catch (error) {
    throw translate("write", path, error);
  }
}

/** Only the session store writes the journal and its lock. */
function refuseJournal(parent: Directory, name: string, path: string): void {
  if (basename(parent.shown) !== "state" || (name !== JOURNAL_FILE && name !== LOCK_FILE)) return;
  throw new MaestroError("path", `Only Maestro itself writes the journal (got: ${path})`, {
    hint: 'Use "maestro session" to change the session.',
  });
}

function checkPath(path: string): void {
  const fault = pathFault(path);
  if (fault === "absolute") throw new MaestroError("path", `Path must be relative (got: ${path})`);
  if (fault === "traversal") throw new MaestroError("path", `Path traversal not allowed (got: ${path})`);
  if (fault !== undefined) throw new MaestroError("path", `Not a usable path (got: ${JSON.stringify(path)})`);
}

function translate(action: "read" | "write", path: string, error: unknown): Error {
  const code = errno(error);
  if (action === "read" && (code === "ENOENT" || code === "ENOTDIR")) {
    return new MaestroError("not_found", `State file not found: ${path}`, { cause: error });
  }
  if (code === "ELOOP") {
    return new MaestroError("path", `Path leaves the project through a symbolic link (got: ${path})`, { cause: error });
  }
  return ioError(action, path, error);
}

// state/progress.jsonl: the append-only truth about the active session. One record is one write() with O_APPEND.
// Appending and repairing need the session lock; reading does not.

import { closeSync, constants, fdatasyncSync, fstatSync, ftruncateSync } from "node:fs";
import { errno, MaestroError } from "../errors.ts";
import type { SessionEvent } from "../session/events.ts";
import { apply, type TimedEvent } from "../session/fold.ts";
import type { Session } from "../session/session.ts";
import { type Directory, ioError } from "./contained.ts";
import { readFrom, readRegular, shownPath, writeAll } from "./durable.ts";
import { crashPoint } from "./fault.ts";
import { JOURNAL_FILE } from "./journal-file.ts";
import {
  type Decoded,
  decodeRecords,
  encodeChange,
  type JournalFault,
  type JournalRecord,
  journalStart,
  type ReadPosition,
} from "./record.ts";

/** Enough to hold a record's checksum. */
const REMEMBERED_BYTES = 32;
export const MAX_JOURNAL_BYTES = 512 * 1024 * 1024;

/** The journal as far as it was read. A second look reads only what came after. */
export class Journal {
  session: Session | undefined;
  /** Told of every record as it is read or written. */
  readonly listeners = new Set<(record: TimedEvent, session: Session) => void>();
  #inode = 0;
  #offset = 0;
  #position: ReadPosition = journalStart;
  #lastTime = "";
  /** The end of what was read. */
  #last = Buffer.alloc(0);

  /** Reads what is new. Returns what stands after the last good record, or the fault that stops every reader. */
  refresh(directory: Directory): { tail: Decoded["tail"]; exists: boolean } | { fault: JournalFault } {
    const fd = openJournal(directory, constants.O_RDONLY | constants.O_NONBLOCK);
    if (fd === undefined) {
      if (this.#offset > 0) this.#followToArchive(directory);
      this.#restart(0);
      return { tail: { kind: "none" }, exists: false };
    }
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) return { fault: { line: 0, reason: "not a regular file" } };
      if (stat.size > MAX_JOURNAL_BYTES)
        return { fault: { line: 0, reason: `larger than ${MAX_JOURNAL_BYTES} bytes` } };
      if (stat.ino !== this.#inode || !this.#isWhereWeLeft(fd, stat.size)) this.#restart(stat.ino);
      if (stat.size === this.#offset) return { tail: { kind: "none" }, exists: true };
      const decoded = this.#take(readFrom(fd, this.#offset, stat.size));
      if ("fault" in decoded) return decoded;
      return { tail: decoded.tail, exists: true };
    } finally {
      closeSync(fd);
    }
  }

  /** The session as it was after record `seq`. */
  sessionAt(directory: Directory, seq: number): Session | undefined {
    const bytes = readRegular(directory, JOURNAL_FILE, MAX_JOURNAL_BYTES) ?? Buffer.alloc(0);
    let session: Session | undefined;
    decodeRecords(bytes, journalStart, (record) => {
      if (record.seq <= seq) session = apply(session, record);
      return undefined;
    });
    return session;
  }

  /** The bytes after the last good record. */
  readTail(directory: Directory): Buffer {
    const fd = openJournal(directory, constants.O_RDONLY);
    if (fd === undefined) throw vanished(directory);
    try {
      return readFrom(fd, this.#offset, fstatSync(fd).size);
    } finally {
      closeSync(fd);
    }
  }

  /** Cuts off what stands after the last good record. */
  cutTail(directory: Directory): void {
    const fd = openJournal(directory, constants.O_RDWR);
    if (fd === undefined) throw vanished(directory);
    try {
      crashPoint("cut");
      ftruncateSync(fd, this.#offset);
      fdatasyncSync(fd);
      crashPoint("cut-done");
    } catch (error) {
      throw ioError("repair", shownPath(directory, JOURNAL_FILE), error);
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Appends events; the journal must have been refreshed under the lock and its tail cut. They are durable when this returns, or with
   * `isLast` false when `sync` does.
   */
  append(directory: Directory, events: readonly SessionEvent[], now: Date, isLast = true): void {
    // Time never runs backwards in the record, whatever the clock does.
    const ts = [now.toISOString(), this.#lastTime].sort().at(-1) as string;
    const { bytes: lines } = encodeChange(this.#position, ts, events);
    const bytes = this.#position.open ? Buffer.concat([Buffer.from("\n"), lines]) : lines;
    const fresh = this.#offset === 0;
    try {
      const flags = constants.O_WRONLY | constants.O_APPEND | (fresh ? constants.O_CREAT : 0);
      const fd = directory.open(JOURNAL_FILE, flags, 0o600);
      try {
        this.#write(fd, bytes, isLast);
        this.#inode = fstatSync(fd).ino;
      } finally {
        closeSync(fd);
      }
      if (fresh) directory.sync();
    } catch (error) {
      throw ioError("write", shownPath(directory, JOURNAL_FILE), error);
    }
    const decoded = this.#take(bytes);
    if ("fault" in decoded) throw new Error(`journal record cannot be read back: ${decoded.fault.reason}`);
  }

  /** Makes durable what was appended. */
  sync(directory: Directory): void {
    const fd = openJournal(directory, constants.O_WRONLY);
    if (fd === undefined) throw vanished(directory);
    try {
      crashPoint("append-sync");
      fdatasyncSync(fd);
      crashPoint("append-synced");
    } catch (error) {
      throw ioError("write", shownPath(directory, JOURNAL_FILE), error);
    } finally {
      closeSync(fd);
    }
  }

  /** A write that fails half-way (disk full) is taken back: the next reader sees the old state. */
  #write(fd: number, bytes: Buffer, isLast: boolean): void {
    try {
      writeAll(fd, bytes, "append");
      if (!isLast) return;
      crashPoint("append-sync");
      fdatasyncSync(fd);
      crashPoint("append-synced");
    } catch (error) {
      ftruncateSync(fd, this.#offset);
      throw error;
    }
  }

  /** A file made anew may get the number of the one it replaces: what we read last must still be there. */
  #isWhereWeLeft(fd: number, size: number): boolean {
    if (size < this.#offset) return false;
    return readFrom(fd, this.#offset - this.#last.length, this.#offset).equals(this.#last);
  }

  /** Folds the records in `bytes`, which follow what was read before. After a fault nothing is known any more. */
  #take(bytes: Buffer): ReturnType<typeof decodeRecords> {
    const decoded = decodeRecords(bytes, this.#position, this.#apply);
    if ("fault" in decoded) {
      this.#restart(0);
      return decoded;
    }
    const read = bytes.subarray(Math.max(0, decoded.end - REMEMBERED_BYTES), decoded.end);
    this.#last = Buffer.concat([this.#last, read]).subarray(-REMEMBERED_BYTES);
    this.#position = decoded.position;
    this.#offset += decoded.end;
    return decoded;
  }

  /** Itself the function that is handed over: a long replay compiles every layer that it goes through. */
  #apply = (record: JournalRecord): string | undefined => {
    try {
      this.session = apply(this.session, record);
      this.#lastTime = record.ts;
    } catch (error) {
      if (error instanceof MaestroError) return error.message;
      throw error;
    }
    for (const listener of this.listeners) listener(record, this.session);
    return undefined;
  };

  #restart(inode: number): void {
    this.session = undefined;
    this.#inode = inode;
    this.#offset = 0;
    this.#position = journalStart;
    this.#lastTime = "";
    this.#last = Buffer.alloc(0);
  }

  /** Somebody else has archived the session: the file we were reading is in the archive now. What we have not seen of it is told. */
  #followToArchive(directory: Directory): void {
    if (directory.lstat("archive")?.isDirectory() !== true) throw vanished(directory);
    const archive = directory.child("archive");
    try {
      const isOurs = (name: string) => name.endsWith(".jsonl") && archive.lstat(name)?.ino === this.#inode;
      const name = archive.list().find(isOurs);
      if (name === undefined) throw vanished(directory);
      this.#take((readRegular(archive, name, MAX_JOURNAL_BYTES) ?? Buffer.alloc(0)).subarray(this.#offset));
    } finally {
      archive.close();
    }
  }
}

function openJournal(directory: Directory, flags: number): number | undefined {
  try {
    return directory.open(JOURNAL_FILE, flags);
  } catch (error) {
    if (errno(error) === "ENOENT") return undefined;
    throw ioError("read", shownPath(directory, JOURNAL_FILE), error);
  }
}

function vanished(directory: Directory): MaestroError {
  return new MaestroError("environment", `The journal has disappeared: ${shownPath(directory, JOURNAL_FILE)}`, {
    hint: "It was moved or deleted while in use. Nothing was written.",
  });
}

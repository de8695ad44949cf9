// state/progress.jsonl: the append-only source of truth about the active session. One change is one write() with O_APPEND.
// Appending and repairing need the session lock; reading does not.

import { closeSync, constants, fdatasyncSync, fstatSync, ftruncateSync, lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { type Directory, ioError } from "../../disk/contained.ts";
import { readFrom, readRegular, replaceDurably, shownPath, writeAll } from "../../disk/durable.ts";
import { crashPoint } from "../../disk/fault.ts";
import { errno, MaestroError } from "../../errors.ts";
import type { SessionEvent } from "../../session/events.ts";
import { applyEvent, type TimedEvent } from "../../session/fold.ts";
import type { Session } from "../../session/session.ts";
import type { StateLocation } from "../location.ts";
import { keepCopy } from "../view/view-file.ts";
import { type ForeignJudge, judgeChange, nextChange, quarantineText, sortTail } from "./foreign-tail.ts";
import { JOURNAL_FILE } from "./journal-file.ts";
import type { JournalWatch } from "./journal-watch.ts";
import { QUARANTINED, uncutTail } from "./quarantined.ts";
import {
  type Decoded,
  decodeRecords,
  encodeChange,
  type JournalFault,
  type JournalRecord,
  journalStart,
  type ReadPosition,
} from "./record.ts";

/** Enough for a record's checksum. */
const REMEMBERED_BYTES = 32;
export const MAX_JOURNAL_BYTES = 512 * 1024 * 1024;

/** `refused`: another process has written records that it may not write; they must be quarantined under the lock. */
type Refreshed = { tail: Decoded["tail"]; exists: boolean; refused?: true } | { fault: JournalFault };

/** The journal as far as it has been read. A second refresh reads only what was appended since. */
export class Journal {
  session: Session | undefined;
  /** Called for every record that is read or written. */
  readonly listeners = new Set<(record: TimedEvent, session: Session) => void>();
  #inode = 0;
  #offset = 0;
  #position: ReadPosition = journalStart;
  #lastTime = "";
  /** The last bytes that were read. */
  #last = Buffer.alloc(0);
  /** Set while an engine runs the session: records of other processes are judged before they are applied. */
  #watch: JournalWatch | undefined;

  /** Reads what was appended. Returns the kind of tail after the last good record, or the fault that stops every reader. */
  refresh(directory: Directory): Refreshed {
    const fd = openJournal(directory, constants.O_RDONLY | constants.O_NONBLOCK);
    if (fd === undefined) {
      if (this.#watch !== undefined) throw vanished(directory);
      if (this.#offset > 0) this.#followToArchive(directory);
      this.#restart(0);
      return { tail: { kind: "none" }, exists: false };
    }
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) return { fault: { line: 0, reason: "not a regular file" } };
      if (stat.size > MAX_JOURNAL_BYTES)
        return { fault: { line: 0, reason: `larger than ${MAX_JOURNAL_BYTES} bytes` } };
      const isSame = stat.ino === this.#inode && this.#isWhereWeLeft(fd, stat.size);
      // Another file is never taken for the journal, whatever it holds; only the journal itself is noted as intact.
      if (this.#watch !== undefined && !(isSame && this.#watch.isIntact(fd, stat, this.#offset)))
        throw replaced(directory);
      if (!isSame) this.#restart(stat.ino);
      if (stat.size === this.#offset) return { tail: { kind: "none" }, exists: true };
      const bytes = readFrom(fd, this.#offset, stat.size);
      if (this.#watch !== undefined) return this.#takeJudged(bytes, this.#watch);
      const decoded = this.#take(bytes);
      if ("fault" in decoded) return decoded;
      return { tail: decoded.tail, exists: true };
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Under the lock: from now on records of other processes are judged before they are applied, and a file that was replaced or rewritten is
   * an error.
   */
  watch(directory: Directory, watch: JournalWatch): void {
    const fd = openJournal(directory, constants.O_RDONLY);
    if (fd === undefined) throw vanished(directory);
    try {
      watch.begin(fd, this.#offset);
      this.#watch = watch;
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Whether the file is the one that was read or written to its end, unchanged since. One call of the system, for an engine that asks after
   * every attempt; for any other reader, and in doubt, false.
   */
  isCurrent({ root, components }: StateLocation): boolean {
    if (this.#watch === undefined) return false;
    const stat = lstatSync(join(root, ...components, "state", JOURNAL_FILE), { throwIfNoEntry: false });
    return stat !== undefined && stat.size === this.#offset && this.#watch.isNoted(stat);
  }

  unwatch(): void {
    this.#watch = undefined;
  }

  /** Under the lock: truncates a tail that a killed engine had copied to quarantine but not yet cut off. */
  finishQuarantine(directory: Directory, now: Date, judge: ForeignJudge): void {
    const bytes = readRegular(directory, JOURNAL_FILE, MAX_JOURNAL_BYTES) ?? Buffer.alloc(0);
    const left = uncutTail(directory, bytes);
    if (left === 0) return;
    const inode = this.#inode;
    if (this.#reread(inode, bytes.subarray(0, bytes.length - left))) this.quarantine(directory, now, judge);
    else this.#reread(inode, bytes);
  }

  /** False when `bytes` do not end with a complete change. */
  #reread(inode: number, bytes: Buffer): boolean {
    this.#restart(inode);
    const decoded = this.#take(bytes);
    return !("fault" in decoded) && decoded.tail.kind === "none" && this.session !== undefined;
  }

  /**
   * Under the lock, after `refresh` has rejected something: copies the tail aside, cuts the journal at the last good record and records the
   * allowed changes of the tail again. The file is replaced in one step, so that no crash loses a decision.
   */
  quarantine(directory: Directory, now: Date, judge: ForeignJudge | undefined = this.#watch): void {
    if (judge === undefined) return;
    const tail = this.readTail(directory);
    const sorted = sortTail(tail, this.#position, structuredClone(this.session), this.#lastTime, judge);
    const fresh = this.#encodeAll(sorted.kept, now);
    judge.warn(quarantineText(sorted, this.#replaceTail(directory, tail, fresh, now)));
    const decoded = this.#take(fresh);
    if ("fault" in decoded) throw new Error(`journal record cannot be read back: ${decoded.fault.reason}`);
  }

  /** Copies `tail` aside and puts `fresh` in its place; returns the path of the copy. */
  #replaceTail(directory: Directory, tail: Buffer, fresh: Buffer, now: Date): string {
    const bytes = readRegular(directory, JOURNAL_FILE, MAX_JOURNAL_BYTES) ?? Buffer.alloc(0);
    const copy = keepCopy(directory, JOURNAL_FILE, QUARANTINED, now, tail);
    crashPoint("quarantine");
    const stat = replaceDurably(directory, JOURNAL_FILE, Buffer.concat([bytes.subarray(0, this.#offset), fresh]));
    crashPoint("quarantined");
    this.#inode = stat?.ino ?? 0;
    return shownPath(directory, copy);
  }

  /** Encodes the changes, each following the previous one. */
  #encodeAll(changes: readonly (readonly SessionEvent[])[], now: Date): Buffer {
    const pieces: Buffer[] = this.#position.open && changes.length > 0 ? [Buffer.from("\n")] : [];
    let last: { seq: number; crc: string } = this.#position;
    for (const events of changes) {
      const encoded = encodeChange(last, this.#timeOf(now), events);
      pieces.push(encoded.bytes);
      last = encoded;
    }
    return Buffer.concat(pieces);
  }

  /** Timestamps never decrease, even if the clock is set back. */
  #timeOf(now: Date): string {
    return [now.toISOString(), this.#lastTime].sort().at(-1) as string;
  }

  /** The session as it was after record `seq`. */
  sessionAt(directory: Directory, seq: number): Session | undefined {
    const bytes = readRegular(directory, JOURNAL_FILE, MAX_JOURNAL_BYTES) ?? Buffer.alloc(0);
    let session: Session | undefined;
    decodeRecords(bytes, journalStart, (record) => {
      if (record.seq <= seq) session = applyEvent(session, record);
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

  /** Truncates the journal after the last good record. */
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
    const bytes = this.#encodeAll([events], now);
    const fresh = this.#offset === 0;
    try {
      const flags = constants.O_WRONLY | constants.O_APPEND | (fresh ? constants.O_CREAT : 0);
      const fd = directory.open(JOURNAL_FILE, flags, 0o600);
      try {
        if (this.#watch !== undefined && fstatSync(fd).ino !== this.#inode) throw replaced(directory);
        const stat = this.#write(fd, bytes, isLast);
        this.#inode = stat.ino;
        this.#watch?.note(stat, this.#offset + bytes.length);
        if (stat.size !== this.#offset + bytes.length) this.#quarantineIntruder(directory, bytes, now);
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

  /** Another process wrote at the same moment without the lock: quarantines its bytes and keeps ours in the journal. */
  #quarantineIntruder(directory: Directory, ours: Buffer, now: Date): void {
    const watch = this.#watch;
    if (watch === undefined) return;
    const tail = this.readTail(directory);
    const at = Math.max(0, tail.indexOf(ours));
    const theirs = Buffer.concat([tail.subarray(0, at), tail.subarray(at + ours.length)]);
    const copy = this.#replaceTail(directory, theirs, ours, now);
    watch.warn(
      quarantineText({ kept: [], refused: [{ seq: null, reason: "written without the session lock" }] }, copy),
    );
  }

  /** Makes appended records durable. */
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

  /** Undoes a partial write (disk full), so that the next reader sees the old state. */
  #write(fd: number, bytes: Buffer, isLast: boolean): Stats {
    try {
      writeAll(fd, bytes, "append");
      // Taken right after the write, so that a later write of another process is noticed as a change.
      const stat = fstatSync(fd);
      if (!isLast) return stat;
      crashPoint("append-sync");
      fdatasyncSync(fd);
      crashPoint("append-synced");
      return stat;
    } catch (error) {
      ftruncateSync(fd, this.#offset);
      throw error;
    }
  }

  /** A new file may reuse the inode number of the one it replaces, so the last bytes we read must still be there. */
  #isWhereWeLeft(fd: number, size: number): boolean {
    if (size < this.#offset) return false;
    return readFrom(fd, this.#offset - this.#last.length, this.#offset).equals(this.#last);
  }

  /** Folds the records in `bytes`, which continue what was read before. A fault resets the journal. */
  #take(bytes: Buffer): ReturnType<typeof decodeRecords> {
    const decoded = decodeRecords(bytes, this.#position, this.#apply);
    if ("fault" in decoded) {
      this.#restart(0);
      return decoded;
    }
    const read = bytes.subarray(Math.max(0, decoded.end - REMEMBERED_BYTES), decoded.end);
    this.#last = Buffer.concat([this.#last, read]).subarray(-REMEMBERED_BYTES);
    this.#watch?.add(bytes.subarray(0, decoded.end));
    this.#position = decoded.position;
    this.#offset += decoded.end;
    return decoded;
  }

  /** Folds the changes of other processes one by one, up to the first that they may not record. */
  #takeJudged(bytes: Buffer, watch: JournalWatch): Refreshed {
    for (let rest = bytes; rest.length > 0; ) {
      const next = nextChange(rest, this.#position);
      if (next.kind === "torn") return { tail: next, exists: true };
      if (next.kind === "unreadable") return { tail: { kind: "none" }, exists: true, refused: true };
      const verdict = judgeChange(this.session, next.records, this.#lastTime, watch);
      if ("refused" in verdict || !verdict.asIs) return { tail: { kind: "none" }, exists: true, refused: true };
      const decoded = this.#take(rest.subarray(0, next.end));
      if ("fault" in decoded) return decoded;
      rest = rest.subarray(next.end);
    }
    return { tail: { kind: "none" }, exists: true };
  }

  /** A field, so that it can be passed as it is: in a long replay every wrapper function costs compile time. */
  #apply = (record: JournalRecord): string | undefined => {
    try {
      this.session = applyEvent(this.session, record);
      this.#lastTime = record.ts;
    } catch (error) {
      if (error instanceof MaestroError) return error.message;
      throw error;
    }
    if (this.listeners.size > 0) for (const listener of this.listeners) listener(record, this.session);
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

  /** Another process has archived the session: reads the rest of our file from the archive, so that listeners get its last records. */
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

function replaced(directory: Directory): MaestroError {
  const file = shownPath(directory, JOURNAL_FILE);
  return new MaestroError("environment", `The journal was replaced or rewritten by another process: ${file}`, {
    hint: 'The engine stops and records nothing more. Inspect the file, then run "maestro doctor" and "maestro resume".',
  });
}

function vanished(directory: Directory): MaestroError {
  return new MaestroError("environment", `The journal has disappeared: ${shownPath(directory, JOURNAL_FILE)}`, {
    hint: "It was moved or deleted while in use. Nothing was written.",
  });
}

// One line of the journal: {"v":1,"seq":n,"ts":"...","type":"...",...,"crc":"xxxxxxxx"}. Encoding, decoding, nothing else.
// The checksum covers the bytes before `,"crc"`: a line that passes is a line we wrote.

import type { SessionEvent } from "../session/events.ts";
import { crc32, hex } from "./crc32.ts";

export const JOURNAL_VERSION = 1;

/** `more`: the change has more records; it counts only when the last one of them is there. */
export type JournalRecord = {
  v: typeof JOURNAL_VERSION;
  seq: number;
  ts: string;
  more?: true;
  crc: string;
} & SessionEvent;

const NEWLINE = 0x0a;
/** The typed array's own: a buffer's looks at its arguments first. */
const { indexOf } = Uint8Array.prototype;
const crcField = Buffer.from(',"crc":"');
/** `,"crc":"` + eight digits + `"}` */
const CRC_LENGTH = crcField.length + 10;

export function encodeRecord(seq: number, ts: string, event: SessionEvent, more = false): Buffer {
  const { type, ...body } = event;
  const envelope = { v: JOURNAL_VERSION, seq, ts, ...(more ? { more } : {}) };
  const head = Buffer.from(JSON.stringify({ ...envelope, type, ...body }).slice(0, -1));
  return Buffer.concat([head, Buffer.from(`,"crc":"${hex(crc32(head))}"}\n`)]);
}

export interface Decoded {
  /** Offset just after the last good record (and its newline, if there is one). */
  end: number;
  /** Where the next decoding starts. */
  position: ReadPosition;
  /** True when the last good record lacks its newline. */
  open: boolean;
  /** What stands after `end`: the remains of an interrupted write, or somebody's garbage. */
  tail: { kind: "none" } | { kind: "torn" | "garbage"; line: number };
}

export interface JournalFault {
  line: number;
  reason: string;
}

/** Where decoding starts: after record `seq`, whose checksum is `crc`, at line `line` of the file. */
export interface ReadPosition {
  seq: number;
  crc: string;
  line: number;
}

export const journalStart: ReadPosition = { seq: 0, crc: "", line: 0 };

/**
 * Decodes what follows `start` and hands over record by record: a long journal is never held as a whole. `take` may answer why a
 * record cannot be used. Only the end may be bad (a torn line, an incomplete change); anything else stops the reader, which names the line.
 */
export function decodeRecords(
  bytes: Buffer,
  start: ReadPosition,
  take: (record: JournalRecord) => string | undefined,
): Decoded | { fault: JournalFault } {
  let { seq, crc, line } = start;
  // All that is complete; plain variables, because this runs for every line of a journal in a process that has just started.
  let end = 0;
  let goodSeq = seq;
  let goodCrc = crc;
  let goodLine = line;
  let open = false;
  let pending: JournalRecord[] = [];
  const decoded = (tail: Decoded["tail"]): Decoded => ({
    end,
    position: { seq: goodSeq, crc: goodCrc, line: goodLine },
    open,
    tail,
  });
  for (let offset = 0, next = 0; offset < bytes.length; offset = next) {
    line += 1;
    const newline = indexOf.call(bytes, NEWLINE, offset);
    const stop = newline === -1 ? bytes.length : newline;
    next = newline === -1 ? bytes.length : newline + 1;
    if (isBlank(bytes, offset, stop)) {
      if (newline === -1) return decoded({ kind: "torn", line });
    } else {
      const record = decodeLine(bytes, offset, stop);
      if (typeof record === "string") {
        if (!isBlank(bytes, next, bytes.length)) return { fault: { line, reason: record } };
        return decoded({ kind: newline === -1 ? "torn" : "garbage", line });
      }
      const reason = misplaced(record, seq, crc);
      if (reason !== undefined) return { fault: { line, reason } };
      const isNew = record.seq !== seq;
      seq = record.seq;
      crc = record.crc;
      if (isNew && (record.more || pending.length > 0)) pending.push(record);
      else if (isNew) {
        const refused = take(record);
        if (refused !== undefined) return { fault: { line, reason: refused } };
      }
    }
    if (pending.length > 0) {
      if (pending[pending.length - 1]?.more) continue;
      const refused = pending.map(take).find((answer) => answer !== undefined);
      if (refused !== undefined) return { fault: { line, reason: refused } };
      pending = [];
    }
    end = next;
    goodSeq = seq;
    goodCrc = crc;
    goodLine = line;
    open = newline === -1;
  }
  return decoded(pending.length === 0 ? { kind: "none" } : { kind: "torn", line });
}

/** Why a record may not stand behind record `seq` with checksum `crc`. */
function misplaced(record: JournalRecord, seq: number, crc: string): string | undefined {
  if (record.v !== JOURNAL_VERSION) return `format version ${record.v} is newer than this Maestro understands`;
  const repeated = record.seq === seq && record.crc === crc;
  return repeated || record.seq === seq + 1 ? undefined : `record ${record.seq} follows record ${seq}`;
}

/** The record, or why it is none. */
function decodeLine(bytes: Buffer, start: number, end: number): JournalRecord | string {
  const bodyEnd = end - CRC_LENGTH;
  if (bodyEnd <= start || !hasCrcField(bytes, bodyEnd)) return "no checksum";
  if (crc32(bytes, start, bodyEnd) !== hexAt(bytes, end - 10)) return "checksum does not match";
  try {
    return JSON.parse(bytes.toString("utf8", start, end));
  } catch (error) {
    return `not JSON: ${(error as Error).message}`;
  }
}

function hasCrcField(bytes: Buffer, at: number): boolean {
  for (let i = 0; i < crcField.length; i++) if (bytes[at + i] !== crcField[i]) return false;
  return true;
}

/** The eight lower-case hexadecimal digits at `at`; NaN when they are none. */
function hexAt(bytes: Buffer, at: number): number {
  let value = 0;
  for (let i = at; i < at + 8; i++) {
    const byte = bytes[i] as number;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : Number.NaN;
    value = value * 16 + digit;
  }
  return value;
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== NEWLINE) return false;
  }
  return true;
}

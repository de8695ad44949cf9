// One line of the journal: {"v":1,"seq":n,"ts":"...","type":"...",...,"crc":"xxxxxxxx"}. Only encodes and decodes.
// Each checksum continues the previous record's: the last one covers all lines, so one call verifies many of them.

import { crc32, hex } from "../../disk/crc32.ts";
import { recordFault, type SessionEvent } from "../../session/events.ts";

export const JOURNAL_VERSION = 1;

/** `more`: the change has more records; it counts only when its last record is present. */
export type JournalRecord = {
  v: typeof JOURNAL_VERSION;
  seq: number;
  ts: string;
  more?: true;
  crc: string;
} & SessionEvent;

/** The record that the next one follows. */
interface LastRecord {
  seq: number;
  crc: string;
}

/** Where decoding starts: after the record at line `line` of the file. */
export interface ReadPosition extends LastRecord {
  /** The checksum of the record before that one: needed to recognize a repetition of the last record. */
  before: string;
  line: number;
  /** True when the record lacks its newline. */
  open: boolean;
}

export interface Decoded {
  /** Offset just after the last good record (and its newline, if there is one). */
  end: number;
  /** Where the next decoding starts. */
  position: ReadPosition;
  /** What follows `end`: an interrupted write (torn), or a line that Maestro did not write (garbage). */
  tail: { kind: "none" } | { kind: "torn" | "garbage"; line: number };
}

export interface JournalFault {
  line: number;
  reason: string;
}

type Outcome = Decoded | { fault: JournalFault };
type Take = (record: JournalRecord) => string | undefined;

export const journalStart: ReadPosition = { seq: 0, crc: "", before: "", line: 0, open: false };

const NEWLINE = 0x0a;
/** Verified and parsed at once: large enough to need few calls, small enough to limit the records held in memory. */
const CHUNK_BYTES = 32 * 1024;
const closing = (crc: string) => `,"crc":"${crc}"}\n`;
const closingForm = /^,"crc":"[0-9a-f]{8}"}\n$/;
const CLOSING_LENGTH = closing("00000000").length;

/** The lines of one change that follows `last`, and the last record of that change. */
export function encodeChange(
  last: LastRecord,
  ts: string,
  events: readonly SessionEvent[],
): LastRecord & { bytes: Buffer } {
  let { seq, crc } = last;
  const pieces = events.flatMap(({ type, ...body }, index) => {
    seq += 1;
    const envelope = { v: JOURNAL_VERSION, seq, ts, ...(index < events.length - 1 ? { more: true } : {}) };
    const head = Buffer.from(JSON.stringify({ ...envelope, type, ...body }).slice(0, -1));
    crc = checksum(crc, head, 0, head.length);
    return [head, Buffer.from(closing(crc))];
  });
  return { seq, crc, bytes: Buffer.concat(pieces) };
}

/**
 * Decodes what follows `start` record by record, so that a long journal is never held in memory as a whole. `take` may return why a
 * record cannot be used. Without `verify` complete lines are trusted, because checksums cost a hook more than everything else. Only the
 * end may be bad (a torn line, an incomplete change); any other fault stops decoding and names the line.
 */
export function decodeRecords(bytes: Buffer, start: ReadPosition, take: Take, verify = true): Outcome {
  let decoded: Decoded = { end: 0, position: start, tail: { kind: "none" } };
  if (start.open && bytes[0] === NEWLINE) decoded = { ...decoded, end: 1, position: { ...start, open: false } };
  while (decoded.tail.kind === "none" && decoded.end < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, decoded.end + CHUNK_BYTES);
    const stop = (newline === -1 ? bytes.lastIndexOf(NEWLINE) : newline) + 1;
    const next: Outcome = decodeChunk(bytes, decoded, stop, take, verify) ?? decodeLines(bytes, decoded, stop, take);
    if ("fault" in next) return next;
    decoded = next;
  }
  return decoded;
}

/** The complete changes before `stop`, when every line there is a valid record; otherwise undefined, and no record was delivered. */
function decodeChunk(
  bytes: Buffer,
  { end, position }: Decoded,
  stop: number,
  take: Take,
  verify: boolean,
): Outcome | undefined {
  const headEnd = stop - CLOSING_LENGTH;
  if (headEnd <= end) return undefined;
  if (verify) {
    const crc = checksum(position.crc, bytes, end, headEnd);
    if (bytes.toString("latin1", headEnd, stop) !== closing(crc)) return undefined;
  }
  const records = parse<JournalRecord[]>(`[${bytes.toString("utf8", end, stop - 1).replaceAll("\n", ",")}]`);
  if (records === undefined) return undefined;
  let goodEnd = stop;
  while (records.at(-1)?.more) {
    records.pop();
    goodEnd = bytes.lastIndexOf(NEWLINE, goodEnd - 2) + 1;
  }
  const last = records.at(-1);
  if (last === undefined) return undefined;
  const fault = takeAll(records, position, take);
  if (fault !== undefined) return { fault };
  const before = records.at(-2)?.crc ?? position.crc;
  const line = position.line + records.length;
  return {
    end: goodEnd,
    position: { seq: last.seq, crc: last.crc, before, line, open: false },
    tail: { kind: "none" },
  };
}

/** Separate from the loop over the chunks and in two loops, so that little code is compiled together. */
function takeAll(records: readonly JournalRecord[], { seq, line }: ReadPosition, take: Take): JournalFault | undefined {
  const bad = firstBad(records, seq);
  const end = bad?.at ?? records.length;
  for (let at = 0; at < end; at++) {
    const reason = take(records[at] as JournalRecord);
    if (reason !== undefined) return { line: line + at + 1, reason };
  }
  return bad && { line: line + bad.at + 1, reason: bad.reason };
}

function firstBad(records: readonly JournalRecord[], last: number): { at: number; reason: string } | undefined {
  for (let at = 0; at < records.length; at++) {
    const record = records[at] as JournalRecord;
    const reason = whyMisplaced(record, last + at) ?? recordFault(record);
    if (reason !== undefined) return { at, reason };
  }
  return undefined;
}

/** Decodes line by line up to `stop` and to the end of the change there: skips blank and repeated lines, and names a faulty line. */
function decodeLines(bytes: Buffer, from: Decoded, stop: number, take: Take): Outcome {
  let good = from;
  let { seq, crc, before, line } = from.position;
  let pending: { record: JournalRecord; at: number }[] = [];
  let next = from.end;
  do {
    line += 1;
    const newline = bytes.indexOf(NEWLINE, next);
    const text = bytes.subarray(next, newline === -1 ? bytes.length : newline);
    next = newline === -1 ? bytes.length : newline + 1;
    if (!isBlank(text)) {
      const found = decodeLine(text, { seq, crc, before });
      if ("damage" in found && isBlank(bytes.subarray(next))) {
        return { ...good, tail: { kind: newline === -1 ? "torn" : "garbage", line } };
      }
      if ("damage" in found) return { fault: { line, reason: found.damage } };
      if ("misplaced" in found) return { fault: { line, reason: found.misplaced } };
      if ("record" in found) {
        pending.push({ record: found.record, at: line });
        before = crc;
        ({ seq, crc } = found.record);
      }
    } else if (newline === -1) return { ...good, tail: { kind: "torn", line } };
    if (pending.at(-1)?.record.more) continue;
    for (const { record, at } of pending) {
      const reason = recordFault(record) ?? take(record);
      if (reason !== undefined) return { fault: { line: at, reason } };
    }
    pending = [];
    good = { end: next, position: { seq, crc, before, line, open: newline === -1 }, tail: { kind: "none" } };
  } while (next < bytes.length && (next < stop || pending.length > 0));
  return pending.length === 0 ? good : { ...good, tail: { kind: "torn", line } };
}

type Line = { record: JournalRecord } | { repeated: true } | { damage: string } | { misplaced: string };

/** Classifies one line, given without its newline, that follows the record `last`. */
function decodeLine(bytes: Buffer, last: LastRecord & { before: string }): Line {
  const headEnd = bytes.length + 1 - CLOSING_LENGTH;
  const found = `${bytes.toString("latin1", Math.max(0, headEnd))}\n`;
  if (headEnd <= 0 || !closingForm.test(found)) return { damage: "no checksum" };
  const isAfter = (crc: string) => found === closing(checksum(crc, bytes, 0, headEnd));
  if (found === closing(last.crc) && isAfter(last.before)) return { repeated: true };
  const isSound = isAfter(last.crc);
  const record = parse<JournalRecord>(bytes.toString());
  if (record === undefined) return { damage: isSound ? "not JSON" : "checksum does not match" };
  const misplaced = whyMisplaced(record, last.seq);
  // After a lost line, or with another format's checksums, this line itself is not damaged.
  const isRecord = isSound || (Number.isInteger(record.v) && Number.isInteger(record.seq));
  if (misplaced !== undefined && isRecord) return { misplaced };
  return isSound ? { record } : { damage: "checksum does not match" };
}

/** Why a record may not follow record `last`. */
function whyMisplaced(record: JournalRecord, last: number): string | undefined {
  // A line that another program wrote may have any JSON value between valid checksums.
  const { v, seq } = record ?? {};
  if (!Number.isSafeInteger(v) || !Number.isSafeInteger(seq)) return "not a record of a journal";
  if (v !== JOURNAL_VERSION) return `format version ${v} is newer than this Maestro understands`;
  return seq === last + 1 ? undefined : `record ${seq} follows record ${last}`;
}

/** The checksum of `bytes[start, end)` after a record with checksum `crc`, which covers everything up to that record's closing. */
function checksum(crc: string, bytes: Buffer, start: number, end: number): string {
  const seed = crc === "" ? 0 : crc32(Buffer.from(closing(crc)), 0, CLOSING_LENGTH, Number.parseInt(crc, 16));
  return hex(crc32(bytes, start, end, seed));
}

/** Undefined when the text is not JSON. */
function parse<Shape>(text: string): Shape | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === NEWLINE);
}

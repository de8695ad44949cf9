// Judges, change by change, what other processes append to the journal while an engine runs the session: which changes are accepted
// as they are, which must be recorded again, and which are rejected.

import type { SessionEvent } from "../../session/events.ts";
import { applyEvent } from "../../session/fold.ts";
import type { Session } from "../../session/session.ts";
import type { JudgeChange } from "../driven.ts";
import { decodeRecords, type JournalRecord, type ReadPosition } from "./record.ts";

/** Tolerance for clocks that differ: timestamps never decrease, so a record from the far future would date every later record. */
const MAX_AHEAD_MS = 60_000;

export interface ForeignJudge {
  judge: JudgeChange;
  now: () => Date;
  warn: (message: string) => void;
}

export type NextChange =
  /** `end`: the offset after the change. Blank lines and repeated records are changes without records. */
  | { kind: "change"; end: number; records: JournalRecord[]; position: ReadPosition }
  /** Another process may still be writing it. */
  | { kind: "torn"; line: number }
  | { kind: "unreadable"; line: number; reason: string };

/** The first change in `bytes`, which continue the journal at `start`. */
export function nextChange(bytes: Buffer, start: ReadPosition): NextChange {
  const piece = bytes.subarray(0, changeEnd(bytes));
  const records: JournalRecord[] = [];
  const decoded = decodeRecords(piece, start, (record) => void records.push(record));
  if ("fault" in decoded) return { kind: "unreadable", ...decoded.fault };
  if (decoded.tail.kind === "torn") return { kind: "torn", line: decoded.tail.line };
  if (decoded.tail.kind === "garbage") {
    return { kind: "unreadable", line: decoded.tail.line, reason: "not a valid record" };
  }
  return { kind: "change", end: decoded.end, records, position: decoded.position };
}

/** The offset after the first line without `more`. */
function changeEnd(bytes: Buffer): number {
  let start = 0;
  for (;;) {
    const newline = bytes.indexOf(0x0a, start);
    if (newline === -1) return bytes.length;
    if (!announcesMore(bytes.toString("utf8", start, newline))) return newline + 1;
    start = newline + 1;
  }
}

function announcesMore(line: string): boolean {
  try {
    const record: unknown = JSON.parse(line);
    return typeof record === "object" && record !== null && "more" in record && record.more === true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The events of a change that may be recorded; `asIs`: the journal already has exactly these. */
export type ChangeVerdict = { events: readonly SessionEvent[]; asIs: boolean } | { refused: string };

export function judgeChange(
  session: Session | undefined,
  records: readonly JournalRecord[],
  lastTime: string,
  { judge, now }: ForeignJudge,
): ChangeVerdict {
  const given = records.map(({ v, seq, ts, crc, more, ...event }) => event as SessionEvent);
  if (given.length === 0) return { events: given, asIs: true };
  const verdict = judge(session, given);
  if ("refused" in verdict) return verdict;
  const latest = new Date(now().getTime() + MAX_AHEAD_MS).toISOString();
  const isTimely = records.every(({ ts }) => ts >= lastTime && ts <= latest);
  return { events: verdict.events, asIs: verdict.events === given && isTimely };
}

export interface RefusedRecord {
  /** Null for a line that is not a record. */
  seq: number | null;
  reason: string;
}

export interface SortedTail {
  /** Changes to record again, each as its own change. */
  kept: (readonly SessionEvent[])[];
  refused: RefusedRecord[];
}

/** Sorts a tail that contains a rejected change. `scratch`: a copy of the session at the start of the tail; it is modified. */
export function sortTail(
  tail: Buffer,
  start: ReadPosition,
  scratch: Session | undefined,
  lastTime: string,
  judge: ForeignJudge,
): SortedTail {
  const sorted: SortedTail = { kept: [], refused: [] };
  let session = scratch;
  let position = start;
  for (let rest = tail; rest.length > 0; ) {
    const next = nextChange(rest, position);
    if (next.kind !== "change") {
      // No well-behaved process appends after an unreadable line, so the rest is rejected too.
      const reason = next.kind === "torn" ? "an unfinished record" : `line ${next.line}: ${next.reason}`;
      sorted.refused.push({ seq: null, reason });
      return sorted;
    }
    const verdict = judgeChange(session, next.records, lastTime, judge);
    if ("refused" in verdict) sorted.refused.push({ seq: next.records[0]?.seq ?? null, reason: verdict.refused });
    else if (verdict.events.length > 0) {
      sorted.kept.push(verdict.events);
      for (const event of verdict.events) session = applyEvent(session, { ...event, seq: position.seq, ts: lastTime });
    }
    position = next.position;
    rest = rest.subarray(next.end);
  }
  return sorted;
}

const MAX_REASONS = 5;

/** The warning about quarantined records. */
export function quarantineText({ kept, refused }: SortedTail, copy: string): string {
  const shown = refused
    .slice(0, MAX_REASONS)
    .map(({ seq, reason }) => (seq === null ? reason : `record ${seq}: ${reason}`));
  const more = refused.length > shown.length ? `; and ${refused.length - shown.length} more` : "";
  const what =
    refused.length === 0
      ? "Another process recorded events with wrong timestamps"
      : `Another process wrote records that only the engine may write during a run; rejected: ${shown.join("; ")}${more}`;
  const again =
    kept.length === 0
      ? ""
      : ` ${kept.length} allowed ${kept.length === 1 ? "change was" : "changes were"} recorded again.`;
  return `${what}.${again} The original bytes are in ${copy}`;
}

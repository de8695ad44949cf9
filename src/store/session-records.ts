// The records of a session, active or archived, for readers that show how it went: without the fields that only the journal needs, and with
// secrets redacted once more, because another program may have written them.

import { readRegular } from "../disk/durable.ts";
import { MaestroError } from "../errors.ts";
import type { SessionEvent } from "../session/events.ts";
import type { TimedEvent } from "../session/fold.ts";
import { MAX_JOURNAL_BYTES } from "./journal/journal.ts";
import { JOURNAL_FILE } from "./journal/journal-file.ts";
import { decodeRecords, journalStart } from "./journal/record.ts";
import { redactedEvent } from "./journal/redact-event.ts";
import { inState, type StateLocation } from "./location.ts";

export interface SessionRecords {
  id: string;
  isActive: boolean;
  records: TimedEvent[];
}

/** Undefined when no such session exists. */
export function sessionRecords(
  location: StateLocation,
  id: string,
  redact: (text: string) => string,
): SessionRecords | undefined {
  const active = recordsIn(location, ["state"], JOURNAL_FILE, redact);
  if (active !== undefined && sessionIdOf(active) === id) return { id, isActive: true, records: active };
  const archived = archivedIds(location).includes(id)
    ? recordsIn(location, ["state", "archive"], `${id}.jsonl`, redact)
    : undefined;
  return archived === undefined ? undefined : { id, isActive: false, records: archived };
}

/** Ids of the archived sessions, the latest first. */
export function archivedIds(location: StateLocation): string[] {
  const found = inState(location, ["state", "archive"], (archive) =>
    archive
      .list()
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => ({ id: name.slice(0, -".jsonl".length), time: archive.lstat(name)?.mtimeMs ?? 0 }))
      .sort((one, other) => other.time - one.time)
      .map(({ id }) => id),
  );
  return found ?? [];
}

/** The id that the first record gives to the session. */
function sessionIdOf(records: readonly TimedEvent[]): string | undefined {
  const [first] = records;
  if (first?.type === "session.created") return first.session_id;
  return first?.type === "session.imported" ? first.session.session_id : undefined;
}

/** The record as a reader outside of Maestro gets it. */
export function shownRecord(record: TimedEvent, redact: (text: string) => string): TimedEvent {
  const { v: _, crc: __, more: ___, ...rest } = record as TimedEvent & { v?: number; crc?: string; more?: true };
  return redactedEvent(rest as SessionEvent, redact) as TimedEvent;
}

function recordsIn(
  location: StateLocation,
  folder: string[],
  name: string,
  redact: (text: string) => string,
): TimedEvent[] | undefined {
  const bytes = inState(location, folder, (directory) => readRegular(directory, name, MAX_JOURNAL_BYTES));
  if (bytes === undefined) return undefined;
  const records: TimedEvent[] = [];
  const decoded = decodeRecords(bytes, journalStart, (record) => {
    records.push(shownRecord(record, redact));
    return undefined;
  });
  if ("fault" in decoded) {
    throw new MaestroError("parse_failed", `Line ${decoded.fault.line} of ${name}: ${decoded.fault.reason}`);
  }
  return records;
}

// For `maestro doctor`: every record of the journal as it stands, and taking a broken one out of the way.

import { MaestroError } from "../errors.ts";
import { readRegular, shownPath } from "./durable.ts";
import { JOURNAL_FILE } from "./journal.ts";
import { inState, type StateLocation } from "./location.ts";
import { withLock } from "./lock.ts";
import { decodeRecords, type JournalRecord, journalStart } from "./record.ts";
import { LOCK_FILE } from "./session-store.ts";
import { setAside, VIEW_FILE } from "./view-file.ts";

const MAX_BYTES = 512 * 1024 * 1024;

export function readJournal(location: StateLocation): JournalRecord[] {
  const bytes = inState(location, ["state"], (directory) => readRegular(directory, JOURNAL_FILE, MAX_BYTES));
  if (bytes === undefined) return [];
  const records: JournalRecord[] = [];
  const decoded = decodeRecords(bytes, journalStart, (record) => records.push(record));
  if ("fault" in decoded)
    throw new MaestroError("parse_failed", `Line ${decoded.fault.line} of the journal: ${decoded.fault.reason}`);
  return records;
}

/** Moves the file that cannot be read aside: the journal if there is one (the view then tells the session), else the view. */
export function setJournalAside(location: StateLocation, now: Date): string[] {
  const moved = inState(location, ["state"], (directory) =>
    withLock(directory, LOCK_FILE, () => {
      const broken = directory.lstat(JOURNAL_FILE) === undefined ? VIEW_FILE : JOURNAL_FILE;
      return [`${shownPath(directory, broken)} as ${setAside(directory, broken, "corrupt", now)}`];
    }),
  );
  return moved ?? [];
}

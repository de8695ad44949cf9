// Every record of the journal as it stands, for `maestro doctor`.

import { MaestroError } from "../errors.ts";
import { readRegular } from "./durable.ts";
import { MAX_JOURNAL_BYTES } from "./journal.ts";
import { JOURNAL_FILE } from "./journal-file.ts";
import { inState, type StateLocation } from "./location.ts";
import { decodeRecords, type JournalRecord, journalStart } from "./record.ts";

export function readJournal(location: StateLocation): JournalRecord[] {
  const bytes = inState(location, ["state"], (directory) => readRegular(directory, JOURNAL_FILE, MAX_JOURNAL_BYTES));
  if (bytes === undefined) return [];
  const records: JournalRecord[] = [];
  const decoded = decodeRecords(bytes, journalStart, (record) => void records.push(record));
  if ("fault" in decoded) {
    throw new MaestroError("parse_failed", `Line ${decoded.fault.line} of the journal: ${decoded.fault.reason}`);
  }
  return records;
}

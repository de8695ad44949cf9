// Reads archived sessions back from their journals, for reports and logs.

import { readRegular } from "../disk/durable.ts";
import { MaestroError } from "../errors.ts";
import { applyEvent } from "../session/fold.ts";
import type { Session } from "../session/session.ts";
import { MAX_JOURNAL_BYTES } from "./journal/journal.ts";
import { decodeRecords, journalStart } from "./journal/record.ts";
import { inState, type StateLocation } from "./location.ts";

/** The archived session with that id, or the one archived last; undefined when it does not exist. */
export function readArchived(location: StateLocation, id?: string): Session | undefined {
  return inState(location, ["state", "archive"], (archive) => {
    const journals = archive
      .list()
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => ({ name, time: archive.lstat(name)?.mtimeMs ?? 0 }))
      .sort((a, b) => b.time - a.time);
    const name = id === undefined ? journals[0]?.name : journals.find((one) => one.name === `${id}.jsonl`)?.name;
    if (name === undefined) return undefined;
    return foldJournal(readRegular(archive, name, MAX_JOURNAL_BYTES) ?? Buffer.alloc(0), name);
  });
}

function foldJournal(bytes: Buffer, name: string): Session | undefined {
  let session: Session | undefined;
  const decoded = decodeRecords(bytes, journalStart, (record) => {
    session = applyEvent(session, record);
    return undefined;
  });
  if ("fault" in decoded) {
    throw new MaestroError("parse_failed", `Line ${decoded.fault.line} of ${name}: ${decoded.fault.reason}`);
  }
  return session;
}

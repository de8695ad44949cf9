// The session as the journal has it, for readers that mend nothing and judge nothing: what a hook can afford.

import { MaestroError } from "../errors.ts";
import { apply } from "../session/fold.ts";
import type { Session } from "../session/session.ts";
import type { Directory } from "./contained.ts";
import { faultReason } from "./damage.ts";
import { readRegular } from "./durable.ts";
import { MAX_JOURNAL_BYTES } from "./journal.ts";
import { JOURNAL_FILE } from "./journal-file.ts";
import { inState, type StateLocation } from "./location.ts";
import { decodeRecords, journalStart } from "./record.ts";

export function glance(location: StateLocation): Session | undefined {
  return inState(location, ["state"], glanceIn);
}

/** Undefined when there is none. One that is being put away counts as gone. */
export function glanceIn(state: Directory): Session | undefined {
  const bytes = readRegular(state, JOURNAL_FILE, MAX_JOURNAL_BYTES);
  if (bytes === undefined) return undefined;
  let session: Session | undefined;
  const take = (record: Parameters<typeof apply>[1]) => {
    session = apply(session, record);
    return undefined;
  };
  const decoded = decodeRecords(bytes, journalStart, take, false);
  if ("fault" in decoded) throw new MaestroError("parse_failed", faultReason(state, decoded.fault));
  return session?.archiving ? undefined : session;
}

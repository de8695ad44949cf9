// Reads the session from the journal without repairs, checksums or reviews: fast enough for a hook.

import type { Directory } from "../../disk/contained.ts";
import { readRegular } from "../../disk/durable.ts";
import { MaestroError } from "../../errors.ts";
import { applyEvent } from "../../session/fold.ts";
import type { Session } from "../../session/session.ts";
import { inState, type StateLocation } from "../location.ts";
import { faultReason } from "./damage.ts";
import { JOURNAL_FILE } from "./journal-file.ts";
import { decodeRecords, journalStart } from "./record.ts";

/** Ten times the longest journal measured. The limit exists because a conversation waits for the hook. */
const MAX_GLANCE_BYTES = 64 * 1024 * 1024;

export function glance(location: StateLocation): Session | undefined {
  return inState(location, ["state"], glanceIn);
}

/** Undefined without a session, and while the session is being archived. */
export function glanceIn(state: Directory): Session | undefined {
  const size = state.lstat(JOURNAL_FILE)?.size ?? 0;
  if (size > MAX_GLANCE_BYTES) {
    const reason = `larger than ${MAX_GLANCE_BYTES} bytes, which is too large for a hook`;
    throw new MaestroError("parse_failed", faultReason(state, { line: 0, reason }));
  }
  const bytes = readRegular(state, JOURNAL_FILE, MAX_GLANCE_BYTES);
  if (bytes === undefined) return undefined;
  let session: Session | undefined;
  const take = (record: Parameters<typeof applyEvent>[1]) => {
    session = applyEvent(session, record);
    return undefined;
  };
  const decoded = decodeRecords(bytes, journalStart, take, false);
  if ("fault" in decoded) throw new MaestroError("parse_failed", faultReason(state, decoded.fault));
  return session?.archiving ? undefined : session;
}

// A session's line in the history, without the time.

import { isClosed, type Session } from "../../session/session.ts";
import { isUsageKnown } from "../report/reporting.ts";

export function historyFacts(session: Session): string {
  const { session_id, status, phases, total_phases, token_usage } = session;
  const tokens = isUsageKnown(session) ? `${token_usage.total_input}/${token_usage.total_output}` : "unknown";
  const done = phases.filter(isClosed).length;
  return `${session_id} ${status} phases=${done}/${total_phases} tokens=${tokens}`;
}

// A session's line in the history, without the time.

import { isClosed, type Session } from "../../session/session.ts";

export function historyFacts({ session_id, status, phases, total_phases, token_usage }: Session): string {
  const done = phases.filter(isClosed).length;
  return `${session_id} ${status} phases=${done}/${total_phases} tokens=${token_usage.total_input}/${token_usage.total_output}`;
}

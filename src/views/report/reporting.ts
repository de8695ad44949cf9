// How much of a session's token usage is known. Pure. Unknown is never shown as 0.

import type { Session } from "../../session/session.ts";
import { runningAttempt } from "./times.ts";

export interface Reporting {
  /** Attempts that no longer run; a phase that was done without one counts as one. */
  attempts: number;
  /** How many of them reported no tokens. */
  unreported: number;
}

export function reportingOf(session: Session): Reporting {
  let [attempts, unreported] = [0, 0];
  for (const phase of session.phases) {
    const running = runningAttempt(session, phase);
    const ended = phase.attempts.filter((attempt) => attempt !== running);
    attempts += ended.length;
    unreported += ended.filter((attempt) => !attempt.result?.usage).length;
    const isUnrecorded = phase.attempts.length === 0 && phase.status === "completed";
    if (!isUnrecorded) continue;
    attempts += 1;
    // Usage that was recorded for an agent without an attempt is that of its phases.
    if (!phase.agents.some((agent) => Object.hasOwn(session.token_usage.by_agent, agent))) unreported += 1;
  }
  return { attempts, unreported };
}

/** Whether the totals of the session say something: work was done, and no part of it reported its tokens. */
export function isUsageKnown(session: Session): boolean {
  const { total_input, total_output } = session.token_usage;
  return total_input + total_output > 0 || reportingOf(session).unreported === 0;
}

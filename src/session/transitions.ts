// The table of legal moves (decision C20) for phases and for the session. Every writer checks it before writing.

import type { PhaseStatus, SessionStatus } from "./events.ts";
import { awaitsReview, batchInReview } from "./review/review.ts";
import { findPhase, isClosed, type Session, type SessionPhase } from "./session.ts";

/** "decision": legal only when the user asked for it. */
type Rule = "free" | "decision";

const phaseTransitions: Record<PhaseStatus, Partial<Record<PhaseStatus, Rule>>> = {
  pending: { in_progress: "free", skipped: "decision" },
  in_progress: { completed: "free", failed: "free", skipped: "decision" },
  failed: { in_progress: "free", skipped: "decision", aborted: "decision" },
  completed: {},
  skipped: {},
  aborted: {},
};

const sessionTransitions: Record<SessionStatus, readonly SessionStatus[]> = {
  in_progress: ["completed", "failed", "interrupted"],
  interrupted: ["in_progress", "failed"],
  failed: ["in_progress"],
  completed: [],
};

const archiveHint = "Archive it, then start a new one.";

export interface Move {
  to: PhaseStatus;
  userDecision: boolean;
  maxRetries: number;
  /** Phases to treat as closed; by default, those that are closed in the session. */
  closed?: ReadonlySet<string>;
}

export type MoveVerdict = { legal: true } | { legal: false; reason: string; hint?: string };

/** Judges a phase move; the reason for a refusal names both statuses. */
export function judgeMove(session: Session, phase: SessionPhase, move: Move): MoveVerdict {
  const { status: from } = phase;
  const { to } = move;
  const rule = phaseTransitions[from][to];
  const what = `Cannot move phase ${phase.id} from ${from} to ${to}`;
  if (session.archiving !== null) return refuse(`${what}: session ${session.session_id} is being archived`);
  if (session.status === "completed") return refuse(`${what}: session ${session.session_id} is completed`);
  if (session.aborted) return refuse(`${what}: session ${session.session_id} was aborted`, archiveHint);
  if (rule === undefined) return refuse(`${what}: ${legalFrom(from)}`);
  if (rule === "decision" && !move.userDecision) {
    return refuse(`${what}: only the user may decide this`, "Pass --user-decision when the user has asked for it.");
  }
  // Its work is not in the project: completing it would end the review without an answer, and lose the work.
  if (to === "completed" && awaitsReview(session, phase)) {
    return refuse(
      `${what}: its work waits for the user's review`,
      `Run "maestro approve ${phase.id}" or "maestro reject ${phase.id}".`,
    );
  }
  if (to !== "in_progress") return { legal: true };
  const batch = from === "pending" ? batchInReview(session) : null;
  if (batch !== null) return refuse(`${what}: it waits for the review of ${batch}`, `Run "maestro approve ${batch}".`);
  const isDone = (id: string) => move.closed?.has(id) ?? isClosed(findPhase(session, id) ?? { status: "missing" });
  const waiting = phase.blocked_by.filter((id) => !isDone(id));
  if (waiting.length > 0) {
    return refuse(`${what}: it waits for ${waiting.length === 1 ? "phase" : "phases"} ${waiting.join(", ")}`);
  }
  if (from === "failed" && phase.retry_count >= move.maxRetries && !move.userDecision) {
    return refuse(
      `${what}: its retries are used up (${phase.retry_count} of ${move.maxRetries})`,
      "Pass --user-decision when the user has asked for another attempt.",
    );
  }
  return { legal: true };
}

/** Judges a change of the session's status. `closed`: phases to treat as closed; by default, those that are closed in the session. */
export function judgeStatus(session: Session, to: SessionStatus, closed?: ReadonlySet<string>): MoveVerdict {
  const what = `Cannot change session ${session.session_id} from ${session.status} to ${to}`;
  if (session.aborted) return refuse(`${what}: it was aborted`, archiveHint);
  if (!sessionTransitions[session.status].includes(to)) return refuse(`${what}: that is not a legal change`);
  if (to !== "completed") return { legal: true };
  const open = session.phases.filter((phase) => !(closed?.has(phase.id) ?? isClosed(phase)));
  if (open.length === 0) return { legal: true };
  const shown = open.slice(0, 5).map((phase) => `${phase.id} (${phase.status})`);
  return refuse(
    `${what}: ${open.length} ${open.length === 1 ? "phase is" : "phases are"} open: ${shown.join(", ")}${open.length > 5 ? ", ..." : ""}`,
  );
}

function legalFrom(from: PhaseStatus): string {
  const targets = Object.keys(phaseTransitions[from]);
  return targets.length === 0 ? `${from} is final` : `from ${from} it can go to ${targets.join(", ")}`;
}

function refuse(reason: string, hint?: string): MoveVerdict {
  return hint === undefined ? { legal: false, reason } : { legal: false, reason, hint };
}

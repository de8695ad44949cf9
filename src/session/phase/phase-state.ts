// What a phase is doing now, in one word. Every view uses this function, so that no two of them disagree. Pure.

import { awaitsReview, batchInReview } from "../review/review.ts";
import { isDelegated } from "../seen.ts";
import {
  awaitsIntegration,
  awaitsValidation,
  findPhase,
  isClosed,
  type Session,
  type SessionPhase,
} from "../session.ts";

export type PhaseState =
  /** It waits for other phases. */
  | "waiting"
  | "ready"
  /** It could start, but the user has to review a batch first. */
  | "held"
  /** The session was aborted before it started. */
  | "not_started"
  /** An engine or a conversation works on it. */
  | "running"
  /** Its agent has reported success, and nothing runs its validation commands. */
  | "to_verify"
  /** Its work waits for the user before it is applied to the project. */
  | "in_review"
  /** Its work is in a worktree, and no process is integrating it. */
  | "to_integrate"
  /** The user decided to retry it, and nothing has started it again. */
  | "to_retry"
  /** An agent worked on it, and none does now. */
  | "interrupted"
  /** The user has to decide. */
  | "failed"
  | "completed"
  | "skipped"
  | "aborted";

/** `isDriven`: whether an engine is running the session. */
export function phaseState(session: Session, phase: SessionPhase, isDriven: boolean): PhaseState {
  switch (phase.status) {
    case "pending":
      if (session.aborted) return "not_started";
      if (waitsFor(session, phase).length > 0) return "waiting";
      return batchInReview(session) === null ? "ready" : "held";
    case "in_progress":
      if (awaitsReview(session, phase)) return "in_review";
      return isDriven || isDelegated(phase) ? "running" : idleState(phase);
    default:
      return phase.status;
  }
}

/** Of a phase in progress that neither an engine nor a conversation works on. */
function idleState(phase: SessionPhase): PhaseState {
  if (awaitsIntegration(phase)) return "to_integrate";
  if (awaitsValidation(phase)) return "to_verify";
  // In journals of earlier versions a native delegation is not an attempt, so its agent may be running.
  if (phase.attempts.length === 0) return "running";
  return phase.attempts.length > (phase.attempts_at_start ?? 0) ? "interrupted" : "to_retry";
}

/** The phases that it waits for. */
export function waitsFor(session: Session, phase: SessionPhase): string[] {
  return phase.blocked_by.filter((id) => !isClosed(findPhase(session, id) ?? { status: "missing" }));
}

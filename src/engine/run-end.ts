// How a run can end, and the events that record it. Pure.

import type { signalCodes } from "../exit-codes.ts";
import { budgetSpent } from "../session/decide/facts.ts";
import { decideCompletion, decideStatus } from "../session/decide/operation.ts";
import type { EventOf, SessionEvent } from "../session/events.ts";
import { unmetRequirements } from "../session/requirements.ts";
import type { Session } from "../session/session.ts";

export type StopSignal = keyof typeof signalCodes;

export type EngineEnd =
  | { kind: "completed" }
  /** All phases are done, but requirements of the design are not met: the session stays open. */
  | { kind: "unanswered" }
  /** All phases are done, and the session is left open for a final review. */
  | { kind: "done" }
  /** The requested phases are done; other phases remain. */
  | { kind: "chosen" }
  /** Phases failed and the user has to decide. */
  | { kind: "failed"; phases: string[] }
  /** The user has to review a batch or a phase. */
  | { kind: "review" }
  | { kind: "interrupted"; signal: StopSignal }
  /** The budget does not suffice for the next attempt: the user has to raise it. */
  | { kind: "budget"; spent: Omit<EventOf<"session.budget_spent">, "type"> }
  /** The provider rejected requests for longer than the quota wait limit. */
  | { kind: "quota" }
  | { kind: "aborted" };

/** How a run ends whose phases are all done. */
export function doneKind(session: Session, leaveOpen: boolean | undefined): "completed" | "unanswered" | "done" {
  if (session.status === "completed") return "completed";
  if (leaveOpen) return "done";
  return unmetRequirements(session).length > 0 ? "unanswered" : "completed";
}

/** A session that waits for a review is interrupted: no engine reads the answer until it is resumed. */
export function endEvents(session: Session, end: EngineEnd): SessionEvent[] {
  if (end.kind === "completed") return decideCompletion(session);
  if (["aborted", "chosen", "unanswered", "done"].includes(end.kind)) return [];
  const status = decideStatus(session, end.kind === "failed" ? "failed" : "interrupted");
  return end.kind === "budget" ? [budgetSpent(end.spent), ...status] : status;
}

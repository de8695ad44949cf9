// Judges an attempt from its outcome and hand-off (P9), and decides the next step. Pure. An agent's claim of success is never enough; its
// claim of failure always is.

import type { Handoff } from "../../handoff/handoff.ts";
import type { Outcome } from "../../runtimes/runtime.ts";
import { OVER_BUDGET } from "../../session/budget/reserve.ts";
import { type AttemptVerdict, judgeHandoff, type Shortfall } from "../../session/decide/judge-handoff.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import { judgeMove } from "../../session/transitions.ts";

/** `handoff`: parsed from the outcome's text; null when the text is empty. */
export function judgeAttempt(
  outcome: Outcome,
  handoff: Handoff | null,
  { hasDependents }: { hasDependents: boolean },
): AttemptVerdict {
  return outcome.kind === "success" ? judgeHandoff(handoff, hasDependents) : shortfallOf(outcome.kind, outcome);
}

/** The reason of an attempt that only workers with another key could take: it was not run, and another one would not be either. */
export const OTHER_WORKER_KEY = "other_worker_key";

type NextStep =
  /** Start another attempt at once; it counts as a retry. */
  | "retry"
  /** The user decides. */
  | "escalate"
  /** The phase stays in progress and is launched again later; no retry is counted. */
  | "wait";

export function stepAfter(session: Session, phase: SessionPhase, verdict: Shortfall, maxRetries: number): NextStep {
  if (verdict.kind === "quota" || verdict.kind === "interrupted") return "wait";
  // Another attempt would overwrite another author's changes, or be rejected again for missing credentials or a missing program.
  if (verdict.errorType === "file_conflict" || verdict.errorType === "auth") return "escalate";
  if (verdict.reason === "not_found" || verdict.reason === OTHER_WORKER_KEY) return "escalate";
  // One retry with twice the time; a second timeout is for the user to judge (decision C40).
  const hasTimedOut = phase.attempts.some(({ result }) => result?.outcome === "timeout");
  if (verdict.kind === "timeout" && hasTimedOut) return "escalate";
  // One retry with twice the reservation, unless the plan says how much the phase may use.
  const hasOverspent = phase.attempts.some(({ result }) => result?.reason === OVER_BUDGET);
  if (verdict.reason === OVER_BUDGET && (hasOverspent || phase.plan?.budget !== undefined)) return "escalate";
  const retry = { to: "in_progress" as const, userDecision: false, maxRetries };
  return judgeMove(session, { ...phase, status: "failed" }, retry).legal ? "retry" : "escalate";
}

const defaults: Record<Shortfall["kind"], Pick<Shortfall, "errorType" | "message">> = {
  failure: { errorType: "runtime", message: "The attempt failed without giving a reason" },
  timeout: { errorType: "timeout", message: "The attempt reached its time limit and was stopped" },
  quota: { errorType: "quota", message: "The provider rejected the request: the quota is exhausted" },
  interrupted: { errorType: "runtime", message: "The attempt was interrupted" },
};

function shortfallOf(kind: Shortfall["kind"], { reason, errorType, message }: Outcome): Shortfall {
  const fallback = defaults[kind];
  return {
    kind,
    reason: reason ?? kind,
    errorType: errorType ?? fallback.errorType,
    message: message ?? fallback.message,
  };
}

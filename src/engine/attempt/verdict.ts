// What an attempt comes to once its hand-off is read (P9), and what follows from it. Pure. An agent's word for success is never
// enough, its word for failure always is.

import type { Handoff } from "../../handoff/handoff.ts";
import type { Outcome } from "../../runtimes/runtime.ts";
import { type AttemptVerdict, judgeHandoff, type Shortfall } from "../../session/decide/judge-handoff.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import { judgeMove } from "../../session/transitions.ts";

/** `handoff`: what was read from the outcome's text; null when there was nothing to read. */
export function judgeAttempt(
  outcome: Outcome,
  handoff: Handoff | null,
  { hasDependents }: { hasDependents: boolean },
): AttemptVerdict {
  return outcome.kind === "success" ? judgeHandoff(handoff, hasDependents) : shortOf(outcome.kind, outcome);
}

type NextStep =
  /** Another attempt at once; it is counted. */
  | "retry"
  /** A person decides. */
  | "escalate"
  /** The phase stays in progress and is launched again when it may be; nothing is counted. */
  | "wait";

export function stepAfter(session: Session, phase: SessionPhase, verdict: Shortfall, maxRetries: number): NextStep {
  if (verdict.kind === "quota" || verdict.kind === "interrupted") return "wait";
  // Another attempt would overwrite what somebody else wrote, or be refused again.
  if (verdict.errorType === "file_conflict" || verdict.errorType === "auth") return "escalate";
  const retry = { to: "in_progress" as const, userDecision: false, maxRetries };
  return judgeMove(session, { ...phase, status: "failed" }, retry).legal ? "retry" : "escalate";
}

const defaults: Record<Shortfall["kind"], Pick<Shortfall, "errorType" | "message">> = {
  failure: { errorType: "runtime", message: "The attempt failed and did not say why" },
  timeout: { errorType: "timeout", message: "The attempt reached its time limit and was stopped" },
  quota: { errorType: "quota", message: "The provider refused for now: the quota is used up" },
  interrupted: { errorType: "runtime", message: "The attempt was interrupted" },
};

function shortOf(kind: Shortfall["kind"], { reason, errorType, message }: Outcome): Shortfall {
  const fallback = defaults[kind];
  return {
    kind,
    reason: reason ?? kind,
    errorType: errorType ?? fallback.errorType,
    message: message ?? fallback.message,
  };
}

// Builds events that state a fact and need no judgement: where an attempt works, what it changed, what the provider answered. Pure.

import type { PhaseId } from "../../ids.ts";
import type { BaselineCommand } from "../../plan/baseline.ts";
import type { EventOf, Evidence, SessionEvent } from "../events.ts";
import { type Changes, findPhase, type Session } from "../session.ts";
import type { Warned } from "./attempt.ts";

type Body<Type extends SessionEvent["type"]> = Omit<EventOf<Type>, "type">;

export function attemptPlaced(placed: Body<"attempt.placed">): SessionEvent {
  const { phase, attempt, worktree, base } = placed;
  return { type: "attempt.placed", phase, attempt, worktree, base };
}

/** Null when the attempt has ended, or is this worker's already. The last claim counts: a worker with another key gives an order back. */
export function attemptClaimed(session: Session, claim: Body<"attempt.claimed">): SessionEvent | null {
  const { phase, attempt, worker } = claim;
  const claimed = findPhase(session, phase)?.attempts.findLast((one) => one.attempt === attempt);
  if (claimed?.remote !== true || claimed.result !== null || claimed.worker === worker) return null;
  return { type: "attempt.claimed", phase, attempt, worker };
}

export function attemptChanged(
  { phase, attempt }: { phase: PhaseId; attempt: number },
  changes: Changes,
): SessionEvent {
  return { type: "attempt.changed", phase, attempt, ...changes };
}

export function phaseWarned(phase: PhaseId, warned: Warned): SessionEvent {
  return { type: "phase.warned", phase, ...warned };
}

/** The result of validation commands that ran on the merged work, recorded before that work reaches the project. */
export function phaseValidated(
  phase: PhaseId,
  { result, detail, evidence }: { result: "pass" | "fail" | "skipped"; detail: string; evidence: Evidence },
): SessionEvent {
  return { type: "phase.validated", phase, result, detail, evidence };
}

export function quotaHit(hit: Body<"quota.hit">): EventOf<"quota.hit"> {
  const { phase, wait_ms, until, slots } = hit;
  return { type: "quota.hit", phase, wait_ms, until, slots };
}

export function budgetSet(set: Body<"session.budget_set">): SessionEvent {
  const { budget, before } = set;
  return { type: "session.budget_set", budget, before };
}

export function budgetSpent(spent: Body<"session.budget_spent">): SessionEvent {
  return { type: "session.budget_spent", ...spent };
}

export function tokensUsed(used: Body<"tokens.used">): SessionEvent {
  return { type: "tokens.used", ...used };
}

export function sessionCreated(created: Body<"session.created">): EventOf<"session.created"> {
  return { type: "session.created", ...created };
}

export function baselineTaken(baseline: BaselineCommand[]): SessionEvent {
  return { type: "session.baseline_taken", baseline };
}

export function planRevised(revised: Body<"plan.revised">): SessionEvent {
  const { plan, text, superseded, earlier, taken } = revised;
  const inPlace = { ...(earlier === undefined ? {} : { earlier }), ...(taken === undefined ? {} : { taken }) };
  return { type: "plan.revised", plan, text, superseded, ...inPlace };
}

export function archiveStarted(started: Body<"archive.started">): EventOf<"archive.started"> {
  return { type: "archive.started", ...started };
}

// The session as plain data without internals, for `status --json` and the MCP tools.

import { ledgerOf } from "../../session/budget/ledger.ts";
import { type Attempt, isVerified, type Session, type SessionPhase } from "../../session/session.ts";
import { claimOf } from "../claim.ts";
import { isUsageKnown } from "../report/reporting.ts";

export function sessionJson(session: Session) {
  const { file_hashes: _, index: __, running: ___, archiving: ____, revised: _____, phases, ...rest } = session;
  const { token_usage: used } = session;
  const unknown = { ...used, total_input: null, total_output: null, total_cached: null };
  const errors = phases.flatMap((phase) => phase.errors.map((error) => ({ phase: phase.id, ...error })));
  return {
    ...rest,
    baseline: session.baseline.map(({ command, result, exit_code }) => ({ command, result, exit_code })),
    /** Null when attempts ran and none reported tokens. */
    token_usage: isUsageKnown(session) ? used : unknown,
    /** Cap, spent, reserved and left; null without a budget. */
    budget: ledgerOf(session),
    phases: phases.map(phaseJson),
    errors,
  };
}

function phaseJson(phase: SessionPhase) {
  const { plan: _, hashes_at_start: __, handoff, attempts, ...rest } = phase;
  // Marks a completion that has no report behind it as unverified.
  const verified = phase.status === "completed" ? isVerified(phase) : undefined;
  const claim = claimOf(phase);
  return {
    ...rest,
    attempts: attempts.map(attemptJson),
    ...(handoff === undefined ? {} : { handoff: { status: handoff.status, missing: handoff.missing } }),
    ...(claim === undefined ? {} : { claim }),
    ...(verified === undefined ? {} : { verified }),
  };
}

/** Leaves out the journal positions. */
function attemptJson({ placed, integrated, ...rest }: Attempt) {
  return {
    ...rest,
    ...(placed === undefined ? {} : { placed: { worktree: placed.worktree, base: placed.base } }),
    ...(integrated === undefined ? {} : { integrated: { from: integrated.from, to: integrated.to } }),
  };
}

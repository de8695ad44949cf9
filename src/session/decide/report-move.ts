// Applies an agent's report to the move of its phase: what is recorded with the move, and when the report forbids it. Pure.

import { MaestroError } from "../../errors.ts";
import { type HandoffCheck, readHandoff } from "../../handoff/handoff.ts";
import type { PhaseStatus } from "../events.ts";
import { type Recording, type ReportedWork, reportedWork } from "./evidence.ts";
import type { MoveRequest } from "./operation.ts";

/** An agent's report and its token usage, recorded before the phase moves. */
export interface ReportEvidence extends ReportedWork {
  tokens: { input: number; output: number; cached: number } | null;
}

export interface Reported {
  to: PhaseStatus;
  reason: string | undefined;
  /** The report as the agent wrote it, if any. */
  report: string | Uint8Array | undefined;
  /** Whether other phases depend on this one and need its Downstream Context. */
  dependents: boolean;
}

/** The parts of a move that come from the report. Throws if a phase is to be completed and its report does not say success. */
export function moveByReport(
  { to, reason, report, dependents }: Reported,
  recording: Recording,
): Pick<MoveRequest, "failure"> & { evidence: ReportEvidence | undefined } {
  if (report === undefined) return { evidence: undefined, failure: failureOf(to, reason, undefined) };
  if (to !== "completed" && to !== "failed") {
    throw new MaestroError("usage", `A hand-off needs completed or failed, not ${to}`);
  }
  const handoff = readHandoff(report, { dependents });
  if (to === "completed") requireSuccess(handoff.check);
  return {
    evidence: { ...reportedWork(recording, handoff), tokens: handoff.check.tokens },
    failure: failureOf(to, reason, handoff.check),
  };
}

function requireSuccess(check: HandoffCheck): void {
  if (check.valid && check.status === "success") return;
  const why = check.missing.length > 0 ? `it lacks ${check.missing.join(", ")}` : `it says ${said(check)}`;
  throw new MaestroError("illegal_transition", `The hand-off does not show a completed phase: ${why}`, {
    hint: 'Run "maestro handoff check" on it.',
  });
}

/** The error to record for a phase that fails. */
function failureOf(to: PhaseStatus, reason: string | undefined, check: HandoffCheck | undefined) {
  if (to !== "failed" || (reason === undefined && check === undefined)) return undefined;
  const message = reason ?? `The agent reported: ${check === undefined ? "nothing" : said(check)}`;
  return { type: check?.error_type ?? ("runtime" as const), message };
}

function said(check: HandoffCheck): string {
  return check.error_type ?? check.parse_error ?? check.status ?? "nothing about its status";
}

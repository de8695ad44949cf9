// The end of an attempt: its files become an outcome, the outcome becomes events, and the rest of the run is told what follows.

import { constants } from "node:os";
import { MaestroError, TIMEOUT_CODE } from "../errors.ts";
import { requirePhase, requireSession } from "../session/decide.ts";
import {
  type AttemptEnd,
  claimedTwice,
  decideEnd,
  decideValidated,
  type FileConflict,
} from "../session/decide-attempt.ts";
import { reportedWork } from "../session/evidence.ts";
import type { Shortfall, Verdict } from "../session/judge-handoff.ts";
import { hasDependents, lastAttempt, type Session } from "../session/session.ts";
import type { Update } from "../store/session-store.ts";
import { type Judged, judgeFiles, rulesOf, type StartedAttempt } from "./attempt.ts";
import type { Exit } from "./supervisor.ts";
import type { ValidationResult } from "./validation.ts";
import { judgeAttempt, nextStep } from "./verdict.ts";
import type { Workshop } from "./workshop.ts";

export type Consequence = { kind: "success" | "none" } | { kind: "quota"; retryAfterMs: number | null };

/** How an attempt ended, from its files; to be recorded. */
export function finishAttempt(workshop: Workshop, attempt: StartedAttempt, exit: Exit): Finished {
  const { phase, name } = attempt;
  // Who was stopped has none: it has not failed, should nobody come to record this.
  if (exit.killed === "timeout") workshop.batch.writeExitCode(name, TIMEOUT_CODE);
  const judged = exit.failure === undefined ? judgeFiles(workshop, phase, name, exit) : unstarted(exit);
  const code = exit.killed === "timeout" ? TIMEOUT_CODE : exit.code;
  return { phase, attempt: attempt.attempt, code, durationMs: exit.durationMs, judged };
}

/** An attempt whose engine died: what reached its files counts as if that engine had seen it. */
export function adoptAttempt(workshop: Workshop, phase: string): Finished {
  const attempt = lastAttempt(requirePhase(requireSession(workshop.store.session), phase));
  if (attempt === undefined) throw new Error(`phase ${phase} has no attempt to adopt`);
  const code = workshop.batch.exitCode(attempt.name);
  let judged = judgeFiles(workshop, phase, attempt.name, { code, killed: code === TIMEOUT_CODE ? "timeout" : null });
  // Without an exit code, or with 0 and no answer (so the CLI ends on TERM), it was ended along with its engine and has not failed.
  const wasEnded = (code ?? 0) === 0 && judged.outcome.text === "";
  if (judged.outcome.kind === "failure" && wasEnded) judged = interrupted(judged);
  const durationMs = Math.max(0, workshop.now().getTime() - Date.parse(attempt.started));
  return { phase, attempt: attempt.attempt, code, durationMs, judged, adopted: true };
}

export interface Finished {
  phase: string;
  attempt: number;
  code: number | null;
  durationMs: number;
  judged: Judged;
  adopted?: true;
}

export function recordEnd(workshop: Workshop, finished: Finished, update: Update): Consequence {
  try {
    return recordWhole(workshop, finished, update);
  } catch (error) {
    if (!(error instanceof MaestroError) || error.code !== "usage") throw error;
    // Something in an agent's words cannot be written down. That is the attempt's failure, not the session's end.
    const message = `What the agent answered cannot be recorded: ${error.message}`;
    const outcome = {
      kind: "failure",
      reason: "unrecordable",
      errorType: "runtime",
      message,
      text: "",
      usage: null,
    } as const;
    return recordWhole(workshop, { ...finished, judged: { outcome, handoff: null } }, update);
  }
}

function recordWhole(workshop: Workshop, finished: Finished, update: Update): Consequence {
  const { phase } = finished;
  const { outcome, handoff } = finished.judged;
  return update((current) => {
    const session = requireSession(current);
    const evidence = handoff?.check.has_task_report ? reportedWork(workshop, handoff) : null;
    const verdict = verdictOf(session, phase, finished.judged, evidence);
    const end: AttemptEnd = {
      finished: {
        attempt: finished.attempt,
        outcome: verdict.kind,
        exit_code: finished.code,
        signal: signalOf(finished.code),
        duration_ms: finished.durationMs,
        usage: outcome.usage,
        ...(finished.adopted === undefined ? {} : { adopted: true as const }),
        ...(verdict.kind === "success" ? {} : said(workshop, verdict)),
      },
      evidence,
      failure: failureOf(workshop, session, phase, verdict),
    };
    const events = decideEnd(session, phase, end, rulesOf(workshop));
    const consequence: Consequence =
      verdict.kind === "quota"
        ? { kind: "quota", retryAfterMs: outcome.retryAfterMs ?? null }
        : { kind: verdict.kind === "success" ? "success" : "none" };
    return { events, result: consequence };
  });
}

function verdictOf(session: Session, phase: string, judged: Judged, evidence: AttemptEnd["evidence"]): Verdict {
  const verdict = judgeAttempt(judged.outcome, judged.handoff, { hasDependents: hasDependents(session, phase) });
  if (verdict.kind !== "success" || evidence === null) return verdict;
  const { created, modified, deleted } = evidence.files;
  const conflicts = claimedTwice(session, phase, [...created, ...modified, ...deleted]);
  if (conflicts.length === 0) return verdict;
  return { kind: "failure", reason: "file_conflict", errorType: "file_conflict", message: conflictMessage(conflicts) };
}

/** One line a file; the words of the File Conflict block. */
function conflictMessage(conflicts: readonly FileConflict[]): string {
  return conflicts.map(({ file, agents }) => `${file} (modified by ${agents.join(" and ")})`).join("\n");
}

function failureOf(workshop: Workshop, session: Session, phase: string, verdict: Verdict): AttemptEnd["failure"] {
  if (verdict.kind === "success") return undefined;
  const step = nextStep(session, requirePhase(session, phase), verdict, workshop.limits.maxRetries);
  if (step === "wait") return undefined;
  const { error_type, message } = said(workshop, verdict);
  // The session's errors have the six types of the design documents.
  return { type: error_type === "auth" ? "runtime" : error_type, message, retry: step === "retry" };
}

function said({ redact }: Workshop, verdict: Shortfall) {
  return { reason: verdict.reason, error_type: verdict.errorType, message: redact(verdict.message) };
}

function interrupted({ outcome, handoff }: Judged): Judged {
  const message = "The engine ended before the attempt did";
  return {
    handoff,
    outcome: { ...outcome, kind: "interrupted", reason: "interrupted", errorType: "runtime", message },
  };
}

function unstarted(exit: Exit): Judged {
  const message = `The agent could not be started: ${exit.failure}`;
  const outcome = {
    kind: "failure",
    reason: "not_started",
    errorType: "runtime",
    message,
    text: "",
    usage: null,
  } as const;
  return { outcome, handoff: null };
}

export function recordValidation(workshop: Workshop, phase: string, result: ValidationResult, update: Update): void {
  if (result.kind === "stopped") return;
  update((current) => {
    const session = requireSession(current);
    const message = `Validation failed\n${result.detail}`;
    const shortfall = { kind: "failure", reason: "validation_failed", errorType: "validation", message } as const;
    const step = nextStep(session, requirePhase(session, phase), shortfall, workshop.limits.maxRetries);
    const failure =
      result.kind === "pass" ? undefined : { type: "validation" as const, message, retry: step === "retry" };
    const validated = { result: result.kind, detail: result.detail, failure };
    return { events: decideValidated(session, phase, validated, rulesOf(workshop)), result: undefined };
  });
}

/** The signal that an exit code stands for, as a shell has it. */
function signalOf(code: number | null): string | null {
  const found = Object.entries(constants.signals).find(([, number]) => number === (code ?? 0) - 128);
  return found?.[0] ?? null;
}

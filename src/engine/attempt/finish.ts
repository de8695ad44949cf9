// The end of an attempt: its files become an outcome, the outcome becomes events, and the rest of the run is told what follows.

import { constants } from "node:os";
import { MaestroError } from "../../errors.ts";
import { TIMEOUT_CODE } from "../../exit-codes.ts";
import type { PhaseId } from "../../ids.ts";
import { conflictMessage } from "../../session/conflict.ts";
import {
  type AttemptEnd,
  claimedTwice,
  decideEnd,
  decideFailure,
  decideIntegrated,
  decideValidated,
  filesOf,
  type Rules,
  type Validated,
  type Warned,
} from "../../session/decide/attempt.ts";
import { claimDifferences, claimWarning } from "../../session/decide/claims.ts";
import { type ReportedWork, reportedWork } from "../../session/decide/evidence.ts";
import type { AttemptVerdict, Shortfall } from "../../session/decide/judge-handoff.ts";
import { type FileLists, requirePhase, requireSession } from "../../session/decide/operation.ts";
import type { FileConflict, SessionEvent } from "../../session/events.ts";
import { type Attempt, hasDependents, type Session } from "../../session/session.ts";
import type { Update } from "../../store/session-store.ts";
import type { Integration, Proof } from "../integrate/integrate.ts";
import type { Exit } from "../process/supervisor.ts";
import type { RunContext } from "../run-context.ts";
import { type Judged, judgeFiles, rulesOf, type StartedAttempt } from "./attempt.ts";
import type { ExaminedWork } from "./examine.ts";
import { judgeWork, scopeRules } from "./judge-work.ts";
import type { ValidationResult } from "./validation.ts";
import { judgeAttempt, stepAfter } from "./verdict.ts";

export type Consequence = { kind: "success" | "none" } | { kind: "quota"; retryAfterMs: number | null };

/** How an attempt ended, from its files; to be recorded. */
export function finishAttempt(workshop: RunContext, attempt: StartedAttempt, exit: Exit): Finished {
  const { phase, name } = attempt;
  // Who was stopped has none: it has not failed, should nobody come to record this.
  if (exit.killed === "timeout") workshop.batch.writeExitCode(name, TIMEOUT_CODE);
  const judged = exit.failure === undefined ? judgeFiles(workshop, phase, name, exit) : unstarted(exit);
  const code = exit.killed === "timeout" ? TIMEOUT_CODE : exit.code;
  const { projectRoot: root } = workshop;
  return { phase, attempt: attempt.attempt, code, durationMs: exit.durationMs, judged, root, work: null };
}

/** An attempt whose engine died, from its files as they are now. */
export function adoptResult(workshop: RunContext, phase: PhaseId, attempt: Attempt): Finished {
  const code = workshop.batch.exitCode(attempt.name);
  let judged = judgeFiles(workshop, phase, attempt.name, { code, killed: code === TIMEOUT_CODE ? "timeout" : null });
  // Without an exit code, or with 0 and no answer (so the CLI ends on TERM), it was ended along with its engine and has not failed.
  const wasEnded = (code ?? 0) === 0 && judged.outcome.text === "";
  if (judged.outcome.kind === "failure" && wasEnded) judged = interrupted(judged);
  const durationMs = Math.max(0, workshop.now().getTime() - Date.parse(attempt.started));
  const { projectRoot: root } = workshop;
  return { phase, attempt: attempt.attempt, code, durationMs, judged, root, work: null, adopted: true };
}

/** An attempt that did not come to have a process. */
export function neverStarted(
  { phase, attempt }: { phase: PhaseId; attempt: number },
  { kind, message }: { kind: "failure" | "interrupted"; message: string },
): Finished {
  const outcome = { kind, reason: "not_started", errorType: "runtime", message, text: "", usage: null } as const;
  return { phase, attempt, code: null, durationMs: 0, judged: { outcome, handoff: null }, root: "", work: null };
}

export interface Finished {
  phase: PhaseId;
  attempt: number;
  code: number | null;
  durationMs: number;
  judged: Judged;
  /** The project as its agent knew it. */
  root: string;
  /** What it did, as its files tell; null when nobody looked. */
  work: ExaminedWork | null;
  /** Why its files could not be looked at. */
  blind?: string;
  adopted?: true;
}

export function recordEnd(workshop: RunContext, finished: Finished, update: Update): Consequence {
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

function recordWhole(workshop: RunContext, finished: Finished, update: Update): Consequence {
  const { phase, work } = finished;
  const { outcome, handoff } = finished.judged;
  return update((current) => {
    const session = requireSession(current);
    const { redact } = workshop;
    const reported = handoff?.check.has_task_report
      ? reportedWork({ projectRoot: finished.root, redact }, handoff)
      : null;
    const { verdict, warnings } = verdictOf(workshop, session, finished, reported);
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
      evidence: reported === null ? null : { ...reported, files: filesToRecord(reported, work) },
      changes: work?.changes ?? null,
      warnings,
      isApart: work?.where === "worktree",
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

/** The tree's word counts, not the agent's, wherever the tree can tell; what is apart is recorded once it is in the project. */
function filesToRecord(reported: ReportedWork, work: ExaminedWork | null): FileLists {
  if (work === null || work.where === "shared") return reported.files;
  return work.where === "project" ? filesOf(work.changes) : nothing;
}

const nothing: FileLists = { created: [], modified: [], deleted: [] };

interface Judgement {
  verdict: AttemptVerdict;
  warnings: Warned[];
}

function verdictOf(
  workshop: RunContext,
  session: Session,
  { phase: id, judged, work, blind, root }: Finished,
  reported: ReportedWork | null,
): Judgement {
  const phase = requirePhase(session, id);
  const verdict = judgeAttempt(judged.outcome, judged.handoff, { hasDependents: hasDependents(session, id) });
  const claims = reported === null || work === null ? [] : claimWarnings(reported.files, work, root);
  const scope = work === null ? { verdict: null, warnings: [] } : judgeWork(work, scopeRules(workshop, phase));
  const warnings = [...(work?.warnings ?? []), ...claims, ...scope.warnings];
  if (verdict.kind !== "success") return { verdict, warnings: [...warnings, ...leftBehind(work, scope.verdict)] };
  const stands = blind === undefined ? (scope.verdict ?? conflictOf(session, id, work, reported)) : unreadable(blind);
  return { verdict: stands ?? verdict, warnings };
}

/** What an attempt that failed for another reason left in the project and had no right to. */
function leftBehind(work: ExaminedWork | null, verdict: Shortfall | null): Warned[] {
  if (work?.where !== "project" || verdict === null) return [];
  return [{ code: "outside_scope", message: verdict.message.replaceAll("\n", " ") }];
}

function claimWarnings(claims: FileLists, { where, files, fresh }: ExaminedWork, root: string): Warned[] {
  const differences = claimDifferences(claims, files, [root]);
  // What changed and was not claimed may be somebody else's, or an earlier attempt's.
  const unclaimed = where === "shared" ? [] : differences.unclaimed.filter((path) => fresh?.has(path) !== false);
  const message = claimWarning({ ...differences, unclaimed });
  return message === null ? [] : [{ code: "claims_differ", message }];
}

function unreadable(why: string): Shortfall {
  const message = `What the agent did cannot be read: ${why}`;
  return { kind: "failure", reason: "unreadable_work", errorType: "runtime", message };
}

/** Where agents share the files, two that claim one have a conflict; elsewhere the merge tells. */
function conflictOf(
  session: Session,
  phase: PhaseId,
  work: ExaminedWork | null,
  reported: ReportedWork | null,
): Shortfall | null {
  if (reported === null || work?.where === "worktree") return null;
  const { created, modified, deleted } = reported.files;
  const conflicts = claimedTwice(session, phase, [...created, ...modified, ...deleted]);
  if (conflicts.length === 0) return null;
  return conflictShortfall(conflicts);
}

function conflictShortfall(conflicts: FileConflict[]): Shortfall {
  const code = "file_conflict";
  return { kind: "failure", reason: code, errorType: code, message: conflictMessage(conflicts), code, conflicts };
}

function failureOf(
  workshop: RunContext,
  session: Session,
  phase: PhaseId,
  verdict: AttemptVerdict,
): AttemptEnd["failure"] {
  if (verdict.kind === "success") return undefined;
  const step = stepAfter(session, requirePhase(session, phase), verdict, workshop.limits.maxRetries);
  if (step === "wait") return undefined;
  const { error_type, message } = said(workshop, verdict);
  // The session's errors have the six types of the design documents.
  const type = error_type === "auth" ? "runtime" : error_type;
  return { type, message, code: verdict.code, conflicts: verdict.conflicts, retry: step === "retry" };
}

function said({ redact }: RunContext, verdict: Shortfall) {
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

export function recordValidation(workshop: RunContext, phase: PhaseId, result: ValidationResult, update: Update): void {
  if (result.kind === "stopped") return;
  update((current) => {
    const session = requireSession(current);
    const message = `Validation failed\n${result.detail}`;
    const shortfall = { kind: "failure", reason: "validation_failed", errorType: "validation", message } as const;
    const step = stepAfter(session, requirePhase(session, phase), shortfall, workshop.limits.maxRetries);
    const failure =
      result.kind === "pass" ? undefined : { type: "validation" as const, message, retry: step === "retry" };
    const validated = { result: result.kind, detail: result.detail, evidence: result.evidence, failure };
    return { events: decideValidated(session, phase, validated, rulesOf(workshop)), result: undefined };
  });
}

/** What came of bringing an attempt's work into the project. */
export function recordIntegration(workshop: RunContext, phase: PhaseId, result: Integration, update: Update): void {
  if (result.kind === "stopped") return;
  update((current) => {
    const session = requireSession(current);
    const rules = rulesOf(workshop);
    if (result.kind === "done") return { events: integrated(session, phase, result, rules), result: undefined };
    const shortfall = shortOf(result);
    const step = stepAfter(session, requirePhase(session, phase), shortfall, workshop.limits.maxRetries);
    // Another attempt would not mend a machine.
    const retry = step === "retry" && result.kind !== "broken";
    const { errorType: type, message, code, conflicts } = shortfall;
    const failure = { type, message, code, conflicts, retry };
    const events =
      result.kind === "invalid"
        ? decideValidated(session, phase, { ...provedBy(result.validation), failure }, rules)
        : decideFailure(session, phase, failure, rules);
    return { events, result: undefined };
  });
}

function integrated(session: Session, id: PhaseId, done: Integration & { kind: "done" }, rules: Rules): SessionEvent[] {
  const { attempt, from, to, warnings } = done;
  const { changes } = requirePhase(session, id).attempts.find((one) => one.attempt === attempt) ?? {};
  const files = changes === undefined || !done.isTakenOver ? nothing : filesOf(changes);
  return decideIntegrated(session, id, { attempt, from, to, files, warnings }, rules);
}

function shortOf(result: Exclude<Integration, { kind: "done" | "stopped" }>): Shortfall {
  if (result.kind === "conflict") return conflictShortfall(result.conflicts);
  if (result.kind === "broken") {
    return { kind: "failure", reason: "not_integrated", errorType: "runtime", message: result.message };
  }
  const shortfall = { kind: "failure", reason: "validation_failed", errorType: "validation" } as const;
  if (result.kind === "invalid") return { ...shortfall, message: `Validation failed\n${result.validation.detail}` };
  const { message, code } = result;
  return { ...shortfall, message, ...(code === undefined ? {} : { code }) };
}

function provedBy({ kind, detail, evidence }: Proof): Omit<Validated, "failure"> {
  return { result: kind, detail, evidence };
}

/** The signal that an exit code stands for, as a shell has it. */
function signalOf(code: number | null): string | null {
  const found = Object.entries(constants.signals).find(([, number]) => number === (code ?? 0) - 128);
  return found?.[0] ?? null;
}

// Records the end of an attempt, of its validation and of its integration: result files become an outcome, the outcome becomes events,
// and the engine learns what follows for the rest of the run.

import { constants } from "node:os";
import { MaestroError } from "../../errors.ts";
import { TIMEOUT_CODE } from "../../exit-codes.ts";
import { recordedType } from "../../handoff/output/error-type.ts";
import type { PhaseId } from "../../ids.ts";
import type { Outcome } from "../../runtimes/runtime.ts";
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
import { type ReportedWork, reportedWork } from "../../session/decide/evidence.ts";
import { phaseValidated } from "../../session/decide/facts.ts";
import type { AttemptVerdict, Shortfall } from "../../session/decide/judge-handoff.ts";
import { type FileLists, requirePhase, requireSession } from "../../session/decide/operation.ts";
import { decideReview } from "../../session/decide/review/decide-review.ts";
import {
  type DeliveryVerdict,
  undeliveredShortfall,
  undeliveredText,
  untouchedWarnings,
} from "../../session/deliverables.ts";
import type { FileConflict, SessionEvent, Usage } from "../../session/events.ts";
import { type Attempt, begunAt, hasDependents, lastAttempt, type Session } from "../../session/session.ts";
import type { Update } from "../../store/session-store.ts";
import { settled } from "../budget.ts";
import type { Integration, Proof } from "../integrate/integrate.ts";
import type { Exit } from "../process/supervisor.ts";
import type { RunContext } from "../run-context.ts";
import { type Judged, judgeFiles, rulesOf, type StartedAttempt } from "./attempt.ts";
import type { ExaminedWork } from "./examine.ts";
import { claimWarnings, judgeWork, scopeRules } from "./judge-work.ts";
import type { Metered } from "./output-follower.ts";
import { failedMessage, type ValidationResult } from "./validation.ts";
import { judgeAttempt, stepAfter } from "./verdict.ts";

export type Consequence = { kind: "success" | "none" } | { kind: "quota"; retryAfterMs: number | null };

/** Reads from its files how an attempt ended; `recordEnd` records it. */
export function finishAttempt(context: RunContext, attempt: StartedAttempt, exit: Exit): Finished {
  const { phase, name } = attempt;
  // A stopped attempt gets no exit file, so a crash before recording does not count as a failure.
  if (exit.killed === "timeout") context.batch.writeExitCode(name, TIMEOUT_CODE);
  const judged = exit.failure === undefined ? judgeFiles(context, phase, name, exit) : notStarted(exit);
  const code = exit.killed === "timeout" ? TIMEOUT_CODE : exit.code;
  const { projectRoot: root } = context;
  return { phase, attempt: attempt.attempt, code, durationMs: exit.durationMs, judged, root, work: null };
}

/** Reads from its files how an attempt of a dead engine ended. */
export function adoptResult(context: RunContext, phase: PhaseId, attempt: Attempt): Finished {
  const code = context.batch.exitCode(attempt.name);
  let judged = judgeFiles(context, phase, attempt.name, { code, killed: code === TIMEOUT_CODE ? "timeout" : null });
  // No exit code, or code 0 without an answer (how Gemini CLI exits on TERM), means that the attempt was killed with its engine: it did not fail.
  const { text, reason } = judged.outcome;
  const wasEnded = (code ?? 0) === 0 && (text === "" || reason === "no_result");
  if (judged.outcome.kind === "failure" && wasEnded) judged = interrupted(judged);
  const durationMs = Math.max(0, context.now().getTime() - Date.parse(begunAt(attempt) ?? attempt.started));
  const { projectRoot: root } = context;
  return { phase, attempt: attempt.attempt, code, durationMs, judged, root, work: null, adopted: true };
}

/** The result of an attempt whose process was never started. */
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
  /** The project root that the agent saw. */
  root: string;
  /** The changes found in its files; null when they were not examined. */
  work: ExaminedWork | null;
  /** Why its files could not be examined. */
  blind?: string;
  /** Whether it delivered its declared files; absent or null when that was not judged. */
  delivery?: DeliveryVerdict | null;
  adopted?: true;
  /** What it used by its transcript on the worker that ran it; absent when it ran here. */
  metered?: Metered | null;
}

export function recordEnd(context: RunContext, finished: Finished, update: Update): Consequence {
  try {
    return recordWhole(context, finished, update);
  } catch (error) {
    if (!(error instanceof MaestroError) || error.code !== "usage") throw error;
    // An answer that cannot be recorded fails the attempt, not the session.
    const message = `The agent's answer cannot be recorded: ${error.message}`;
    const outcome = {
      kind: "failure",
      reason: "unrecordable",
      errorType: "runtime",
      message,
      text: "",
      usage: null,
    } as const;
    return recordWhole(context, { ...finished, judged: { outcome, handoff: null } }, update);
  }
}

function recordWhole(context: RunContext, finished: Finished, update: Update): Consequence {
  const { phase, work } = finished;
  const { outcome, handoff } = finished.judged;
  return update((current) => {
    const session = requireSession(current);
    const { redact } = context;
    const reported = handoff?.check.has_task_report
      ? reportedWork({ projectRoot: finished.root, redact }, handoff)
      : null;
    const { verdict: judged, warnings } = verdictOf(context, session, finished, reported);
    const verdict = handedOver(context, session, phase, judged);
    const attempt = requirePhase(session, phase).attempts.findLast((one) => one.attempt === finished.attempt);
    const usage = usedBy(outcome, attempt?.model ?? null);
    const spent =
      attempt === undefined ? undefined : settled(context, attempt, { ...outcome, usage }, finished.metered);
    const end: AttemptEnd = {
      finished: {
        attempt: finished.attempt,
        outcome: verdict.kind,
        exit_code: finished.code,
        signal: signalOf(finished.code),
        duration_ms: finished.durationMs,
        usage,
        ...(spent === undefined ? {} : { spent }),
        ...(finished.adopted === undefined ? {} : { adopted: true as const }),
        ...(verdict.kind === "success" ? {} : errorFields(context, verdict)),
        ...(finished.judged.partial === undefined ? {} : { partial_output: finished.judged.partial }),
      },
      evidence: reported === null ? null : { ...reported, files: filesToRecord(reported, work) },
      changes: work?.changes ?? null,
      warnings,
      isApart: work?.where === "worktree",
      failure: failureOf(context, session, phase, verdict),
    };
    const events = decideEnd(session, phase, end, rulesOf(context));
    const consequence: Consequence =
      verdict.kind === "quota"
        ? { kind: "quota", retryAfterMs: outcome.retryAfterMs ?? null }
        : { kind: verdict.kind === "success" ? "success" : "none" };
    return { events, result: consequence };
  });
}

/** Some programs do not report the model that they were given. */
function usedBy({ usage }: Outcome, model: string | null): Usage[] | null {
  return usage?.map((one) => ({ ...one, model: one.model ?? model })) ?? null;
}

/** A runtime without a sign-in or a program is replaced by the next one. The phase has not failed, and no retry is counted. */
function handedOver(context: RunContext, session: Session, id: PhaseId, verdict: AttemptVerdict): AttemptVerdict {
  if (verdict.kind !== "failure") return verdict;
  if (verdict.errorType !== "auth" && verdict.reason !== "not_found") return verdict;
  const phase = requirePhase(session, id);
  const { runtime } = lastAttempt(phase) ?? {};
  const tier = context.agents.get(phase.agents[0] ?? "")?.tier;
  const next = runtime === undefined || tier === undefined ? null : context.cast.failOver(runtime, tier);
  return next === null
    ? verdict
    : { ...verdict, kind: "interrupted", message: `${verdict.message} ${next} takes over.` };
}

/** The git tree overrides the agent's report wherever both exist. Files in a worktree are recorded when they are integrated. */
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
  context: RunContext,
  session: Session,
  finished: Finished,
  reported: ReportedWork | null,
): Judgement {
  const { phase: id, judged, work, blind, root, delivery = null } = finished;
  const phase = requirePhase(session, id);
  const verdict = judgeAttempt(judged.outcome, judged.handoff, { hasDependents: hasDependents(session, id) });
  const claims = reported === null || work === null ? [] : claimWarnings(phase, reported.files, work, root);
  const scope = work === null ? { verdict: null, warnings: [] } : judgeWork(work, scopeRules(context, phase));
  const untouched = delivery === null ? [] : untouchedWarnings(delivery);
  const warnings = [...(work?.warnings ?? []), ...claims, ...scope.warnings, ...untouched, ...unseen(finished)];
  if (verdict.kind !== "success") return { verdict, warnings: [...warnings, ...scopeWarnings(work, scope.verdict)] };
  const rejection =
    blind === undefined ? (scope.verdict ?? conflictOf(session, id, work, reported)) : unreadable(blind);
  return { verdict: rejection ?? undelivered(delivery) ?? verdict, warnings };
}

/** Without git, only the engine that died knew the files before the attempt. */
function unseen({ adopted, work, blind }: Finished): Warned[] {
  if (adopted === undefined || work !== null || blind !== undefined) return [];
  return [{ code: "unjudged", message: "Its changes are not recorded: the state before it was lost with its engine" }];
}

function undelivered(delivery: DeliveryVerdict | null): Shortfall | null {
  const message = delivery === null ? null : undeliveredText(delivery);
  return message === null ? null : undeliveredShortfall(message);
}

/** Warns about files outside its scope that an attempt left in the project although it failed for another reason. */
function scopeWarnings(work: ExaminedWork | null, verdict: Shortfall | null): Warned[] {
  if (work?.where !== "project" || verdict === null) return [];
  return [{ code: "outside_scope", message: verdict.message.replaceAll("\n", " ") }];
}

function unreadable(why: string): Shortfall {
  const message = `The agent's changes cannot be read: ${why}`;
  return { kind: "failure", reason: "unreadable_work", errorType: "runtime", message };
}

/** Where agents share the project, two phases that report the same file conflict; in worktrees the merge finds conflicts. */
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
  context: RunContext,
  session: Session,
  phase: PhaseId,
  verdict: AttemptVerdict,
): AttemptEnd["failure"] {
  if (verdict.kind === "success") return undefined;
  const step = stepAfter(session, requirePhase(session, phase), verdict, context.limits.maxRetries);
  if (step === "wait") return undefined;
  const { error_type, message } = errorFields(context, verdict);
  const { code, conflicts } = verdict;
  const limit = verdict.kind === "timeout" ? lastAttempt(requirePhase(session, phase))?.timeout_ms : undefined;
  const timeoutMs = limit === undefined ? undefined : 2 * limit;
  return { type: error_type, message, code, conflicts, retry: step === "retry", timeoutMs };
}

function errorFields({ redact }: RunContext, verdict: Shortfall) {
  return { reason: verdict.reason, error_type: recordedType(verdict.errorType), message: redact(verdict.message) };
}

function interrupted({ outcome, handoff }: Judged): Judged {
  const message = "The engine stopped before the attempt ended";
  return {
    handoff,
    outcome: { ...outcome, kind: "interrupted", reason: "interrupted", errorType: "runtime", message },
  };
}

function notStarted(exit: Exit): Judged {
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

export function recordValidation(context: RunContext, phase: PhaseId, result: ValidationResult, update: Update): void {
  if (result.kind === "stopped") return;
  update((current) => {
    const session = requireSession(current);
    const message = failedMessage(result);
    const shortfall = { kind: "failure", reason: "validation_failed", errorType: "validation", message } as const;
    const step = stepAfter(session, requirePhase(session, phase), shortfall, context.limits.maxRetries);
    const failure =
      result.kind === "pass"
        ? undefined
        : { type: "validation" as const, message, code: result.code, retry: step === "retry" };
    const validated = { result: result.kind, detail: result.detail, evidence: result.evidence, failure };
    return { events: decideValidated(session, phase, validated, rulesOf(context)), result: undefined };
  });
}

/** Records the result of integrating an attempt's work into the project. */
export function recordIntegration(context: RunContext, phase: PhaseId, result: Integration, update: Update): void {
  if (result.kind === "stopped") return;
  update((current) => {
    const session = requireSession(current);
    const rules = rulesOf(context);
    if (result.kind === "done") return { events: integrated(session, phase, result, rules), result: undefined };
    if (result.kind === "review") return { events: toBeReviewed(session, phase, result), result: undefined };
    const shortfall = shortfallOf(result);
    const step = stepAfter(session, requirePhase(session, phase), shortfall, context.limits.maxRetries);
    // Another attempt does not fix a broken disk or repository.
    const retry = step === "retry" && result.kind !== "broken";
    const { errorType, message, code, conflicts } = shortfall;
    const failure = { type: recordedType(errorType), message, code, conflicts, retry };
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

/** The user may have closed the phase in the meantime. */
function toBeReviewed(session: Session, id: PhaseId, review: Integration & { kind: "review" }): SessionEvent[] {
  const { attempt, tree, proof } = review;
  if (requirePhase(session, id).status !== "in_progress") return [];
  const proved = proof === null ? [] : [phaseValidated(id, provedBy(proof))];
  return [...proved, ...decideReview(session, { phases: [id], attempt, tree })];
}

function shortfallOf(result: Exclude<Integration, { kind: "done" | "stopped" | "review" }>): Shortfall {
  if (result.kind === "conflict") return conflictShortfall(result.conflicts);
  if (result.kind === "broken") {
    return { kind: "failure", reason: "not_integrated", errorType: "runtime", message: result.message };
  }
  const shortfall = { kind: "failure", reason: "validation_failed", errorType: "validation" } as const;
  if (result.kind === "invalid") return { ...shortfall, message: failedMessage(result.validation) };
  const { message, code } = result;
  return { ...shortfall, message, ...(code === undefined ? {} : { code }) };
}

function provedBy({ kind, detail, evidence }: Proof): Omit<Validated, "failure"> {
  return { result: kind, detail, evidence };
}

/** The signal that a shell's exit code (128 + number) stands for. */
function signalOf(code: number | null): string | null {
  const found = Object.entries(constants.signals).find(([, number]) => number === (code ?? 0) - 128);
  return found?.[0] ?? null;
}

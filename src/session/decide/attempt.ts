// Builds the events for the start, the end and the validation of an attempt. Pure; the engine passes in what happened.

import { recordedType } from "../../handoff/output/error-type.ts";
import { type AttemptId, attemptId, type PhaseId, type TreeId } from "../../ids.ts";
import { writer } from "../conflict.ts";
import { MAX_LISTED_CONFLICTS } from "../event-parts.ts";
import type {
  AttemptOutcome,
  ErrorRecord,
  EventOf,
  Evidence,
  FailureCode,
  FileChange,
  FileConflict,
  FileHashes,
  SessionEvent,
  WarningCode,
} from "../events.ts";
import { type Changes, findPhase, isClosed, type Session, type SessionPhase } from "../session.ts";
import type { ReportedWork } from "./evidence.ts";
import type { Shortfall } from "./judge-handoff.ts";
import { decideMove, type FileLists, requirePhase } from "./operation.ts";

export interface Rules {
  maxRetries: number;
  now: Date;
  /** Hashes file contents; called only when they must be recorded. */
  hashes: (paths: readonly string[]) => FileHashes;
}

export type AttemptStart = Omit<EventOf<"attempt.started">, "type" | "phase" | "attempt" | "agent" | "name">;

export function nextAttempt(
  phase: SessionPhase,
  agent = phase.agents[0] ?? "unknown",
): { attempt: number; name: AttemptId } {
  const attempt = (phase.attempts.at(-1)?.attempt ?? 0) + 1;
  return { attempt, name: attemptId(agent, phase.id, attempt) };
}

/** Also moves a pending phase to in progress; a phase in progress gets another attempt. */
export function decideStart(
  session: Session,
  id: string,
  start: AttemptStart,
  rules: Rules,
  agent?: string,
): SessionEvent[] {
  const phase = requirePhase(session, id);
  const moved = phase.status === "in_progress" ? [] : begin(session, phase, rules);
  const worker = agent ?? phase.agents[0] ?? "unknown";
  return [
    ...moved,
    { type: "attempt.started", phase: phase.id, agent: worker, ...nextAttempt(phase, worker), ...start },
  ];
}

function begin(session: Session, phase: SessionPhase, { maxRetries, now, hashes }: Rules): SessionEvent[] {
  const request = { phase: phase.id, to: "in_progress" as const, userDecision: false, maxRetries, now };
  return decideMove(session, request, () => hashes(ownedFiles(phase)));
}

export function ownedFiles({ plan }: SessionPhase): string[] {
  return [...(plan?.files_created ?? []), ...(plan?.files_modified ?? []), ...(plan?.files_deleted ?? [])];
}

export interface AttemptFailure {
  type: ErrorRecord["type"];
  message: string;
  code?: FailureCode | undefined;
  conflicts?: FileConflict[] | undefined;
  /** Whether the engine retries the phase automatically. */
  retry: boolean;
  /** The time limit of that retry, when it is another one. */
  timeoutMs?: number | undefined;
}

export interface AttemptEnd {
  finished: Omit<EventOf<"attempt.finished">, "type" | "phase">;
  /** The agent's report, as far as it could be parsed. */
  evidence: ReportedWork | null;
  /** The changes read from its files; null when they were not examined. */
  changes: Changes | null;
  warnings: readonly Warned[];
  /** Whether its work is in a worktree and not in the project yet. */
  isApart: boolean;
  /** Absent when the attempt succeeded, was interrupted or waits for quota. */
  failure?: AttemptFailure | undefined;
}

export interface Warned {
  code: WarningCode;
  message: string;
}

/** The end of an attempt. A phase that the user has closed in the meantime keeps its status. */
export function decideEnd(session: Session, id: string, end: AttemptEnd, rules: Rules): SessionEvent[] {
  const phase = requirePhase(session, id);
  const events = decideAttemptEnd(phase.id, end);
  if (phase.status !== "in_progress") return events;
  if (end.evidence !== null) events.push(...workEvents(phase, end.evidence, rules, end.finished.outcome));
  if (end.failure !== undefined) return [...events, ...fail(phase, end.failure, rules)];
  const isDone = end.finished.outcome === "success" && !end.isApart && (phase.plan?.validation ?? []).length === 0;
  return isDone ? [...events, completed(phase)] : events;
}

/** The end of an attempt alone: its phase keeps its status and its retries. */
export function decideAttemptEnd(phase: PhaseId, end: AttemptRecord): SessionEvent[] {
  const { placed, finished, changes, warnings } = end;
  const { attempt } = finished;
  return [
    ...(placed === undefined ? [] : [{ type: "attempt.placed" as const, phase, attempt, ...placed }]),
    ...(changes === null ? [] : [{ type: "attempt.changed" as const, phase, attempt, ...changes }]),
    ...warnings.map((warned) => ({ type: "phase.warned" as const, phase, ...warned })),
    { type: "attempt.finished", phase, ...finished },
  ];
}

/** An interrupted attempt has no hand-off, whatever its output says. */
function workEvents(
  phase: SessionPhase,
  { handoff, files }: ReportedWork,
  { hashes }: Rules,
  outcome?: AttemptOutcome,
): SessionEvent[] {
  const agent = phase.agents[0] ?? "unknown";
  const added = filesAdded(phase, files, hashes);
  if (outcome === "interrupted" || outcome === "quota") return added;
  return [{ type: "phase.handed_off", phase: phase.id, agent, handoff }, ...added];
}

function filesAdded(phase: SessionPhase, files: FileLists, hashes: Rules["hashes"]): SessionEvent[] {
  const all = [...files.created, ...files.modified, ...files.deleted];
  return all.length === 0 ? [] : [{ type: "phase.files_added", phase: phase.id, ...files, hashes: hashes(all) }];
}

/** Changes as lists of created, modified and deleted files. */
export function filesOf({ files }: { files: readonly Pick<FileChange, "kind" | "path" | "from">[] }): FileLists {
  const lists: FileLists = { created: [], modified: [], deleted: [] };
  for (const { kind, path, from } of files) {
    if (kind !== "renamed") lists[kind].push(path);
    else {
      lists.created.push(path);
      lists.deleted.push(from ?? path);
    }
  }
  return lists;
}

/** Work that is in the project and whose validation is recorded. A phase that the user has closed in the meantime keeps its status. */
export interface Integrated {
  attempt: number;
  from: TreeId;
  to: TreeId;
  files: FileLists;
  warnings: readonly Warned[];
}

export function decideIntegrated(session: Session, id: string, done: Integrated, rules: Rules): SessionEvent[] {
  const phase = requirePhase(session, id);
  const { attempt, from, to, files, warnings } = done;
  return [
    ...warnings.map((warned) => ({ type: "phase.warned" as const, phase: phase.id, ...warned })),
    { type: "phase.integrated", phase: phase.id, attempt, from, to },
    ...filesAdded(phase, files, rules.hashes),
    ...(phase.status === "in_progress" ? [completed(phase)] : []),
  ];
}

/** A failure after the attempt succeeded, while its work was being integrated. */
export function decideFailure(session: Session, id: string, failure: AttemptFailure, rules: Rules): SessionEvent[] {
  const phase = requirePhase(session, id);
  return phase.status === "in_progress" ? fail(phase, failure, rules) : [];
}

/** How an attempt ended that is not the engine's to judge. */
export interface AttemptRecord extends Pick<AttemptEnd, "finished" | "changes" | "warnings"> {
  /** Where it worked; absent when that is recorded. */
  placed?: Omit<EventOf<"attempt.placed">, "type" | "phase" | "attempt">;
}

export interface DelegationEnd {
  /** The attempt that ends; absent when its start was not recorded. */
  attempt?: AttemptRecord | undefined;
  work: ReportedWork | null;
  /** Absent when the report is complete and says success. */
  shortfall?: Shortfall | undefined;
  /** The parts that are missing from the report. */
  missing: string[];
  warnings?: readonly Warned[];
}

/** The end of a native delegation. The delegating conversation decides whether to retry. */
export function decideDelegationEnd(session: Session, id: string, end: DelegationEnd, rules: Rules): SessionEvent[] {
  const phase = requirePhase(session, id);
  const events = end.attempt === undefined ? [] : decideAttemptEnd(phase.id, end.attempt);
  if (phase.status !== "in_progress") return events;
  for (const warned of end.warnings ?? []) events.push({ type: "phase.warned", phase: phase.id, ...warned });
  if (end.work !== null) events.push(...workEvents(phase, end.work, rules));
  if (end.missing.length > 0) {
    events.push({
      type: "handoff.malformed",
      phase: phase.id,
      agent: phase.agents[0] ?? "unknown",
      missing: end.missing,
    });
  }
  if (end.shortfall !== undefined) {
    const { errorType, message, code } = end.shortfall;
    return [...events, ...fail(phase, { type: recordedType(errorType), message, code, retry: false }, rules)];
  }
  return (phase.plan?.validation ?? []).length === 0 ? [...events, completed(phase)] : events;
}

/** `detail`: the output of the commands, or which of them passed. */
export interface Validated {
  result: "pass" | "fail";
  detail: string;
  evidence: Evidence;
  failure?: AttemptFailure | undefined;
}

export function decideValidated(session: Session, id: string, validated: Validated, rules: Rules): SessionEvent[] {
  const phase = requirePhase(session, id);
  const { result, detail, evidence, failure } = validated;
  const events: SessionEvent[] = [{ type: "phase.validated", phase: phase.id, result, detail, evidence }];
  if (phase.status !== "in_progress") return events;
  return [...events, ...(failure === undefined ? [completed(phase)] : fail(phase, failure, rules))];
}

function completed(phase: SessionPhase): SessionEvent {
  return { type: "phase.moved", phase: phase.id, from: phase.status, to: "completed" };
}

function fail(phase: SessionPhase, failure: AttemptFailure, { now, hashes }: Rules): SessionEvent[] {
  const { type, message, code, conflicts, retry, timeoutMs } = failure;
  const agent = phase.agents[0] ?? "unknown";
  const error = {
    agent,
    timestamp: now.toISOString(),
    type,
    message,
    resolution: "pending",
    resolved: false,
    ...(code === undefined ? {} : { code }),
    ...(conflicts === undefined ? {} : { conflicts: conflicts.slice(0, MAX_LISTED_CONFLICTS) }),
  };
  const events: SessionEvent[] = [
    { type: "phase.error_added", phase: phase.id, error },
    { type: "phase.moved", phase: phase.id, from: "in_progress", to: "failed" },
  ];
  if (!retry) return events;
  const again = { from: "failed", to: "in_progress", hashes: hashes(ownedFiles(phase)) } as const;
  const longer =
    timeoutMs === undefined
      ? { reason: "automatic retry" }
      : { reason: "automatic retry with twice the time limit", timeout_ms: timeoutMs };
  return [...events, { type: "phase.moved", phase: phase.id, ...again, ...longer }];
}

/** Files that both this attempt and a phase that ended while it ran claim to have changed. */
export function claimedTwice(session: Session, id: string, files: Iterable<string>): FileConflict[] {
  const phase = requirePhase(session, id);
  const started = phase.attempts.at(-1)?.started ?? "";
  const conflicts: FileConflict[] = [];
  for (const file of files) {
    const recorded = session.file_hashes.get(file);
    const other = recorded === undefined || recorded.phase === id ? undefined : findPhase(session, recorded.phase);
    if (other === undefined || !isClosed(other) || (other.completed ?? "") <= started) continue;
    conflicts.push({ path: file, by: [writer(other), writer(phase)] });
  }
  return conflicts;
}

/** The user aborts the session: running phases fail, failed phases become aborted, pending phases stay pending. */
export function decideAbort(session: Session, reason: string | undefined, now: Date): SessionEvent[] {
  const events: SessionEvent[] = [];
  const said = reason === undefined ? {} : { reason };
  for (const phase of session.phases) {
    if (phase.status !== "in_progress" && phase.status !== "failed") continue;
    if (phase.status === "in_progress") {
      events.push({
        type: "phase.moved",
        phase: phase.id,
        from: "in_progress",
        to: "failed",
        user_decision: true,
        ...said,
      });
    }
    events.push({ type: "phase.moved", phase: phase.id, from: "failed", to: "aborted", user_decision: true, ...said });
  }
  const summary = `Aborted by the user at ${now.toISOString()}${reason === undefined ? "" : `: ${reason}`}`;
  return [...events, { type: "session.status_set", status: "failed", summary, aborted: true }];
}

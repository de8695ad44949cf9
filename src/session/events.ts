// The catalogue of what can happen to a session: one shape per event, version 1. Types are inferred from here, and every event is checked
// against its shape before it is written and whenever it is read. A change of meaning is a new version and a migration, never an edit.

import { errorTypes } from "../handoff/output/error-type.ts";
import { MAX_PLAN_BYTES } from "../plan/plan.ts";
import * as is from "../shape.ts";
import {
  about,
  adoptedPhase,
  agent,
  attemptId,
  batchName,
  commitId,
  count,
  type downstreamContext,
  type errorRecord,
  evidence,
  executionMode,
  type failureCodes,
  fileChange,
  type fileConflict,
  fileHashes,
  fileMove,
  files,
  handoff,
  importedSession,
  modelName,
  name,
  number,
  path,
  paths,
  type phaseRecord,
  phaseStatus,
  plan,
  recordedError,
  runtimeName,
  sessionId,
  type sessionRecord,
  sessionStatus,
  text,
  time,
  tokenCounts,
  tokenUsage,
  treeId,
  usage,
} from "./event-parts.ts";

/** What an attempt came to. `interrupted`: stopped from outside, by a person or a crash; `quota`: the provider refused for now. */
export const attemptOutcomes = ["success", "failure", "timeout", "quota", "interrupted"] as const;
/** What is told without anything being stopped for it. */
export const warningCodes = [
  /** The report names other files than those that changed. */
  "claims_differ",
  /** Files changed that the phase does not own. */
  "outside_scope",
  /** Two attempts that run have changed the same lines. */
  "conflict_predicted",
  /** Changes of an agent that may not write. */
  "not_applied",
  /** Files that no snapshot can hold, or that could not be looked at. */
  "left_out",
  /** What an attempt changed could not be told from what others did. */
  "unjudged",
  /** Links that lead out of the project. */
  "link_outside",
] as const;
/** More files of one attempt than these are counted, not listed. */
export const MAX_LISTED_CHANGES = 2000;
/** Of files outside of its scope an attempt may leave more; what was done before it is then not carried on. */
export const MAX_LISTED_OUTSIDE = 20_000;

/** The fields of each event besides its type. */
const bodies = {
  "session.created": {
    session_id: sessionId,
    task: is.nullable(text),
    execution_mode: is.nullable(executionMode),
    plan,
  },
  /** A view that had no journal: written by hand, by a script or by an earlier version. */
  "session.imported": { title: text, session: importedSession },
  "session.mode_set": { execution_mode: executionMode },
  /** `aborted`: a person ended it for good. */
  "session.status_set": {
    status: sessionStatus,
    summary: is.optional(text),
    aborted: is.optional(is.yes),
  },
  "session.noted": { text, phase: is.optional(about), agent: is.optional(agent) },
  "phase.moved": {
    phase: about,
    from: phaseStatus,
    to: phaseStatus,
    user_decision: is.optional(is.boolean),
    reason: is.optional(text),
    /** Hashes of the files the phase owns, taken when it starts: what a resume compares with. */
    hashes: is.optional(fileHashes),
    /** From now on its attempts may take that long. */
    timeout_ms: is.optional(count),
  },
  "phase.files_added": { phase: about, ...files, hashes: fileHashes },
  "phase.handed_off": { phase: about, agent, handoff },
  /** A delegated agent was sent back once and still reported without these parts: its phase is not completed. */
  "handoff.malformed": { phase: about, agent, missing: is.list(is.text(200), 100) },
  "phase.validated": {
    phase: about,
    result: is.oneOf(["pass", "fail", "skipped"]),
    detail: text,
    evidence: is.optional(evidence),
  },
  "phase.warned": { phase: about, code: is.oneOf(warningCodes), message: text },
  /** An agent asked for more than its phase owns. `owner`: the unfinished phase that stood against it. */
  "phase.scope_requested": {
    phase: about,
    agent,
    paths,
    reason: text,
    granted: is.boolean,
    owner: is.nullable(about),
  },
  /** The work of an attempt is in the project, which was the tree `from` and is the tree `to`. */
  "phase.integrated": {
    phase: about,
    attempt: number,
    from: treeId,
    to: treeId,
    user_decision: is.optional(is.boolean),
  },
  /** A person took the work of an attempt out of the project again. */
  "phase.reverted": { phase: about, attempt: number, from: treeId, to: treeId },
  "phase.error_added": { phase: about, error: recordedError },
  /** Durable before the process exists. `batch` and `name` say where its files are: parallel/<batch>/results/<name>.json */
  "attempt.started": {
    phase: about,
    attempt: number,
    agent,
    /** Which engine started it; its processes carry the same word. */
    run: name,
    runtime: runtimeName,
    model: is.nullable(modelName),
    batch: batchName,
    name: attemptId,
    prompt_bytes: count,
    timeout_ms: count,
  },
  /** Where it works, durable before its process exists: a worktree of its own, or (null) the project. `base`: what it began with. */
  "attempt.placed": {
    phase: about,
    attempt: number,
    worktree: is.nullable(name),
    base: is.nullable(commitId),
  },
  /** What it did, read from the tree. `commit` holds it, with `base` as its parent; null outside git. */
  "attempt.changed": {
    phase: about,
    attempt: number,
    base: is.nullable(commitId),
    commit: is.nullable(commitId),
    files: is.list(fileChange, MAX_LISTED_CHANGES),
    total: count,
    /** Lines of all of them. */
    added: count,
    removed: count,
    /** Those that the phase does not own. */
    outside: paths,
    /** Of these, what was too large to be kept: the commit has it as it was. */
    unkept: is.optional(paths),
  },
  "attempt.finished": {
    phase: about,
    attempt: number,
    outcome: is.oneOf(attemptOutcomes),
    exit_code: is.nullable(is.integer(Number.MIN_SAFE_INTEGER)),
    signal: is.nullable(is.matching(/^SIG[A-Z0-9+]{1,12}$/, "the name of a signal")),
    duration_ms: count,
    /** A word for programs, such as `no_result` or `output_too_large`, and a sentence for people. */
    reason: is.optional(is.text(64)),
    error_type: is.optional(is.oneOf(errorTypes)),
    message: is.optional(text),
    /** By model; null: nothing is known. */
    usage: is.nullable(is.list(usage)),
    /** The result was found on disk after the engine that started it had died. */
    adopted: is.optional(is.yes),
  },
  /** The session as a whole waits for the provider. `slots`: how many attempts may run after it; null: no limit. */
  "quota.hit": { phase: about, wait_ms: count, until: time, slots: is.nullable(count) },
  "tokens.used": { agent, phase: is.optional(about), ...tokenCounts },
  /** What is still to be done when this is written: the new plan's file, and the old one's move to the archive (null: it lies elsewhere). */
  "plan.revised": { plan, text: is.text(MAX_PLAN_BYTES), superseded: is.nullable(fileMove) },
  "view.adopted": {
    status: is.optional(sessionStatus),
    execution_mode: is.optional(executionMode),
    phases: is.list(adoptedPhase),
    token_usage: is.optional(tokenUsage),
  },
  /** Written before the first file moves, so that an interrupted archiving is finished by whoever comes next. */
  "archive.started": {
    status: sessionStatus,
    session_to: path,
    journal_to: path,
    moves: is.list(fileMove, 100),
  },
};

type Bodies = { [Type in keyof typeof bodies]: is.TypeOfFields<(typeof bodies)[Type]> };
export type EventType = keyof Bodies;
export type EventOf<Type extends EventType> = { type: Type } & Bodies[Type];
export type SessionEvent = { [Type in EventType]: EventOf<Type> }[EventType];

export type PhaseStatus = is.TypeOf<typeof phaseStatus>;
export type SessionStatus = is.TypeOf<typeof sessionStatus>;
export type ExecutionMode = is.TypeOf<typeof executionMode>;
export type ErrorRecord = is.TypeOf<typeof errorRecord>;
export type RecordedError = is.TypeOf<typeof recordedError>;
export type FailureCode = (typeof failureCodes)[number];
export type FileConflict = is.TypeOf<typeof fileConflict>;
export type ContextRecord = is.TypeOf<typeof downstreamContext>;
export type FileHashes = is.TypeOf<typeof fileHashes>;
export type FrozenPlan = is.TypeOf<typeof plan>;
export type FileMove = is.TypeOf<typeof fileMove>;
export type PhaseRecord = is.TypeOf<typeof phaseRecord>;
export type SessionRecord = is.TypeOf<typeof sessionRecord>;
export type AttemptOutcome = (typeof attemptOutcomes)[number];
export type Usage = is.TypeOf<typeof usage>;
export type FileChange = is.TypeOf<typeof fileChange>;
export type Evidence = is.TypeOf<typeof evidence>;
export type WarningCode = (typeof warningCodes)[number];
export type HandoffRecord = is.TypeOf<typeof handoff>;

/** Why an event is not one of ours, in one line; undefined when it is. Asked before anything is written. */
export function eventFault(event: { type: string }): string | undefined {
  return faultOf(event, event.type, written);
}

/** The same for a line of a journal, whose number and checksum have been looked at. Asked of every line that is read. */
export function recordFault(record: { type: unknown; ts: unknown }): string | undefined {
  if (typeof record.ts !== "string" || !recordTime.test(record.ts)) return "its time is not one";
  return faultOf(record, record.type, recorded);
}

const recordTime = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

type Shapes = ReadonlyMap<unknown, is.Shape<unknown>>;
const written = shapesOf(["type"]);
const recorded = shapesOf(["v", "seq", "ts", "type", "crc"], { more: is.optional(is.yes) });

function shapesOf(seen: readonly string[], besides: Readonly<Record<string, is.Shape<unknown>>> = {}): Shapes {
  const types = Object.entries<Readonly<Record<string, is.Shape<unknown>>>>(bodies);
  return new Map(types.map(([type, fields]) => [type, is.object({ ...besides, ...fields }, seen)]));
}

function faultOf(event: unknown, type: unknown, shapes: Shapes): string | undefined {
  const shape = shapes.get(type);
  if (shape === undefined) return `an event of unknown type ${is.quoted(type)}`;
  const fault = shape(event);
  return fault === undefined ? undefined : `${type}: ${is.faultText(fault)}`;
}

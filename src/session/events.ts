// The catalogue of session events, version 1: one shape per event. Types are inferred from it, and every event is checked against its
// shape before it is written and whenever it is read. To change the meaning of an event, add a version and a migration.

import { MAX_PLAN_BYTES } from "../plan/plan.ts";
import * as is from "../shape.ts";
import {
  about,
  adoptedPhase,
  agent,
  amounts,
  attemptId,
  baseline,
  batchName,
  chosenModel,
  commitId,
  count,
  type downstreamContext,
  type errorRecord,
  errorType,
  evidence,
  executionMode,
  type failureCodes,
  fileChange,
  type fileConflict,
  fileHashes,
  fileMove,
  files,
  handoff,
  importedRecord,
  modelName,
  name,
  number,
  path,
  paths,
  type phaseRecord,
  phaseStatus,
  plan,
  recordedError,
  reviewMode,
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
  workerName,
} from "./event-parts.ts";

/** The outcome of an attempt. `interrupted`: stopped by the user or a crash; `quota`: the provider rejected it for now. */
export const attemptOutcomes = ["success", "failure", "timeout", "quota", "interrupted"] as const;
/** Warnings: reported to the user, but the run continues. */
export const warningCodes = [
  /** The report does not name the files that changed. */
  "claims_differ",
  /** Files changed that the phase does not own. */
  "outside_scope",
  /** Two running attempts have changed the same lines. */
  "conflict_predicted",
  /** An agent that may not write changed files; the changes are not applied. */
  "not_applied",
  /** Files that a snapshot cannot hold, or that could not be read. */
  "left_out",
  /** The changes of an attempt cannot be distinguished from those of others. */
  "unjudged",
  /** Links that point outside the project. */
  "link_outside",
  /** Files that the plan declares as modified are untouched. */
  "not_modified",
] as const;
/** What the final review says about a requirement. */
export const verdicts = ["met", "not_met", "dropped"] as const;
/** Validation criteria that the user may give a retry. */
export const MAX_CRITERIA = 50;
/** Changed files of an attempt beyond this number are counted but not listed. */
export const MAX_LISTED_CHANGES = 2000;
/** The limit for listed files outside an attempt's scope. The next attempt does not continue from work that reaches it. */
export const MAX_LISTED_OUTSIDE = 20_000;

const optionalAdjustments = {
  /** The guidance for the next attempts. */
  guidance: is.optional(text),
  agent: is.optional(agent),
  model: is.optional(chosenModel),
  /** The time limit of its attempts. */
  timeout_ms: is.optional(count),
  /** Replace the plan's validation criteria. */
  criteria: is.optional(is.list(text, MAX_CRITERIA)),
};

const reviewed = { phases: is.list(about, 5000), batch: is.optional(number), tree: treeId };

/** The fields of each event besides its type. */
const bodies = {
  "session.created": {
    session_id: sessionId,
    task: is.nullable(text),
    execution_mode: is.nullable(executionMode),
    /** Absent: at the end. */
    review: is.optional(reviewMode),
    plan,
    baseline: is.optional(baseline),
    /** The most that the session may spend. */
    budget: is.optional(amounts),
    /** The user approved exactly this plan. */
    approved: is.optional(is.yes),
  },
  /** Created from a view without a journal, which a user, a script or an earlier version wrote. */
  "session.imported": { title: text, session: importedRecord },
  "session.mode_set": { execution_mode: executionMode },
  "session.review_set": { review: reviewMode },
  /** The whole budget from now on. `before`: what attempts without a recorded amount have spent. */
  "session.budget_set": { budget: amounts, before: amounts },
  /** No attempt can start: less is left than `phase` needs. `proposed`: a budget with which all open phases could continue. */
  "session.budget_spent": { phase: about, wanted: amounts, spent: amounts, proposed: amounts },
  /** `aborted`: the user ended the session for good. */
  "session.status_set": {
    status: sessionStatus,
    summary: is.optional(text),
    aborted: is.optional(is.yes),
    /** Why the user completes the session although requirements are open, not met or dropped. */
    accept_open: is.optional(text),
  },
  /** The engine took the baseline of commands that have none. */
  "session.baseline_taken": { baseline },
  "requirement.answered": { requirement: is.text(64), verdict: is.oneOf(verdicts), evidence: text },
  "session.noted": { text, phase: is.optional(about), agent: is.optional(agent) },
  "phase.moved": {
    phase: about,
    from: phaseStatus,
    to: phaseStatus,
    user_decision: is.optional(is.boolean),
    reason: is.optional(text),
    /** Hashes of the phase's own files when it starts; a resume compares with them. */
    hashes: is.optional(fileHashes),
    /** What the user changes for a retry; each holds from now on. */
    ...optionalAdjustments,
  },
  /** The user wants more work on a phase: a completed one, or one whose work was reviewed and rejected (`rejected`: the tree that was shown). */
  "phase.reopened": {
    phase: about,
    rejected: is.optional(treeId),
    guidance: is.optional(text),
    reason: is.optional(text),
    hashes: fileHashes,
  },
  /** The user is asked to review this tree; a later one replaces it. A batch has its number, a phase the attempt that worked on it. */
  "review.opened": { ...reviewed, attempt: is.optional(number) },
  /** The user approves exactly the tree that was shown. */
  "review.approved": { ...reviewed, reason: is.optional(text), user_decision: is.yes },
  "phase.files_added": { phase: about, ...files, hashes: fileHashes },
  "phase.handed_off": { phase: about, agent, handoff },
  /** A delegated agent was asked once to correct its report, and these parts are still missing: its phase is not completed. */
  "handoff.malformed": { phase: about, agent, missing: is.list(is.text(200), 100) },
  "phase.validated": {
    phase: about,
    result: is.oneOf(["pass", "fail", "skipped"]),
    detail: text,
    evidence: is.optional(evidence),
  },
  "phase.warned": { phase: about, code: is.oneOf(warningCodes), message: text },
  /** An agent asked for files that its phase does not own. `owner`: the unfinished phase because of which the request was refused. */
  "phase.scope_requested": {
    phase: about,
    agent,
    paths,
    reason: text,
    granted: is.boolean,
    owner: is.nullable(about),
  },
  /** The work of an attempt was applied to the project, which changed from tree `from` to tree `to`. */
  "phase.integrated": {
    phase: about,
    attempt: number,
    from: treeId,
    to: treeId,
    user_decision: is.optional(is.boolean),
  },
  /** The user removed the work of an attempt from the project. */
  "phase.reverted": { phase: about, attempt: number, from: treeId, to: treeId },
  "phase.error_added": { phase: about, error: recordedError },
  /** Durable before the process starts. `batch` and `name` give the path of its files: parallel/<batch>/results/<name>.json */
  "attempt.started": {
    phase: about,
    attempt: number,
    agent,
    /** The run that started it; the environment of its processes has the same id. */
    run: name,
    runtime: runtimeName,
    /** The runtime that was chosen for the agent and could not continue. */
    instead_of: is.optional(runtimeName),
    model: is.nullable(modelName),
    batch: batchName,
    name: attemptId,
    prompt_bytes: count,
    timeout_ms: count,
    /** The most that it may use, taken from the budget until its end; absent without a budget. */
    reserved: is.optional(amounts),
    /** It is offered to workers; `attempt.claimed` names the one that took it. */
    remote: is.optional(is.yes),
  },
  /** A worker has taken the attempt: its time limit counts from here. */
  "attempt.claimed": { phase: about, attempt: number, worker: workerName },
  /** Where the attempt works, durable before its process starts: its own worktree, or the project (null). `base`: the commit it starts from. */
  "attempt.placed": {
    phase: about,
    attempt: number,
    worktree: is.nullable(name),
    base: is.nullable(commitId),
  },
  /** The changes of the attempt, read from its files. `commit` contains them, with `base` as its parent; null outside git. */
  "attempt.changed": {
    phase: about,
    attempt: number,
    base: is.nullable(commitId),
    commit: is.nullable(commitId),
    files: is.list(fileChange, MAX_LISTED_CHANGES),
    total: count,
    /** Lines added and removed, over all files. */
    added: count,
    removed: count,
    /** The changed files that the phase does not own. */
    outside: paths,
    /** Files in `outside` that were too large to keep: the commit has their old content. */
    unkept: is.optional(paths),
  },
  "attempt.finished": {
    phase: about,
    attempt: number,
    outcome: is.oneOf(attemptOutcomes),
    exit_code: is.nullable(is.integer(Number.MIN_SAFE_INTEGER)),
    signal: is.nullable(is.matching(/^SIG[A-Z0-9+]{1,12}$/, "the name of a signal")),
    duration_ms: count,
    /** A code such as `no_result` or `output_too_large`; `message` is its text for people. */
    reason: is.optional(is.text(64)),
    error_type: is.optional(errorType),
    message: is.optional(text),
    /** The end of what an attempt printed that ran out of time. */
    partial_output: is.optional(is.text(10_000)),
    /** Per model; null when the usage is unknown. */
    usage: is.nullable(is.list(usage)),
    /** What it is charged to the budget; absent when it had reserved nothing. */
    spent: is.optional(amounts),
    /** A later engine found the result on disk after the engine that started the attempt had died. */
    adopted: is.optional(is.yes),
  },
  /** The whole session waits for the provider. `slots`: how many attempts may run afterwards; null for no limit. */
  "quota.hit": { phase: about, wait_ms: count, until: time, slots: is.nullable(count) },
  "tokens.used": { agent, phase: is.optional(about), ...tokenCounts },
  /** Written before the new plan's file is created and the old one is moved to the archive (`superseded`; null if it is not in the plans directory). */
  "plan.revised": {
    plan,
    text: is.text(MAX_PLAN_BYTES),
    superseded: is.nullable(fileMove),
    /** The version that the session followed, when its file was edited and no longer has it. */
    earlier: is.optional(is.text(MAX_PLAN_BYTES)),
    /** The file in the plans directory whose content became the revision: it is deleted, if it still has this hash. */
    taken: is.optional(is.object({ path, hash: is.text(128) })),
  },
  "view.adopted": {
    status: is.optional(sessionStatus),
    execution_mode: is.optional(executionMode),
    phases: is.list(adoptedPhase),
    token_usage: is.optional(tokenUsage),
  },
  /** Written before the first file moves, so that the next command can finish an interrupted archiving. */
  "archive.started": {
    status: sessionStatus,
    session_to: path,
    journal_to: path,
    moves: is.list(fileMove, 100),
    accept_open: is.optional(text),
  },
};

type Bodies = { [Type in keyof typeof bodies]: is.TypeOfFields<(typeof bodies)[Type]> };
export type EventType = keyof Bodies;
export type EventOf<Type extends EventType> = { type: Type } & Bodies[Type];
export type SessionEvent = { [Type in EventType]: EventOf<Type> }[EventType];

export type PhaseStatus = is.TypeOf<typeof phaseStatus>;
export type SessionStatus = is.TypeOf<typeof sessionStatus>;
export type ExecutionMode = is.TypeOf<typeof executionMode>;
export type ReviewMode = is.TypeOf<typeof reviewMode>;
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
export type RequirementVerdict = (typeof verdicts)[number];
export type WarningCode = (typeof warningCodes)[number];
export type Adjustments = is.TypeOfFields<typeof optionalAdjustments>;
export type HandoffRecord = is.TypeOf<typeof handoff>;

/** Why an event is not valid, in one line; undefined if it is. Checked before anything is written. */
export function eventFault(event: { type: string }): string | undefined {
  const shape = written.get(event.type);
  return shape === undefined ? unknownType(event) : lineOf(shape(event), event);
}

/** As eventFault, for every journal line that is read, after its number and checksum were checked. */
export function recordFault(record: { type: unknown; ts: unknown }): string | undefined {
  if (typeof record.ts !== "string" || !recordTime.test(record.ts)) return "its time is not valid";
  const shape = recorded.get(record.type);
  if (shape === undefined) return unknownType(record);
  const fault = shape(record);
  return fault === undefined ? undefined : lineOf(fault, record);
}

const recordTime = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

type Shapes = ReadonlyMap<unknown, is.Shape<unknown>>;
const written = shapesOf(["type"]);
const recorded = shapesOf(["v", "seq", "ts", "type", "crc"], { more: is.optional(is.yes) });

function shapesOf(seen: readonly string[], besides: Readonly<Record<string, is.Shape<unknown>>> = {}): Shapes {
  const types = Object.entries<Readonly<Record<string, is.Shape<unknown>>>>(bodies);
  return new Map(types.map(([type, fields]) => [type, is.object({ ...besides, ...fields }, seen)]));
}

function unknownType({ type }: { type: unknown }): string {
  return `an event of unknown type ${is.quoted(type)}`;
}

function lineOf(fault: is.Fault | undefined, { type }: { type: unknown }): string | undefined {
  return fault === undefined ? undefined : `${type}: ${is.faultText(fault)}`;
}

// The catalogue of what can happen to a session: one schema per event, version 1. Types are inferred from here.
// A change of meaning is a new version and a migration, never an edit. Nothing that a hook loads imports this at run time.

import { errorTypes } from "../handoff/error-type.ts";
import * as z from "../schema.ts";

export const phaseStatuses = ["pending", "in_progress", "completed", "failed", "skipped", "aborted"] as const;
export const sessionStatuses = ["in_progress", "completed", "failed", "interrupted"] as const;
export const executionModes = ["parallel", "sequential"] as const;
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
] as const;
const changeKinds = ["created", "modified", "deleted", "renamed"] as const;
/** More files of one attempt than these are counted, not listed. */
export const MAX_LISTED_CHANGES = 2000;
/** Of files outside of its scope an attempt may leave more; what was done before it is then not carried on. */
export const MAX_LISTED_OUTSIDE = 20_000;

const word = (max: number) => z.string().check(z.minLength(1), z.maxLength(max));
const text = z.string().check(z.maxLength(1_000_000));
const id = word(64);
const path = word(4096);
const paths = z.array(path).check(z.maxLength(100_000));
/** A role of the roster: nothing that could be mistaken for a property of Object. */
const agent = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/));
const count = z.int().check(z.nonnegative());
/** From 1. */
const number = z.int().check(z.gte(1));

const phaseStatus = z.enum(phaseStatuses);
const sessionStatus = z.enum(sessionStatuses);
const executionMode = z.enum(executionModes);

const downstreamContext = z.once(() =>
  z.strictObject({
    key_interfaces_introduced: z.array(text),
    patterns_established: z.array(text),
    integration_points: z.array(text),
    assumptions: z.array(text),
    warnings: z.array(text),
  }),
);

const errorRecord = z.once(() =>
  z.strictObject({
    agent,
    timestamp: z.string(),
    type: z.enum(errorTypes),
    message: text,
    resolution: text,
    resolved: z.boolean(),
  }),
);

const tokens = z.once(() => z.strictObject({ input: count, output: count, cached: count }));
/** `input` has the cached tokens in it, `output` has not the thoughts. The model is null when the runtime does not name it. */
const usage = z.once(() => z.strictObject({ model: z.nullable(z.string()), ...tokens().shape, thoughts: count }));

/** Content hash of a project file; null: it was not there; "unknown": not a file we could hash. */
const fileHashes = z.once(() => z.record(path, z.nullable(z.string())));

const files = { created: paths, modified: paths, deleted: paths };

const planPhase = z.once(() =>
  z.strictObject({
    id,
    title: text,
    agent,
    description: text,
    validation_criteria: z.array(text),
    validation: z.array(text),
    parallel: z.boolean(),
    blocked_by: z.array(id),
    files_created: paths,
    files_modified: paths,
    files_deleted: paths,
    estimate: z.optional(
      z.strictObject({
        input_tokens: z.optional(z.number()),
        output_tokens: z.optional(z.number()),
        minutes: z.optional(z.number()),
      }),
    ),
  }),
);

/** A phase as `active-session.md` shows it: what an adopted view brings with it. */
export const phaseRecord = z.once(() =>
  z.strictObject({
    id,
    name: text,
    status: phaseStatus,
    agents: z.array(agent),
    parallel: z.boolean(),
    started: z.nullable(z.string()),
    completed: z.nullable(z.string()),
    blocked_by: z.array(id),
    files_created: paths,
    files_modified: paths,
    files_deleted: paths,
    downstream_context: downstreamContext(),
    errors: z.array(errorRecord()),
    retry_count: count,
  }),
);

/** The front matter of `active-session.md`, keys as the view writes them. */
export const sessionRecord = z.once(() =>
  z.strictObject({
    session_id: word(200),
    created: z.string(),
    updated: z.string(),
    status: sessionStatus,
    design_document: z.nullable(path),
    implementation_plan: z.nullable(path),
    execution_mode: z.nullable(executionMode),
    current_phase: z.nullable(id),
    total_phases: count,
    token_usage: z.strictObject({
      total_input: count,
      total_output: count,
      total_cached: count,
      by_agent: z.record(agent, tokens()),
    }),
    phases: z.array(phaseRecord()),
  }),
);

/** Of a commit or a tree. */
const objectId = z.string().check(z.regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/));

/** One file, as the tree tells it. Lines are null where there are none to count. */
const fileChange = z.once(() =>
  z.strictObject({
    path,
    kind: z.enum(changeKinds),
    /** Where it was, when it was renamed. */
    from: z.optional(path),
    added: z.nullable(count),
    removed: z.nullable(count),
  }),
);

/** What a validation command did, on which tree (null: on the project as it was). */
const evidence = z.once(() =>
  z.strictObject({
    tree: z.nullable(objectId),
    commands: z.array(
      z.strictObject({ command: text, exit_code: z.nullable(z.int()), duration_ms: count, output: text }),
    ),
  }),
);

const fileMove = z.once(() => z.strictObject({ from: path, to: path }));

const plan = z.once(() =>
  z.strictObject({
    title: text,
    path: z.nullable(path),
    /** sha256 of the plan file's bytes when it was frozen. */
    hash: z.string(),
    design_document: z.nullable(path),
    phases: z.array(planPhase()),
  }),
);

const handoff = z.once(() =>
  z.strictObject({
    status: z.nullable(z.enum(["success", "partial", "failure"])),
    missing: z.array(z.string()),
    summary: text,
    downstream_context: downstreamContext(),
  }),
);

/** What a hand edit of the view may change on a phase; everything else in it is ours. */
const adoptedPhase = z.once(() =>
  z.strictObject({
    id,
    status: z.optional(phaseStatus),
    files: z.optional(z.strictObject(files)),
    downstream_context: z.optional(downstreamContext()),
    errors: z.optional(z.array(errorRecord())),
  }),
);

const bodies = {
  "session.created": z.once(() =>
    z.strictObject({
      session_id: word(200),
      task: z.nullable(text),
      execution_mode: z.nullable(executionMode),
      plan: plan(),
    }),
  ),
  /** A view that had no journal: written by hand, by a script or by an earlier version. */
  "session.imported": z.once(() => z.strictObject({ title: text, session: sessionRecord() })),
  "session.mode_set": z.once(() => z.strictObject({ execution_mode: executionMode })),
  /** `aborted`: a person ended it for good. */
  "session.status_set": z.once(() =>
    z.strictObject({
      status: sessionStatus,
      summary: z.optional(text),
      aborted: z.optional(z.literal(true)),
    }),
  ),
  "session.noted": z.once(() => z.strictObject({ text, phase: z.optional(id), agent: z.optional(agent) })),
  "phase.moved": z.once(() =>
    z.strictObject({
      phase: id,
      from: phaseStatus,
      to: phaseStatus,
      user_decision: z.optional(z.boolean()),
      reason: z.optional(text),
      /** Hashes of the files the phase owns, taken when it starts: what a resume compares with. */
      hashes: z.optional(fileHashes()),
      /** From now on its attempts may take that long. */
      timeout_ms: z.optional(count),
    }),
  ),
  "phase.files_added": z.once(() => z.strictObject({ phase: id, ...files, hashes: fileHashes() })),
  "phase.handed_off": z.once(() => z.strictObject({ phase: id, agent, handoff: handoff() })),
  /** A delegated agent was sent back once and still reported without these parts: its phase is not completed. */
  "handoff.malformed": z.once(() =>
    z.strictObject({ phase: id, agent, missing: z.array(z.string().check(z.maxLength(200))).check(z.maxLength(100)) }),
  ),
  "phase.validated": z.once(() =>
    z.strictObject({
      phase: id,
      result: z.enum(["pass", "fail", "skipped"]),
      detail: text,
      evidence: z.optional(evidence()),
    }),
  ),
  "phase.warned": z.once(() => z.strictObject({ phase: id, code: z.enum(warningCodes), message: text })),
  /** An agent asked for more than its phase owns. `owner`: the unfinished phase that stood against it. */
  "phase.scope_requested": z.once(() =>
    z.strictObject({
      phase: id,
      agent,
      paths,
      reason: text,
      granted: z.boolean(),
      owner: z.nullable(id),
    }),
  ),
  /** The work of an attempt is in the project, which was the tree `from` and is the tree `to`. */
  "phase.integrated": z.once(() =>
    z.strictObject({
      phase: id,
      attempt: number,
      from: objectId,
      to: objectId,
      user_decision: z.optional(z.boolean()),
    }),
  ),
  /** A person took the work of an attempt out of the project again. */
  "phase.reverted": z.once(() => z.strictObject({ phase: id, attempt: number, from: objectId, to: objectId })),
  "phase.error_added": z.once(() => z.strictObject({ phase: id, error: errorRecord() })),
  /** Durable before the process exists. `batch` and `name` say where its files are: parallel/<batch>/results/<name>.json */
  "attempt.started": z.once(() =>
    z.strictObject({
      phase: id,
      attempt: number,
      agent,
      /** Which engine started it; its processes carry the same word. */
      run: word(64),
      runtime: word(64),
      model: z.nullable(z.string()),
      batch: word(255),
      name: word(255),
      prompt_bytes: count,
      timeout_ms: count,
    }),
  ),
  /** Where it works, durable before its process exists: a worktree of its own, or (null) the project. `base`: what it began with. */
  "attempt.placed": z.once(() =>
    z.strictObject({
      phase: id,
      attempt: number,
      worktree: z.nullable(word(128)),
      base: z.nullable(objectId),
    }),
  ),
  /** What it did, read from the tree. `commit` holds it, with `base` as its parent; null outside git. */
  "attempt.changed": z.once(() =>
    z.strictObject({
      phase: id,
      attempt: number,
      base: z.nullable(objectId),
      commit: z.nullable(objectId),
      files: z.array(fileChange()).check(z.maxLength(MAX_LISTED_CHANGES)),
      total: count,
      /** Lines of all of them. */
      added: count,
      removed: count,
      /** Those that the phase does not own. */
      outside: paths,
    }),
  ),
  "attempt.finished": z.once(() =>
    z.strictObject({
      phase: id,
      attempt: number,
      outcome: z.enum(attemptOutcomes),
      exit_code: z.nullable(z.int()),
      signal: z.nullable(z.string()),
      duration_ms: count,
      /** A word for programs, such as `no_result` or `output_too_large`, and a sentence for people. */
      reason: z.optional(z.string().check(z.maxLength(64))),
      error_type: z.optional(z.enum(errorTypes)),
      message: z.optional(text),
      /** By model; null: nothing is known. */
      usage: z.nullable(z.array(usage())),
      /** The result was found on disk after the engine that started it had died. */
      adopted: z.optional(z.literal(true)),
    }),
  ),
  /** The session as a whole waits for the provider. `slots`: how many attempts may run after it; null: no limit. */
  "quota.hit": z.once(() => z.strictObject({ phase: id, wait_ms: count, until: z.string(), slots: z.nullable(count) })),
  "tokens.used": z.once(() => z.strictObject({ agent, phase: z.optional(id), ...tokens().shape })),
  /** What is still to be done when this is written: the new plan's file, and the old one's move to the archive (null: it lies elsewhere). */
  "plan.revised": z.once(() => z.strictObject({ plan: plan(), text: z.string(), superseded: z.nullable(fileMove()) })),
  "view.adopted": z.once(() =>
    z.strictObject({
      status: z.optional(sessionStatus),
      execution_mode: z.optional(executionMode),
      phases: z.array(adoptedPhase()),
      token_usage: z.optional(sessionRecord().shape.token_usage),
    }),
  ),
  /** Written before the first file moves, so that an interrupted archiving is finished by whoever comes next. */
  "archive.started": z.once(() =>
    z.strictObject({
      status: sessionStatus,
      session_to: path,
      journal_to: path,
      moves: z.array(fileMove()),
    }),
  ),
};

type Bodies = { [Type in keyof typeof bodies]: z.infer<ReturnType<(typeof bodies)[Type]>> };
export type EventType = keyof Bodies;
export type EventOf<Type extends EventType> = { type: Type } & Bodies[Type];
export type SessionEvent = { [Type in EventType]: EventOf<Type> }[EventType];

export type PhaseStatus = z.infer<typeof phaseStatus>;
export type SessionStatus = z.infer<typeof sessionStatus>;
export type ExecutionMode = z.infer<typeof executionMode>;
export type ErrorRecord = z.infer<ReturnType<typeof errorRecord>>;
export type DownstreamContext = z.infer<ReturnType<typeof downstreamContext>>;
export type FileHashes = z.infer<ReturnType<typeof fileHashes>>;
export type FrozenPlan = z.infer<ReturnType<typeof plan>>;
export type FileMove = z.infer<ReturnType<typeof fileMove>>;
export type PhaseRecord = z.infer<ReturnType<typeof phaseRecord>>;
export type SessionRecord = z.infer<ReturnType<typeof sessionRecord>>;
export type AttemptOutcome = (typeof attemptOutcomes)[number];
export type Usage = z.infer<ReturnType<typeof usage>>;
export type FileChange = z.infer<ReturnType<typeof fileChange>>;
export type Evidence = z.infer<ReturnType<typeof evidence>>;
export type WarningCode = (typeof warningCodes)[number];
export type HandoffRecord = z.infer<ReturnType<typeof handoff>>;

/** Why an event is not one of ours, in one line; undefined when it is. Used before writing and by `maestro doctor`. */
export function eventFault(event: { type: string }): string | undefined {
  const { type, ...body } = event;
  if (!Object.hasOwn(bodies, type)) return `unknown event type "${type}"`;
  const parsed = bodies[type as EventType]().safeParse(body);
  if (parsed.success) return undefined;
  const issue = parsed.error.issues[0];
  return `${type}: ${issue?.path.join(".") || "event"}: ${issue?.message}`;
}

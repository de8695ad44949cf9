// The shapes that events are built from: ids, names, paths, plans, reports. Every name of a file, a directory, a git object or an agent
// must match a pattern, because the journal may have been written by another program.

import { type ErrorType, errorClasses } from "../handoff/output/error-type.ts";
import {
  type AttemptId,
  attemptIdForm,
  type CommitId,
  labelForm,
  objectIdForm,
  type PhaseId,
  phaseIdForm,
  type SessionId,
  sessionIdForm,
  type TreeId,
  workerNameForm,
} from "../ids.ts";
import { baselineResults } from "../plan/baseline.ts";
import { MAX_LABELS } from "../plan/plan.ts";
import * as is from "../shape.ts";
import { orderFault, planFault } from "./plan-fault.ts";

export const phaseStatuses = ["pending", "in_progress", "completed", "failed", "skipped", "aborted"] as const;
export const sessionStatuses = ["in_progress", "completed", "failed", "interrupted"] as const;
export const executionModes = ["parallel", "sequential"] as const;
/** When the user reviews the work: at the end of the run, after each batch, or before the work of each phase is applied. */
export const reviewModes = ["end", "batch", "phase"] as const;
const changeKinds = ["created", "modified", "deleted", "renamed"] as const;

export const text = is.text(1_000_000);
export const time = is.time;
export const path = is.path;
export const paths = is.paths;
const id = is.matching<PhaseId>(phaseIdForm, "the id of a phase");
/** The phase that an event is about; the fold rejects an id that no phase has. */
export const about = is.text(64) as is.Shape<PhaseId>;
/** The name of a batch of attempts, which has the form of a session id. */
export const batchName = is.matching(sessionIdForm, "the id of a session");
export const sessionId = is.matching<SessionId>(sessionIdForm, "the id of a session");
/** The engine's name for a run, a worktree or an attempt's files: one path component. */
export const name = is.matching(attemptIdForm, "a name");
export const attemptId = is.matching<AttemptId>(attemptIdForm, "a name");
export const runtimeName = is.matching(/^[A-Za-z0-9][ -~]{0,199}$/, "the name of a runtime");
export const modelName = is.matching(/^[^\p{C}]{1,200}$/u, "the name of a model");
/** It becomes an argument of a command line, where a leading hyphen would make it an option. */
const chosenModelForm = /^[^\s\p{C}-][^\p{C}]{0,199}$/u;
export const chosenModel = is.matching(chosenModelForm, "the name of a model");
/** An agent of the roster; the pattern excludes names such as __proto__, which are properties of Object. */
export const agent = is.matching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, "the name of an agent");
/** The limit is small enough that a thousand of them can be added without losing precision. */
export const count = is.integer(0, 1e12);
/** The number of an attempt. */
export const number = is.integer(1, 1e6);
export const treeId = is.matching<TreeId>(objectIdForm, "a full object id");
export const commitId = is.matching<CommitId>(objectIdForm, "a full object id");

const label = is.matching(labelForm, "a label");
export const workerName = is.matching(workerNameForm, "the name of a worker");

export function isModelName(text: string): boolean {
  return chosenModelForm.test(text);
}

export const phaseStatus = is.oneOf(phaseStatuses);
export const sessionStatus = is.oneOf(sessionStatuses);
export const executionMode = is.oneOf(executionModes);
export const reviewMode = is.oneOf(reviewModes);

export const downstreamContext = is.object({
  key_interfaces_introduced: is.list(text),
  patterns_established: is.list(text),
  integration_points: is.list(text),
  assumptions: is.list(text),
  warnings: is.list(text),
});

/** Journals of earlier versions have a seventh type, "auth"; the fold reads it as "runtime", and no decision records it. */
export const errorType = is.oneOf(errorClasses) as is.Shape<ErrorType>;

const errorFields = {
  agent,
  timestamp: time,
  type: errorType,
  message: text,
  resolution: text,
  resolved: is.boolean,
};

/** An error as `active-session.md` shows it. */
export const errorRecord = is.object(errorFields);

/** Failures for which Maestro shows a specific hint. */
export const failureCodes = ["outside_scope", "sensitive_change", "file_conflict", "not_delivered"] as const;
/** Conflicting files beyond this number are not listed with an error. */
export const MAX_LISTED_CONFLICTS = 2000;

/** A file that was changed while an attempt worked on it. `by` is empty when no phase of the session changed it. */
export const fileConflict = is.object({ path, by: is.list(is.object({ phase: about, agent }), 1000) });

/** An error as the journal records it. Journals of earlier versions have neither a code nor conflicts. */
export const recordedError = is.object({
  ...errorFields,
  code: is.optional(is.oneOf(failureCodes)),
  conflicts: is.optional(is.list(fileConflict, MAX_LISTED_CONFLICTS)),
});

export const tokenCounts = { input: count, output: count, cached: count };
const tokens = is.object(tokenCounts);
/** `input` includes cached tokens, `output` excludes thoughts. The model is null when the runtime does not name it. */
export const usage = is.object({ model: is.nullable(modelName), ...tokenCounts, thoughts: count });

/** Amounts of a budget by unit. A limit is never zero, but an amount that was spent may be. */
export const amounts = is.object({
  usd: is.optional(is.number(0)),
  tok: is.optional(count),
  req: is.optional(count),
});

/** Content hash of a project file; null if it did not exist, "unknown" if it could not be hashed. */
export const fileHashes = is.wordsByPath;

export const files = { created: paths, modified: paths, deleted: paths };

const planPhase = is.object({
  id,
  title: text,
  agent,
  description: text,
  validation_criteria: is.list(text),
  validation: is.list(text),
  /** Journals of earlier versions have none of these three. */
  not_worse: is.optional(is.list(text)),
  meant_to_pass: is.optional(is.list(text)),
  requirements: is.optional(is.list(is.text(64))),
  parallel: is.boolean,
  blocked_by: is.list(id),
  files_created: paths,
  files_modified: paths,
  files_deleted: paths,
  runtime: is.optional(runtimeName),
  model: is.optional(chosenModel),
  review_by: is.optional(is.oneOf(["other"])),
  estimate: is.optional(
    is.object({
      input_tokens: is.optional(is.finite),
      output_tokens: is.optional(is.finite),
      minutes: is.optional(is.finite),
    }),
  ),
  /** The most that one attempt of the phase may use. */
  budget: is.optional(amounts),
  /** Labels that a worker must have to run it. */
  needs: is.optional(is.list(label, MAX_LABELS)),
});

/** A phase as `active-session.md` shows it, and as an adopted view contains it. */
export const phaseRecord = is.object({
  id,
  name: text,
  status: phaseStatus,
  agents: is.list(agent),
  parallel: is.boolean,
  started: is.nullable(time),
  completed: is.nullable(time),
  blocked_by: is.list(id),
  files_created: paths,
  files_modified: paths,
  files_deleted: paths,
  downstream_context: downstreamContext,
  errors: is.list(errorRecord),
  retry_count: count,
});

export const tokenUsage = is.object({
  total_input: count,
  total_output: count,
  total_cached: count,
  by_agent: is.record(agent, tokens),
});

/** The front matter of `active-session.md`, keys as the view writes them. */
export const sessionRecord = is.object({
  session_id: sessionId,
  created: time,
  updated: time,
  status: sessionStatus,
  design_document: is.nullable(path),
  implementation_plan: is.nullable(path),
  execution_mode: is.nullable(executionMode),
  current_phase: is.nullable(id),
  total_phases: count,
  token_usage: tokenUsage,
  phases: is.list(phaseRecord),
});

export const importedRecord = is.refined(sessionRecord, ({ phases }) => orderFault(phases));

/** One changed file, from a comparison of trees. The line counts are null for a binary file. */
export const fileChange = is.object({
  path,
  kind: is.oneOf(changeKinds),
  /** The old path of a renamed file. */
  from: is.optional(path),
  added: is.nullable(count),
  removed: is.nullable(count),
});

/** The results of validation commands, and the tree they ran on (null for the project itself). */
export const evidence = is.object({
  tree: is.nullable(treeId),
  commands: is.list(
    is.object({
      command: text,
      exit_code: is.nullable(is.integer(Number.MIN_SAFE_INTEGER)),
      duration_ms: count,
      output: text,
      /** It failed, as it did before the work: neither proof nor a failure. */
      not_worse: is.optional(is.yes),
    }),
  ),
});

/** What validation commands do on the untouched project. */
export const baseline = is.list(
  is.object({
    command: text,
    result: is.oneOf(baselineResults),
    exit_code: is.nullable(is.integer(Number.MIN_SAFE_INTEGER)),
    failing: is.nullable(is.list(text)),
  }),
);

export const fileMove = is.object({ from: path, to: path });

const planShape = is.object({
  title: text,
  path: is.nullable(path),
  /** sha256 of the plan file's bytes when it was frozen. */
  hash: is.matching(/^[0-9a-f]{64}$/, "a hash"),
  design_document: is.nullable(path),
  /** Those of the design; absent when it names none. */
  requirements: is.optional(is.list(is.object({ id: is.matching(phaseIdForm, "an id"), text }))),
  phases: is.list(planPhase),
});

/** Also checks what the shape cannot: that the plan does not contradict itself. */
export const plan = is.refined(planShape, ({ phases }) => planFault(phases));

export const handoff = is.object({
  status: is.nullable(is.oneOf(["success", "partial", "failure"])),
  missing: is.list(is.text(1000)),
  summary: text,
  /** What the agent says about its validation: a claim, not proof. */
  validation: is.optional(
    is.object({ result: is.nullable(is.oneOf(["pass", "fail", "skipped"])), text: is.text(10_000) }),
  ),
  downstream_context: downstreamContext,
});

/** The fields of a phase that a manual edit of the view may change. */
export const adoptedPhase = is.object({
  id,
  status: is.optional(phaseStatus),
  files: is.optional(is.object(files)),
  downstream_context: is.optional(downstreamContext),
  errors: is.optional(is.list(errorRecord)),
});

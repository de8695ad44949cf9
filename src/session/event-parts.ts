// The parts that events are made of: ids, names, paths, plans, reports. What names a file, a directory, a git object or an agent is held
// to a pattern here, because it comes from a file that anybody may have written.

import { errorTypes } from "../handoff/output/error-type.ts";
import {
  type AttemptId,
  attemptIdForm,
  type CommitId,
  objectIdForm,
  type PhaseId,
  phaseIdForm,
  type SessionId,
  sessionIdForm,
  type TreeId,
} from "../ids.ts";
import * as is from "../shape.ts";
import { orderFault, planFault } from "./plan-fault.ts";

export const phaseStatuses = ["pending", "in_progress", "completed", "failed", "skipped", "aborted"] as const;
export const sessionStatuses = ["in_progress", "completed", "failed", "interrupted"] as const;
export const executionModes = ["parallel", "sequential"] as const;
const changeKinds = ["created", "modified", "deleted", "renamed"] as const;

export const text = is.text(1_000_000);
export const time = is.time;
export const path = is.path;
export const paths = is.paths;
const id = is.matching<PhaseId>(phaseIdForm, "the id of a phase");
/** Which phase an event is about: the fold refuses what is not the id of one. */
export const about = is.text(64) as is.Shape<PhaseId>;
/** Of a batch of attempts; it has the form of the id of a session. */
export const batchName = is.matching(sessionIdForm, "the id of a session");
export const sessionId = is.matching<SessionId>(sessionIdForm, "the id of a session");
/** What the engine calls a run, a worktree, the files of an attempt: one component of a path. */
export const name = is.matching(attemptIdForm, "a name");
export const attemptId = is.matching<AttemptId>(attemptIdForm, "a name");
export const runtimeName = is.matching(/^[A-Za-z0-9][\w.:-]{0,63}$/, "the name of a runtime");
export const modelName = is.matching(/^[^\p{C}]{1,200}$/u, "the name of a model");
/** A role of the roster: nothing that could be mistaken for a property of Object. */
export const agent = is.matching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, "the name of an agent");
/** So many of them can be added up a thousand times. */
export const count = is.integer(0, 1e12);
/** Of an attempt. */
export const number = is.integer(1, 1e6);
export const treeId = is.matching<TreeId>(objectIdForm, "a full object id");
export const commitId = is.matching<CommitId>(objectIdForm, "a full object id");

export const phaseStatus = is.oneOf(phaseStatuses);
export const sessionStatus = is.oneOf(sessionStatuses);
export const executionMode = is.oneOf(executionModes);

export const downstreamContext = is.object({
  key_interfaces_introduced: is.list(text),
  patterns_established: is.list(text),
  integration_points: is.list(text),
  assumptions: is.list(text),
  warnings: is.list(text),
});

const errorFields = {
  agent,
  timestamp: time,
  type: is.oneOf(errorTypes),
  message: text,
  resolution: text,
  resolved: is.boolean,
};

/** An error as `active-session.md` shows it. */
export const errorRecord = is.object(errorFields);

/** Failures that call for a hint of their own. */
export const failureCodes = ["outside_scope", "sensitive_change", "file_conflict"] as const;
/** More conflicting files than these are not listed with an error. */
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
/** `input` has the cached tokens in it, `output` has not the thoughts. The model is null when the runtime does not name it. */
export const usage = is.object({ model: is.nullable(modelName), ...tokenCounts, thoughts: count });

/** Content hash of a project file; null: it was not there; "unknown": not a file we could hash. */
export const fileHashes = is.wordsByPath;

export const files = { created: paths, modified: paths, deleted: paths };

const planPhase = is.object({
  id,
  title: text,
  agent,
  description: text,
  validation_criteria: is.list(text),
  validation: is.list(text),
  parallel: is.boolean,
  blocked_by: is.list(id),
  files_created: paths,
  files_modified: paths,
  files_deleted: paths,
  estimate: is.optional(
    is.object({
      input_tokens: is.optional(is.finite),
      output_tokens: is.optional(is.finite),
      minutes: is.optional(is.finite),
    }),
  ),
});

/** A phase as `active-session.md` shows it: what an adopted view brings with it. */
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

export const importedSession = is.refined(sessionRecord, ({ phases }) => orderFault(phases));

/** One file, as the tree tells it. Lines are null where there are none to count. */
export const fileChange = is.object({
  path,
  kind: is.oneOf(changeKinds),
  /** Where it was, when it was renamed. */
  from: is.optional(path),
  added: is.nullable(count),
  removed: is.nullable(count),
});

/** What a validation command did, on which tree (null: on the project as it was). */
export const evidence = is.object({
  tree: is.nullable(treeId),
  commands: is.list(
    is.object({
      command: text,
      exit_code: is.nullable(is.integer(Number.MIN_SAFE_INTEGER)),
      duration_ms: count,
      output: text,
    }),
  ),
});

export const fileMove = is.object({ from: path, to: path });

const planShape = is.object({
  title: text,
  path: is.nullable(path),
  /** sha256 of the plan file's bytes when it was frozen. */
  hash: is.matching(/^[0-9a-f]{64}$/, "a hash"),
  design_document: is.nullable(path),
  phases: is.list(planPhase),
});

/** A plan of the right shape may still contradict itself. */
export const plan = is.refined(planShape, ({ phases }) => planFault(phases));

export const handoff = is.object({
  status: is.nullable(is.oneOf(["success", "partial", "failure"])),
  missing: is.list(is.text(1000)),
  summary: text,
  downstream_context: downstreamContext,
});

/** What a hand edit of the view may change on a phase; everything else in it is ours. */
export const adoptedPhase = is.object({
  id,
  status: is.optional(phaseStatus),
  files: is.optional(is.object(files)),
  downstream_context: is.optional(downstreamContext),
  errors: is.optional(is.list(errorRecord)),
});

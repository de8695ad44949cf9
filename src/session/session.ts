// The types of a folded session, and questions about them. Only the fold changes these objects; all other code reads them.

import type { Amounts } from "../amounts.ts";
import type { CommitId, PhaseId, TreeId } from "../ids.ts";
import type { BaselineCommand } from "../plan/baseline.ts";
import type { Requirement } from "../plan/plan.ts";
import type {
  Adjustments,
  EventOf,
  Evidence,
  ExecutionMode,
  FileHashes,
  FrozenPlan,
  HandoffRecord,
  PhaseRecord,
  RecordedError,
  RequirementVerdict,
  ReviewMode,
  SessionRecord,
  WarningCode,
} from "./events.ts";

/** One process (or native delegation) that worked on a phase. */
export interface Attempt extends Omit<EventOf<"attempt.started">, "type" | "phase"> {
  started: string;
  /** Null while it runs, and when no engine recorded its end. */
  finished: string | null;
  result: AttemptResult | null;
  /** The result and time of the engine's validation of its work. */
  validated?: { at: string; result: "pass" | "fail" | "skipped" };
  /** Sequence number of its start event. */
  seq: number;
  /** The worker that took it, and when; absent in an attempt of this machine, and while it waits in the queue. */
  worker?: string;
  claimed?: string;
  /** Where it works and the commit it started from; absent until recorded. */
  placed?: { worktree: string | null; base: CommitId | null };
  /** Its changes, read from its files. */
  changes?: Changes;
  /** Set while its work is in the project; `seq` is the event that applied it. */
  integrated?: { from: TreeId; to: TreeId; seq: number };
  /** The user has removed its work from the project. */
  reverted?: true;
  /** Set for views alone, never by an event: its conversation has ended, and its end is not recorded yet. */
  lost?: true;
}

/** Whether an attempt waits in the queue: no worker has taken it yet. */
export function isQueued({ remote, worker, result }: Attempt): boolean {
  return remote === true && worker === undefined && result === null;
}

/** When its agent began to work, as far as it is recorded: time in the queue does not count. Null while it waits there. */
export function begunAt(attempt: Attempt): string | null {
  return attempt.remote === true ? (attempt.claimed ?? null) : attempt.started;
}

export type Changes = Omit<EventOf<"attempt.changed">, "type" | "phase" | "attempt">;

export type AttemptResult = Omit<EventOf<"attempt.finished">, "type" | "phase" | "attempt">;

export interface SessionPhase extends PhaseRecord {
  errors: RecordedError[];
  /** Oldest first. */
  attempts: Attempt[];
  /** The number of attempts when the phase was last started; later attempts belong to that start. */
  attempts_at_start?: number;
  /** The number of attempts when the user last decided about the phase. */
  attempts_at_decision?: number;
  /** The time limit of its next attempts, set by the user or doubled after a timeout; the model and the criteria that the user set. */
  timeout_ms?: number;
  model?: string;
  criteria?: string[];
  /** How often the user reopened the phase after its agent was done. */
  reopened?: number;
  /** The user has approved the batch with its work. */
  reviewed?: true;
  /** The retries that the user decided, oldest first. */
  retry_decisions?: RetryDecision[];
  /** The phase in the recorded plan; absent in a session imported from a view. */
  plan?: FrozenPlan["phases"][number];
  handoff?: HandoffRecord;
  validation?: { result: "pass" | "fail" | "skipped"; detail: string; evidence?: Evidence };
  /** Paths that its agent asked for and was granted. */
  granted: string[];
  warnings: Warning[];
  /** Hashes of the files that the phase owns when it started. */
  hashes_at_start?: FileHashes;
}

/** What the user changed and said when a failed phase was retried. */
export interface RetryDecision extends Adjustments {
  /** The number of the retry. */
  retry: number;
  /** The work was complete, and the user reopened the phase. */
  reopened?: true;
  reason?: string | undefined;
}

/** The user is asked whether this tree is as it should be: the project after a batch, or the project with the work of a phase. */
export interface Review extends Omit<EventOf<"review.opened">, "type"> {
  opened: string;
  /** Approved, and its work is not in the project yet. */
  approved: boolean;
}

export interface Warning {
  ts: string;
  code: WarningCode;
  message: string;
}

export interface Note {
  ts: string;
  text: string;
  phase?: PhaseId;
  agent?: string;
}

export interface SessionRequirement extends Requirement {
  answer?: { verdict: RequirementVerdict; evidence: string; ts: string };
}

export interface Session extends Omit<SessionRecord, "phases" | "execution_mode"> {
  title: string;
  task: string | null;
  execution_mode: ExecutionMode | null;
  review: ReviewMode;
  /** The review that the session waits for; null: none. */
  open_review: Review | null;
  phases: SessionPhase[];
  /** When the user approved the plan, and its hash then: a plan that was revised since is not approved. */
  approval?: { at: string; hash: string };
  /** sha256 of the plan file when it was recorded; null in a session imported from a view. */
  plan_hash: string | null;
  /** The last recorded content hash of every recorded file. */
  file_hashes: Map<string, { hash: string | null; phase: PhaseId }>;
  notes: Note[];
  /** What the design demands, with the answers of the final review. */
  requirements: SessionRequirement[];
  /** What validation commands did on the untouched project. */
  baseline: BaselineCommand[];
  /** Why the user completed the session with requirements that are not met. */
  accept_open: string | null;
  summary: string | null;
  /** The revision of the plan, from 1. */
  revision: number;
  /** The last revision: its file must exist, and the plan before it must be in the archive. */
  revised: (Omit<EventOf<"plan.revised">, "type" | "plan"> & { path: string }) | null;
  /** The session was aborted and can never continue. */
  aborted: boolean;
  /** The last time the provider rejected requests; null if never. */
  quota: { since: string; until: string; slots: number | null } | null;
  /** What the session may spend, and what attempts without a recorded amount have spent; null: no limit. */
  budget: { cap: Amounts; before: Amounts } | null;
  /** Why no attempt can start although the budget is not the user's last word; null: the budget suffices so far. */
  budget_spent: Omit<EventOf<"session.budget_spent">, "type"> | null;
  archiving: EventOf<"archive.started"> | null;
  /** Sequence number of the last event. */
  seq: number;
  /** Position of each phase in `phases`. */
  index: Map<PhaseId, number>;
  /** Ids of the phases in progress, oldest first. */
  running: Set<PhaseId>;
}

/** Accepts any text; returns undefined when it is not the id of a phase. */
export function findPhase(session: Session, id: string): SessionPhase | undefined {
  const position = session.index.get(id as PhaseId);
  return position === undefined ? undefined : session.phases[position];
}

/** The latest attempt: running, finished, or interrupted by a crash. */
export function lastAttempt(phase: SessionPhase): Attempt | undefined {
  return phase.attempts.at(-1);
}

/** The criteria that its work must meet: those of the last decision, else those of the plan. */
export function criteriaOf({ criteria, plan }: SessionPhase): readonly string[] {
  return criteria ?? plan?.validation_criteria ?? [];
}

/** The runtime of an attempt that a conversation of Gemini CLI delegated itself: no engine started a process for it. */
export const NATIVE = "native";

export function isNative({ runtime }: Attempt): boolean {
  return runtime === NATIVE;
}

/** The run of the attempts that a conversation delegates. No process has it in its environment. */
export function nativeRun(conversation: string): string {
  return `${NATIVE}-${conversation}`;
}

export interface OpenDelegation {
  phase: SessionPhase;
  attempt: Attempt;
}

/** The native delegations without a recorded end: their agents are running, or their conversation has ended. */
export function openDelegations(session: Session): OpenDelegation[] {
  return session.phases.flatMap((phase) =>
    phase.attempts
      .filter((attempt) => isNative(attempt) && attempt.result === null)
      .map((attempt) => ({ phase, attempt })),
  );
}

/** Completed or skipped: the phase does not change again unless the user decides so. */
export function isClosed(phase: { status: string }): boolean {
  return phase.status === "completed" || phase.status === "skipped";
}

/** Whether another phase depends on this one and so needs its Downstream Context. */
export function hasDependents(session: Session, id: string): boolean {
  const known = blocking.get(session.phases) ?? new Set(session.phases.flatMap((phase) => phase.blocked_by));
  blocking.set(session.phases, known);
  return known.has(id as PhaseId);
}

/** The phases that others wait for, found once per list of phases: a revised plan is a new list. */
const blocking = new WeakMap<readonly SessionPhase[], ReadonlySet<PhaseId>>();

/** The phase's validation commands have passed, or it has none. */
export function isValidated(phase: SessionPhase): boolean {
  return (phase.plan?.validation ?? []).length === 0 || phase.validation?.result === "pass";
}

/** Its agent has reported success, but its validation commands have not passed yet. */
export function awaitsValidation(phase: SessionPhase): boolean {
  return phase.status === "in_progress" && hasReported(phase) && !isValidated(phase);
}

/** Its agent has succeeded in a worktree, but its work is not in the project yet. */
export function awaitsIntegration(phase: SessionPhase): boolean {
  const attempt = lastAttempt(phase);
  // The work of an attempt from before the last start of the phase was rejected.
  const isCurrent = phase.attempts.length > (phase.attempts_at_start ?? 0);
  const isApart = attempt?.placed != null && attempt.placed.worktree !== null;
  return phase.status === "in_progress" && isCurrent && isApart && attempt.result?.outcome === "success";
}

/** Whether the phase has a valid report of success. The output of an interrupted or restarted attempt does not count. */
export function hasReported(phase: SessionPhase): boolean {
  const { handoff, attempts } = phase;
  if (handoff?.status !== "success" || handoff.missing.length > 0) return false;
  // In journals of earlier versions a native delegation is not an attempt.
  if (attempts.length <= (phase.attempts_at_start ?? 0)) return true;
  const outcome = lastAttempt(phase)?.result?.outcome;
  return outcome !== undefined && outcome !== "interrupted" && outcome !== "quota";
}

/** Completed, with a report of success, passed validation commands, and not by a person in spite of missing files. */
export function isVerified(phase: SessionPhase): boolean {
  const isExcused = phase.validation?.result === "skipped";
  return phase.status === "completed" && phase.handoff?.status === "success" && isValidated(phase) && !isExcused;
}

// What a session is, once its events are folded. The fold owns these objects; everybody else reads them.

import type { CommitId, PhaseId, TreeId } from "../ids.ts";
import type {
  EventOf,
  Evidence,
  ExecutionMode,
  FileHashes,
  FileMove,
  FrozenPlan,
  HandoffRecord,
  PhaseRecord,
  RecordedError,
  SessionRecord,
  WarningCode,
} from "./events.ts";

/** One process (or native delegation) that worked on a phase. */
export interface Attempt extends Omit<EventOf<"attempt.started">, "type" | "phase"> {
  started: string;
  /** Null while it runs, and when nobody saw its end. */
  finished: string | null;
  result: AttemptResult | null;
  /** What the engine's own check of its work came to, and when. */
  validated?: { at: string; result: "pass" | "fail" | "skipped" };
  /** Sequence number of its start. */
  seq: number;
  /** Where it works and what it began with; absent before that is known. */
  placed?: { worktree: string | null; base: CommitId | null };
  /** What it did, as the tree tells it. */
  changes?: Changes;
  /** Its work is in the project; `seq`: since when. */
  integrated?: { from: TreeId; to: TreeId; seq: number };
  /** A person has taken its work out of the project. */
  reverted?: true;
}

export type Changes = Omit<EventOf<"attempt.changed">, "type" | "phase" | "attempt">;

export type AttemptResult = Omit<EventOf<"attempt.finished">, "type" | "phase" | "attempt">;

export interface SessionPhase extends PhaseRecord {
  errors: RecordedError[];
  /** Oldest first. */
  attempts: Attempt[];
  /** How many attempts it had when it was last started: a later one belongs to that start. */
  attempts_at_start?: number;
  /** How many attempts it had when a person last decided about it. */
  attempts_at_decision?: number;
  /** Decided by a person for its next attempts. */
  timeout_ms?: number;
  /** The phase as the plan froze it; absent in a session imported from a view. */
  plan?: FrozenPlan["phases"][number];
  handoff?: HandoffRecord;
  validation?: { result: "pass" | "fail" | "skipped"; detail: string; evidence?: Evidence };
  /** Paths that its agent asked for and was granted. */
  granted: string[];
  warnings: Warning[];
  /** Files the phase owns and their content when it started. */
  hashes_at_start?: FileHashes;
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

export interface Session extends Omit<SessionRecord, "phases" | "execution_mode"> {
  title: string;
  task: string | null;
  execution_mode: ExecutionMode | null;
  phases: SessionPhase[];
  /** sha256 of the plan file when it was frozen; null in a session imported from a view. */
  plan_hash: string | null;
  /** Content of every recorded file when it was last recorded. */
  file_hashes: Map<string, { hash: string | null; phase: PhaseId }>;
  notes: Note[];
  summary: string | null;
  /** How many times the plan was revised. */
  revision: number;
  /** The last revision: its file has to be there, and the plan before it has to be in the archive. */
  revised: { path: string; text: string; superseded: FileMove | null } | null;
  /** A phase was aborted: the session is over, whatever else happens to it. */
  aborted: boolean;
  /** The last time the provider refused; null: never. */
  quota: { since: string; until: string; slots: number | null } | null;
  archiving: EventOf<"archive.started"> | null;
  /** Sequence number of the last event. */
  seq: number;
  /** Position of each phase in `phases`. */
  index: Map<PhaseId, number>;
  /** Ids of the phases in progress, oldest first. */
  running: Set<PhaseId>;
}

/** Takes any text: only the id of a phase finds one. */
export function findPhase(session: Session, id: string): SessionPhase | undefined {
  const position = session.index.get(id as PhaseId);
  return position === undefined ? undefined : session.phases[position];
}

/** The attempt that runs, ran last, or was cut off by a crash. */
export function lastAttempt(phase: SessionPhase): Attempt | undefined {
  return phase.attempts.at(-1);
}

/** Closed: nothing more will happen to it unless somebody decides so. */
export function isClosed(phase: { status: string }): boolean {
  return phase.status === "completed" || phase.status === "skipped";
}

/** Somebody waits for it, and needs its Downstream Context. */
export function hasDependents(session: Session, id: string): boolean {
  return session.phases.some((phase) => phase.blocked_by.some((blocker) => blocker === id));
}

/** The plan's commands for it have passed, or there are none. */
export function isValidated(phase: SessionPhase): boolean {
  return (phase.plan?.validation ?? []).length === 0 || phase.validation?.result === "pass";
}

/** Its agent has reported success, and the plan's commands have not been run on its work yet. */
export function awaitsValidation(phase: SessionPhase): boolean {
  return phase.status === "in_progress" && hasReported(phase) && !isValidated(phase);
}

/** Its agent has succeeded in a worktree, and its work is not in the project yet. */
export function awaitsIntegration(phase: SessionPhase): boolean {
  const attempt = lastAttempt(phase);
  // An attempt from before the phase was last started is one whose work was refused.
  const isCurrent = phase.attempts.length > (phase.attempts_at_start ?? 0);
  const isApart = attempt?.placed != null && attempt.placed.worktree !== null;
  return phase.status === "in_progress" && isCurrent && isApart && attempt.result?.outcome === "success";
}

/** What an attempt said that was cut off, or that has begun again since, is no report. */
export function hasReported(phase: SessionPhase): boolean {
  const { handoff, attempts } = phase;
  if (handoff?.status !== "success" || handoff.missing.length > 0) return false;
  // Without an attempt since the phase was last started it was a native delegation.
  if (attempts.length <= (phase.attempts_at_start ?? 0)) return true;
  const outcome = lastAttempt(phase)?.result?.outcome;
  return outcome !== undefined && outcome !== "interrupted" && outcome !== "quota";
}

/** Completed, with a report of success and commands that passed. */
export function isVerified(phase: SessionPhase): boolean {
  return phase.status === "completed" && phase.handoff?.status === "success" && isValidated(phase);
}

// The types of a folded session, and questions about them. Only the fold changes these objects; all other code reads them.

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
  /** Null while it runs, and when no engine recorded its end. */
  finished: string | null;
  result: AttemptResult | null;
  /** The result and time of the engine's validation of its work. */
  validated?: { at: string; result: "pass" | "fail" | "skipped" };
  /** Sequence number of its start event. */
  seq: number;
  /** Where it works and the commit it started from; absent until recorded. */
  placed?: { worktree: string | null; base: CommitId | null };
  /** Its changes, read from its files. */
  changes?: Changes;
  /** Set while its work is in the project; `seq` is the event that applied it. */
  integrated?: { from: TreeId; to: TreeId; seq: number };
  /** The user has removed its work from the project. */
  reverted?: true;
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
  /** The time limit that the user set for its next attempts. */
  timeout_ms?: number;
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
  /** sha256 of the plan file when it was recorded; null in a session imported from a view. */
  plan_hash: string | null;
  /** The last recorded content hash of every recorded file. */
  file_hashes: Map<string, { hash: string | null; phase: PhaseId }>;
  notes: Note[];
  summary: string | null;
  /** The revision of the plan, from 1. */
  revision: number;
  /** The last revision: its file must exist, and the plan before it must be in the archive. */
  revised: { path: string; text: string; superseded: FileMove | null } | null;
  /** The session was aborted and can never continue. */
  aborted: boolean;
  /** The last time the provider rejected requests; null if never. */
  quota: { since: string; until: string; slots: number | null } | null;
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

/** Completed or skipped: the phase does not change again unless the user decides so. */
export function isClosed(phase: { status: string }): boolean {
  return phase.status === "completed" || phase.status === "skipped";
}

/** Whether another phase depends on this one and so needs its Downstream Context. */
export function hasDependents(session: Session, id: string): boolean {
  return session.phases.some((phase) => phase.blocked_by.some((blocker) => blocker === id));
}

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
  // No attempt since the last start means that the phase was delegated natively.
  if (attempts.length <= (phase.attempts_at_start ?? 0)) return true;
  const outcome = lastAttempt(phase)?.result?.outcome;
  return outcome !== undefined && outcome !== "interrupted" && outcome !== "quota";
}

/** Completed, with a report of success and passed validation commands. */
export function isVerified(phase: SessionPhase): boolean {
  return phase.status === "completed" && phase.handoff?.status === "success" && isValidated(phase);
}

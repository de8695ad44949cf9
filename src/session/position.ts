// The progress of a session and the conflicts that block it, as `status` shows them and `resume` uses them. Pure.

import type { PhaseId } from "../ids.ts";
import type { FileHashes } from "./events.ts";
import { batchInReview } from "./review/review.ts";
import { isClosed, type Session, type SessionPhase } from "./session.ts";

export interface Position {
  /** The last completed phase in plan order. */
  last_completed: string | null;
  /** The first phase in progress or pending, where work continues. */
  next: string | null;
  /** Phases that can start now. */
  ready: string[];
  /** Failed phases, about which the user has to decide. */
  unresolved: string[];
  counts: Record<SessionPhase["status"], number>;
}

export function positionOf(session: Session): Position {
  const counts = { pending: 0, in_progress: 0, completed: 0, failed: 0, skipped: 0, aborted: 0 };
  const position: Position = { last_completed: null, next: null, ready: [], unresolved: [], counts };
  const batch = batchInReview(session);
  const closed = new Set(session.phases.filter(isClosed).map((phase) => phase.id));
  for (const phase of session.phases) {
    counts[phase.status] += 1;
    if (phase.status === "completed") position.last_completed = phase.id;
    // In an aborted session no further phase starts.
    if (session.aborted) continue;
    if (phase.status === "in_progress" || phase.status === "pending") position.next ??= phase.id;
    if (phase.status === "pending" && batch === null && phase.blocked_by.every((id) => closed.has(id)))
      position.ready.push(phase.id);
    if (phase.status === "failed") position.unresolved.push(phase.id);
  }
  return position;
}

export type Conflict =
  /** An unfinished phase whose file differs from its content when the phase started. */
  | { kind: "partially_modified"; phase: PhaseId; file: string }
  /** A file that differs from the content that a finished phase recorded. */
  | { kind: "modified_externally"; phase: PhaseId; file: string }
  | { kind: "plan_changed"; file: string };

/** The files whose content `findConflicts` compares. */
export function watchedFiles(session: Session): string[] {
  const started = session.phases.filter(
    (phase) => phase.status === "in_progress" && phase.hashes_at_start !== undefined,
  );
  return [
    ...new Set([
      ...session.file_hashes.keys(),
      ...started.flatMap((phase) => Object.keys(phase.hashes_at_start ?? {})),
    ]),
  ];
}

export function findConflicts(session: Session, now: FileHashes, planHash: string | null): Conflict[] {
  const conflicts: Conflict[] = [];
  const { implementation_plan, plan_hash } = session;
  if (implementation_plan !== null && plan_hash !== null && planHash !== plan_hash) {
    conflicts.push({ kind: "plan_changed", file: implementation_plan });
  }
  const unfinished = new Set<string>();
  for (const phase of session.phases) {
    if (phase.status !== "in_progress") continue;
    for (const [file, before] of Object.entries(phase.hashes_at_start ?? {})) {
      if (now[file] === before) continue;
      unfinished.add(file);
      conflicts.push({ kind: "partially_modified", phase: phase.id, file });
    }
  }
  for (const [file, recorded] of session.file_hashes) {
    if (now[file] !== recorded.hash && !unfinished.has(file)) {
      conflicts.push({ kind: "modified_externally", phase: recorded.phase, file });
    }
  }
  return conflicts;
}

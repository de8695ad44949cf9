// Builds the events for work that the user applies or reverts, and for a change that a killed process left unfinished. Pure.

import type { PhaseId, SessionId, TreeId } from "../../ids.ts";
import type { FileHashes, SessionEvent } from "../events.ts";
import { type Attempt, findPhase, hasReported, isValidated, type Session, type SessionPhase } from "../session.ts";
import { judgeMove } from "../transitions.ts";
import { decideIntegrated, filesOf, type Rules } from "./attempt.ts";
import { decideFiles, decideHandoff, type FileLists } from "./operation.ts";

export interface Work {
  session: Session;
  phase: SessionPhase;
  attempt: Attempt;
}

/** A change to the project: its trees before and after, the changed files, and the hashes of their new content. */
export interface ProjectChange {
  from: TreeId;
  to: TreeId;
  files: FileLists;
  hashes: FileHashes;
}

/** Whether applying the work completes the phase or leaves only its validation: the agent succeeded, and only its work is missing. */
export function settlesPhase({ session, phase, attempt }: Work): boolean {
  const again = { to: "in_progress", userDecision: true, maxRetries: 0 } as const;
  return (
    phase.status === "failed" &&
    attempt === phase.attempts.at(-1) &&
    hasReported(phase) &&
    judgeMove(session, phase, again).legal
  );
}

/** The user applied the work of an attempt. */
export function decideApplied(work: Work, { from, to, files, hashes }: ProjectChange): SessionEvent[] {
  const { session, phase, attempt } = work;
  const recorded = decideFiles(session, phase.id, files, hashes);
  const applied = appliedEvent(phase.id, attempt.attempt, from, to);
  const integrated = attempt.integrated === undefined ? [applied, ...recorded] : recorded;
  return settlesPhase(work) ? settled(work, integrated) : integrated;
}

function appliedEvent(phase: PhaseId, attempt: number, from: TreeId, to: TreeId): SessionEvent {
  return { type: "phase.integrated", phase, attempt, from, to, user_decision: true };
}

function settled({ session, phase }: Work, integrated: SessionEvent[]): SessionEvent[] {
  const { id, handoff, plan } = phase;
  const reason = "its work was applied by hand";
  const move = { type: "phase.moved", phase: id, user_decision: true, reason } as const;
  const isDone = (plan?.validation ?? []).length === 0;
  return [
    { ...move, from: "failed", to: "in_progress" },
    ...(handoff === undefined ? [] : decideHandoff(session, id, handoff)),
    ...integrated,
    ...(isDone ? [{ ...move, from: "in_progress" as const, to: "completed" as const }] : []),
  ];
}

/** The user reverted the work of an attempt. */
export function decideReverted({ phase, attempt }: Work, { from, to, hashes }: ProjectChange): SessionEvent[] {
  const reverted = revertedEvent(phase.id, attempt.attempt, from, to);
  if (Object.keys(hashes).length === 0) return [reverted];
  // The phase created none of these files, but a resume must not report their new content as an external change.
  const none = { created: [], modified: [], deleted: [] };
  return [reverted, { type: "phase.files_added", phase: phase.id, ...none, hashes }];
}

function revertedEvent(phase: PhaseId, attempt: number, from: TreeId, to: TreeId): SessionEvent {
  return { type: "phase.reverted", phase, attempt, from, to };
}

/** A change to the project, recorded before it started. */
export interface BegunChange {
  /** The engine integrates; apply and revert are requested by the user. */
  what: "integrate" | "apply" | "revert";
  session: SessionId;
  phase: PhaseId;
  attempt: number;
  from: TreeId;
  to: TreeId;
}

/** An integration is wanted only while its phase is in progress; a change that the user requested is always wanted. */
export function isWanted(session: Session | undefined, { what, session: id, phase }: BegunChange): boolean {
  if (what !== "integrate" || session?.session_id !== id) return true;
  return !session.aborted && findPhase(session, phase)?.status === "in_progress";
}

/** The events after recovery has finished a killed process's change; empty if it is already recorded or belongs to another session. */
export function decideFinishedChange(
  session: Session,
  change: BegunChange,
  rules: Pick<Rules, "now" | "hashes">,
): SessionEvent[] {
  const { what, phase: id, attempt, from, to } = change;
  const phase = session.session_id === change.session ? findPhase(session, id) : undefined;
  const found = phase?.attempts.find((one) => one.attempt === attempt);
  if (phase === undefined || found === undefined) return [];
  if (what === "revert") return found.integrated ? [revertedEvent(id, attempt, from, to)] : [];
  if (found.integrated !== undefined) return [];
  if (what === "apply") return [appliedEvent(id, attempt, from, to)];
  const files = found.changes === undefined ? { created: [], modified: [], deleted: [] } : filesOf(found.changes);
  const done = { attempt, from, to, files, warnings: [] };
  const events = decideIntegrated(session, id, done, { maxRetries: 0, ...rules });
  // The engine records a passed validation before it touches the project, so a phase without one is not completed here.
  return isValidated(phase) ? events : events.filter(({ type }) => type !== "phase.moved");
}

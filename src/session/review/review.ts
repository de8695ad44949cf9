// When the user reviews the work of a session (decision C41), and what waits for it: a batch after its phases, or a phase before its work
// is applied to the project. Pure.

import type { PhaseId } from "../../ids.ts";
import { graphOf } from "../../plan/graph.ts";
import { awaitsIntegration, isClosed, lastAttempt, type Review, type Session, type SessionPhase } from "../session.ts";

/** The review that the user has to answer. An archived, aborted or completed session waits for nothing. */
export function openReview(session: Session): Review | null {
  const { open_review: review } = session;
  if (session.aborted || session.archiving !== null || session.status === "completed") return null;
  return review === null || review.approved ? null : review;
}

/** "batch-2", or the id of the phase: what the user names in a command. */
export function reviewName({ batch, phases }: Pick<Review, "batch" | "phases">): string {
  return batch === undefined ? (phases[0] ?? "") : `batch-${batch}`;
}

/** As a person reads it: "phase 3" or "batch-2". */
export function reviewSubject(review: Pick<Review, "batch" | "phases">): string {
  return `${review.batch === undefined ? "phase " : ""}${reviewName(review)}`;
}

/** The name of the batch that the user has to review before another phase starts; null: none. */
export function batchInReview(session: Session): string | null {
  const review = openReview(session);
  return review?.batch === undefined ? null : reviewName(review);
}

/** Whether the phase's work waits for the user before it is applied to the project. */
export function awaitsReview(session: Session, phase: SessionPhase): boolean {
  const review = openReview(session);
  return review !== null && review.batch === undefined && review.phases.includes(phase.id);
}

/** Whether the work of the phase needs an approval before it is applied. Work that changes nothing needs none. */
export function needsReview(session: Session, phase: SessionPhase): boolean {
  return session.review === "phase" && awaitsIntegration(phase) && lastAttempt(phase)?.changes?.total !== 0;
}

/** Whether the user has approved exactly this tree for the attempt. */
export function isApproved({ open_review: review }: Session, phase: PhaseId, attempt: number, tree: string): boolean {
  return (
    review?.approved === true && review.phases.includes(phase) && review.attempt === attempt && review.tree === tree
  );
}

export interface Barrier {
  /** For each position, the number of its batch, from 0. */
  depths: readonly (number | null)[];
  /** Phases of later batches do not start. */
  depth: number;
  /** The batch that the user has to review now; null: it is not done yet, or no later batch waits for it. */
  review: { batch: number; phases: PhaseId[] } | null;
}

/**
 * Where a session stops that is reviewed after each batch: at the first batch with work that is not done or not approved. `only`: the phases
 * that may start; others count as far as they are done.
 */
export function barrierOf({ phases }: Session, only?: ReadonlySet<string>): Barrier {
  const depths = depthsOf(phases);
  let depth = Number.POSITIVE_INFINITY;
  let deepest = -1;
  for (const [position, phase] of phases.entries()) {
    const at = depths[position] ?? 0;
    if (isLeftOut(phase, only)) continue;
    if (!isClosed(phase)) deepest = Math.max(deepest, at);
    if (!isSettled(phase)) depth = Math.min(depth, at);
  }
  const batch = phases.filter((phase, position) => depths[position] === depth && !isLeftOut(phase, only));
  const isDone = batch.length > 0 && batch.every(isClosed);
  const unreviewed = batch.filter((phase) => !isSettled(phase)).map(({ id }) => id);
  return { depths, depth, review: isDone && deepest > depth ? { batch: depth + 1, phases: unreviewed } : null };
}

function isLeftOut(phase: SessionPhase, only: ReadonlySet<string> | undefined): boolean {
  return only?.has(phase.id) === false && !isClosed(phase);
}

/** Nothing is left to do or to review. */
function isSettled({ status, reviewed }: SessionPhase): boolean {
  return status === "skipped" || (status === "completed" && reviewed === true);
}

/** Found once per list of phases: a revised plan is a new list. */
const known = new WeakMap<readonly SessionPhase[], readonly (number | null)[]>();

function depthsOf(phases: readonly SessionPhase[]): readonly (number | null)[] {
  const depths = known.get(phases) ?? graphOf(phases).depths;
  known.set(phases, depths);
  return depths;
}

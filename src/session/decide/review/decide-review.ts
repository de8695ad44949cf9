// Builds the events of a review: its opening, the user's approval or rejection, and a phase that the user reopens. Pure.

import { MaestroError } from "../../../errors.ts";
import type { PhaseId, TreeId } from "../../../ids.ts";
import type { FileHashes, ReviewMode, SessionEvent } from "../../events.ts";
import { openReview, reviewName, reviewSubject } from "../../review/review.ts";
import type { Review, Session, SessionPhase } from "../../session.ts";
import { judgeMove, type MoveVerdict } from "../../transitions.ts";
import { requirePhase } from "../operation.ts";

export function decideReviewMode(session: Session, review: ReviewMode): SessionEvent[] {
  return session.review === review ? [] : [{ type: "session.review_set", review }];
}

export type Reviewed = Pick<Review, "phases" | "batch" | "attempt" | "tree">;

/** Empty when exactly this review is open. */
export function decideReview(session: Session, { phases, batch, attempt, tree }: Reviewed): SessionEvent[] {
  const open = openReview(session);
  if (open !== null && isSameReview(open, { phases, batch, tree }) && open.attempt === attempt) return [];
  const of = { ...(batch === undefined ? {} : { batch }), ...(attempt === undefined ? {} : { attempt }) };
  return [{ type: "review.opened", phases, ...of, tree }];
}

/** The open review that the user means: "batch-2", "batch", 2 for a batch, or a phase that it covers. */
export function requireReview(session: Session, given: string): Review {
  const review = openReview(session);
  if (review !== null && isMeant(review, given)) return review;
  const what = `No review of ${JSON.stringify(given)} is open`;
  const hint = review === null ? 'See "maestro status".' : `The open review is of ${reviewSubject(review)}.`;
  throw new MaestroError("illegal_transition", what, { hint });
}

function isMeant(review: Review, given: string): boolean {
  if (given === reviewName(review) || review.phases.some((id) => id === given)) return true;
  return review.batch !== undefined && (given === "batch" || given === String(review.batch));
}

/** `shown`: the review that the user saw; it must be the one that is open. */
export function decideApproval(session: Session, shown: Review, reason?: string): SessionEvent[] {
  const { phases, batch, tree } = shown;
  const open = openReview(session);
  if (open === null || !isSameReview(open, shown)) {
    throw new MaestroError("conflict", `The review of ${reviewSubject(shown)} has changed since it was shown`, {
      hint: 'See "maestro status", and decide again.',
    });
  }
  const of = batch === undefined ? {} : { batch };
  const why = reason === undefined ? {} : { reason };
  return [{ type: "review.approved", phases, ...of, tree, ...why, user_decision: true }];
}

export function isSameReview(one: Omit<Reviewed, "attempt">, other: Omit<Reviewed, "attempt">): boolean {
  return one.tree === other.tree && one.batch === other.batch && one.phases.join("\n") === other.phases.join("\n");
}

export interface Reopening {
  phase: string;
  guidance?: string | undefined;
  reason?: string | undefined;
  /** The user rejects the work that the open review shows. */
  isRejection?: boolean;
  hashes: FileHashes;
}

/** The phase runs again with its guidance; phases that depend on it and are done stay done. */
export function decideReopening(session: Session, request: Reopening): SessionEvent[] {
  const phase = requirePhase(session, request.phase);
  const { guidance, reason, hashes } = request;
  const rejected = request.isRejection ? requireReview(session, phase.id).tree : undefined;
  const verdict = judgeReopening(session, phase, rejected);
  if (!verdict.legal) throw new MaestroError("illegal_transition", verdict.reason, { hint: verdict.hint });
  return [
    {
      type: "phase.reopened",
      phase: phase.id,
      ...(rejected === undefined ? {} : { rejected }),
      ...(guidance === undefined ? {} : { guidance }),
      ...(reason === undefined ? {} : { reason }),
      hashes,
    },
  ];
}

/** `rejected`: the tree whose review the user rejects; absent when the user reopens a completed phase. */
export function judgeReopening(session: Session, phase: SessionPhase, rejected?: TreeId): MoveVerdict {
  const { id, status } = phase;
  if (rejected === undefined && status !== "completed") {
    const hint = status === "failed" ? `Run "maestro retry ${id}".` : 'See "maestro status".';
    return {
      legal: false,
      reason: `Cannot reopen phase ${id}: it is ${status.replace("_", " ")}, not completed`,
      hint,
    };
  }
  if (rejected !== undefined && !isShown(session, id, rejected)) {
    return { legal: false, reason: `Cannot reject phase ${id}: no review of its work is open` };
  }
  // Judged like the retry of a failed phase, in a session that may be completed but is not archived.
  const open = session.status === "completed" ? { ...session, status: "in_progress" as const } : session;
  return judgeMove(open, { ...phase, status: "failed" }, { to: "in_progress", userDecision: true, maxRetries: 0 });
}

function isShown(session: Session, id: PhaseId, tree: TreeId): boolean {
  const review = openReview(session);
  return review !== null && review.tree === tree && review.phases.includes(id);
}

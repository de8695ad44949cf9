// What the events of a review do to the session. Part of the fold: it trusts the events.

import type { PhaseId } from "../../ids.ts";
import type { EventOf } from "../events.ts";
import { findPhase, type Session } from "../session.ts";

export function reviewOpened(session: Session, event: EventOf<"review.opened"> & { ts: string }): void {
  const { phases, batch, attempt, tree, ts: opened } = event;
  const of = { ...(batch === undefined ? {} : { batch }), ...(attempt === undefined ? {} : { attempt }) };
  session.open_review = { phases, ...of, tree, opened, approved: false };
}

/** The approval of a batch takes effect at once; that of a phase when its work is applied. */
export function reviewApproved(session: Session, { phases, batch }: EventOf<"review.approved">): void {
  if (batch === undefined) {
    if (session.open_review !== null) session.open_review.approved = true;
    return;
  }
  session.open_review = null;
  for (const id of phases) {
    const phase = findPhase(session, id);
    if (phase !== undefined) phase.reviewed = true;
  }
}

/** What was shown is not what there is: a phase of the review has moved, or one of an earlier batch runs again. */
export function endReview(session: Session, id: PhaseId): void {
  const { open_review: review } = session;
  if (review !== null && (review.batch !== undefined || review.phases.includes(id))) session.open_review = null;
}

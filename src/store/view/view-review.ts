// Reviews an edited view. Separate from session-store.ts because it needs YAML, which hooks never load.

import { importedSession, judgeView } from "../../session/decide/adopt.ts";
import type { SessionRecord } from "../../session/events.ts";
import { applyEvent } from "../../session/fold.ts";
import type { Session } from "../../session/session.ts";
import { readView } from "../../views/record/read-view.ts";
import { renderSession } from "../../views/record/session-view.ts";
import { markedSeq, withoutMarker } from "./view-file.ts";
import type { ViewReview } from "./view-keeper.ts";

/**
 * With a session: what the edit changes; `sessionAt` returns the state that the editor saw. Without a session: imports the whole session
 * that the view describes.
 */
export function reviewView(
  session: Session | undefined,
  text: string,
  maxRetries: number,
  sessionAt: (seq: number) => Session | undefined,
): ViewReview {
  const view = readView(withoutMarker(text));
  if (!view.ok) return { kind: "refused", reasons: [view.reason] };
  const hasOwnText = (drawn: Session) =>
    view.unknownKeys.length > 0 || bodyOf(renderSession(drawn)) !== view.body.trim();
  if (session === undefined) {
    const reasons = inconsistencies(view.record);
    if (reasons.length > 0) return { kind: "refused", reasons };
    const event = importedSession(view.title, view.record);
    const drawn = applyEvent(undefined, { ...event, seq: 1, ts: view.record.updated });
    return { kind: "adopt", event, keep: hasOwnText(drawn) };
  }
  const seen = markedSeq(text) ?? session.seq;
  const base = seen < session.seq ? (sessionAt(seen) ?? session) : session;
  const judgement = judgeView(session, base, view.record, maxRetries);
  if ("refused" in judgement) return { kind: "refused", reasons: judgement.refused };
  const keep = hasOwnText(base) || setsWhatIsDerived(base, view.record);
  return judgement.event === null ? { kind: "same", keep } : { kind: "adopt", event: judgement.event, keep };
}

/** Times and the current phase follow from phase moves: editing only those changes nothing, so a copy is kept and the user is warned. */
function setsWhatIsDerived(base: Session, view: SessionRecord): boolean {
  const moves = view.phases.some((phase, at) => phase.status !== base.phases[at]?.status);
  if (moves) return false;
  return (
    view.current_phase !== base.current_phase ||
    view.phases.some(
      ({ started, completed }, at) => started !== base.phases[at]?.started || completed !== base.phases[at]?.completed,
    )
  );
}

function inconsistencies(record: SessionRecord): string[] {
  const ids = new Set(record.phases.map((phase) => phase.id));
  const reasons: string[] = [];
  if (!/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(record.session_id))
    reasons.push(`session_id: not a usable name (${record.session_id})`);
  if (record.phases.length === 0) reasons.push("phases: the list is empty");
  if (ids.size !== record.phases.length) reasons.push("phases: two of them have the same id");
  for (const phase of record.phases) {
    const unknown = phase.blocked_by.filter((id) => !ids.has(id));
    if (unknown.length > 0) reasons.push(`phase ${phase.id}: blocked_by names unknown phase ${unknown.join(", ")}`);
  }
  return reasons;
}

function bodyOf(document: string): string {
  return document.slice(document.indexOf("\n---\n") + 5).trim();
}

// What a person decides about a session: recorded in the journal, where an engine that runs sees it. Never speaks to the engine itself.

import { MaestroError } from "../errors.ts";
import { decideAbort } from "../session/decide/attempt.ts";
import { type MoveRequest, requirePhase, requireSession } from "../session/decide/operation.ts";
import { runningEngine } from "./engine-lock.ts";
import { movePhase } from "./operations.ts";
import type { SessionStore } from "./session-store.ts";

export interface PhaseDecision extends Omit<MoveRequest, "to" | "userDecision" | "failure"> {
  /** Tried again, or not done at all. */
  to: "in_progress" | "skipped";
}

/** Returns whether a running engine takes it up; otherwise it waits for a resume. */
export function decidePhase(store: SessionStore, decision: PhaseDecision): boolean {
  store.read();
  if (decision.to === "in_progress") refuseUnfailed(store, decision.phase);
  // An engine that has recorded the end of its run does not look again.
  const isLooking = store.session?.status === "in_progress";
  movePhase(store, { ...decision, userDecision: true });
  return isLooking && runningEngine(store.location) !== undefined;
}

/** Whatever else can start starts by itself. */
function refuseUnfailed(store: SessionStore, id: string): void {
  const { status } = requirePhase(requireSession(store.session), id);
  if (status === "failed") return;
  throw new MaestroError(
    "illegal_transition",
    `Phase ${id} is ${status.replace("_", " ")}: only a failed phase is retried`,
    {
      hint: 'Go on with "maestro resume", which starts what is ready or was interrupted.',
    },
  );
}

/** Records that the session ends for good; returns its id. */
export function recordAbort(store: SessionStore, reason: string | undefined, now: Date): string {
  return store.update((current) => {
    const session = requireSession(current);
    if (session.status === "completed" || session.aborted) {
      const what = session.aborted ? "was aborted already" : "is completed";
      throw new MaestroError("illegal_transition", `Session ${session.session_id} ${what}`, {
        hint: 'Put it away with "maestro archive".',
      });
    }
    return { events: decideAbort(session, reason, now), result: session.session_id };
  });
}

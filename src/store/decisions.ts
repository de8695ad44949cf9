// Records the user's decisions about a session (retry, skip, abort) in the journal, where a running engine reads them. Never contacts
// the engine directly.

import { MaestroError } from "../errors.ts";
import { decideAbort, ownedFiles } from "../session/decide/attempt.ts";
import { type MoveRequest, requirePhase, requireSession } from "../session/decide/operation.ts";
import { type AgentChoice, otherAgent } from "../session/decide/other-agent.ts";
import { decideReopening, type Reopening } from "../session/decide/review/decide-review.ts";
import type { Adjustments } from "../session/events.ts";
import { runningEngine } from "./engine-lock.ts";
import { hashFiles } from "./files/project-files.ts";
import { movePhase } from "./operations.ts";
import type { SessionStore } from "./session-store.ts";

export interface PhaseDecision extends Omit<MoveRequest, "to" | "userDecision" | "failure"> {
  /** `in_progress` retries the phase, `skipped` skips it. */
  to: "in_progress" | "skipped";
  /** The agents that a retry can be given to; asked for only when another agent is wanted. */
  agents?: () => AgentChoice;
}

/** Returns whether a running engine acts on the decision; otherwise the next resume does. */
export function decidePhase(store: SessionStore, decision: PhaseDecision): boolean {
  store.read();
  if (decision.to === "in_progress") refuseUnfailed(store, decision.phase);
  const { agents: _, ...request } = decision;
  const adjustments = withAgent(store, decision);
  // An engine that has recorded the end of its run no longer reads decisions.
  const isReading = store.session?.status === "in_progress";
  movePhase(store, { ...request, adjustments, userDecision: true });
  return isReading && runningEngine(store.location) !== undefined;
}

/** Reopens a completed phase, or rejects the work that is reviewed. Returns whether a running engine acts on it. */
export function reopenPhase(store: SessionStore, request: Omit<Reopening, "hashes">): boolean {
  store.read();
  const isReading = store.session?.status === "in_progress";
  store.update((current) => {
    const session = requireSession(current);
    const files = ownedFiles(requirePhase(session, request.phase));
    const hashes = hashFiles(store.location.projectRoot, files);
    return { events: decideReopening(session, { ...request, hashes }), result: undefined };
  });
  return isReading && runningEngine(store.location) !== undefined;
}

/** The adjustments with the canonical name of the agent; throws when that agent cannot take the phase. */
function withAgent(store: SessionStore, { phase: id, adjustments, agents }: PhaseDecision): Adjustments | undefined {
  if (adjustments?.agent === undefined || agents === undefined) return adjustments;
  const phase = requirePhase(requireSession(store.session), id);
  return { ...adjustments, agent: otherAgent(phase, adjustments.agent, agents()) };
}

/** Only a failed phase needs a retry: the engine starts ready and interrupted phases by itself. */
function refuseUnfailed(store: SessionStore, id: string): void {
  const { status } = requirePhase(requireSession(store.session), id);
  if (status === "failed") return;
  throw new MaestroError(
    "illegal_transition",
    `Phase ${id} is ${status.replace("_", " ")}: only a failed phase is retried`,
    {
      hint: 'Run "maestro resume": it starts the phases that are ready or were interrupted.',
    },
  );
}

/** Records that the session is aborted permanently; returns its id. */
export function recordAbort(store: SessionStore, reason: string | undefined, now: Date): string {
  return store.update((current) => {
    const session = requireSession(current);
    if (session.status === "completed" || session.aborted) {
      const what = session.aborted ? "was aborted already" : "is completed";
      throw new MaestroError("illegal_transition", `Session ${session.session_id} ${what}`, {
        hint: 'Archive it with "maestro archive".',
      });
    }
    return { events: decideAbort(session, reason, now), result: session.session_id };
  });
}

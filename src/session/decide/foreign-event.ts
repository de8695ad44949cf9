// Judges what other processes may record while an engine runs the session: notes, requests for files, and the user's decisions. Pure.
// The command line and the MCP server check before they write; the engine checks before it trusts what it reads.

import { agentTiers, type Tier } from "../../agents/tiers.ts";
import type { EventOf, SessionEvent } from "../events.ts";
import { adjustmentsIn } from "../retry.ts";
import { openReview } from "../review/review.ts";
import { canTake } from "../scope.ts";
import { findPhase, type Session, type SessionPhase } from "../session.ts";
import { judgeMove } from "../transitions.ts";
import { decideAbort, ownedFiles } from "./attempt.ts";
import { isSameReview, judgeReopening } from "./review/decide-review.ts";
import { judgeScopeRequest } from "./scope-request.ts";

export interface ForeignRules {
  /** The configured state directory, which no phase may own. */
  stateDir: string;
  /** The tier of every agent that the engine knows; without it, an unknown agent is accepted. */
  tiers?: ReadonlyMap<string, Tier>;
}

/** `events`: the events to record; they differ from the given ones only when an abort missed a phase. */
export type ForeignVerdict = { events: readonly SessionEvent[] } | { refused: string };

/** Judges one change as a whole. */
export function judgeForeign(
  session: Session | undefined,
  change: readonly SessionEvent[],
  rules: ForeignRules,
): ForeignVerdict {
  if (session === undefined) return { refused: "only the engine starts a session while it runs" };
  const abort = readAbort(change);
  if (abort !== undefined) return judgeAbort(session, change, abort);
  const [event] = change;
  // Each decision must be a separate change, so that it is judged after the previous one has taken effect.
  if (change.length > 1 && !change.every(({ type }) => type === "session.noted")) {
    return { refused: `${[...new Set(change.map(({ type }) => type))].join(", ")} in one change` };
  }
  const reason = event === undefined ? undefined : change.map((one) => whyRefused(session, one, rules)).find(Boolean);
  return reason === undefined ? { events: change } : { refused: reason };
}

function whyRefused(session: Session, event: SessionEvent, rules: ForeignRules): string | undefined {
  if (event.type === "session.noted") {
    return event.phase === undefined ? undefined : whyUnknown(session, event.phase);
  }
  if (event.type === "phase.moved") return whyNoDecision(session, event, rules);
  if (event.type === "phase.reopened") return whyNotReopened(session, event);
  if (event.type === "review.approved") return whyNotApproved(session, event);
  if (event.type === "review.opened") return whyNotShownAgain(session, event);
  if (event.type === "phase.scope_requested") return whyNotGranted(session, event, rules);
  if (event.type === "requirement.answered") return "requirements are answered when the run has ended";
  return `${event.type} is recorded by the engine alone`;
}

function whyUnknown(session: Session, id: string): string | undefined {
  return findPhase(session, id) === undefined ? `the session has no phase ${JSON.stringify(id)}` : undefined;
}

/** The only legal decisions are retrying a failed phase and skipping a phase, as `maestro retry` and `maestro skip` record them. */
function whyNoDecision(session: Session, event: EventOf<"phase.moved">, { tiers }: ForeignRules): string | undefined {
  const { from, to, hashes } = event;
  const phase = findPhase(session, event.phase);
  if (phase === undefined) return whyUnknown(session, event.phase);
  const isDecision = event.user_decision === true && (to === "skipped" || (from === "failed" && to === "in_progress"));
  if (!isDecision) return `phase ${phase.id} is moved from ${from} to ${to} by the engine alone`;
  if (from !== phase.status) return `phase ${phase.id} is ${phase.status}, not ${from}`;
  const verdict = judgeMove(session, phase, { to, userDecision: true, maxRetries: 0 });
  if (!verdict.legal) return verdict.reason;
  const other = notOwned(hashes ?? {}, to === "in_progress" ? ownedFiles(phase) : []);
  if (other !== undefined) return `phase ${phase.id} does not own ${JSON.stringify(other)}`;
  if (to === "skipped" && Object.keys(adjustmentsIn(event)).length > 0)
    return `phase ${phase.id} is skipped, not retried`;
  return event.agent === undefined ? undefined : whyNotTaken(phase, event.agent, tiers);
}

function notOwned(hashes: object, files: readonly string[]): string | undefined {
  const owned = new Set(files);
  return Object.keys(hashes).find((path) => !owned.has(path));
}

/** As `maestro reopen` and `maestro reject` record it. */
function whyNotReopened(session: Session, event: EventOf<"phase.reopened">): string | undefined {
  const phase = findPhase(session, event.phase);
  if (phase === undefined) return whyUnknown(session, event.phase);
  const verdict = judgeReopening(session, phase, event.rejected);
  if (!verdict.legal) return verdict.reason;
  const other = notOwned(event.hashes, ownedFiles(phase));
  return other === undefined ? undefined : `phase ${phase.id} does not own ${JSON.stringify(other)}`;
}

/** An approval must be of the tree that is shown. */
function whyNotApproved(session: Session, event: EventOf<"review.approved">): string | undefined {
  const open = openReview(session);
  if (open === null) return "no review is open";
  return isSameReview(open, event) ? undefined : "another tree is shown for review";
}

/** `maestro approve` shows a review again when its tree has moved on; only the engine opens another one. */
function whyNotShownAgain(session: Session, event: EventOf<"review.opened">): string | undefined {
  const open = openReview(session);
  const isAgain = open !== null && isSameReview({ ...open, tree: event.tree }, event) && open.attempt === event.attempt;
  return isAgain ? undefined : "the engine alone opens a review";
}

function whyNotTaken(phase: SessionPhase, agent: string, tiers: ForeignRules["tiers"]): string | undefined {
  if (tiers !== undefined && !tiers.has(agent)) return `${agent} is not an agent`;
  return canTake(phase, (tiers ?? agentTiers).get(agent))
    ? undefined
    : `${agent} writes no files, and phase ${phase.id} owns some`;
}

/** A recorded refusal changes nothing; a grant must be one that the engine would give. */
function whyNotGranted(
  session: Session,
  event: EventOf<"phase.scope_requested">,
  { stateDir }: ForeignRules,
): string | undefined {
  const phase = findPhase(session, event.phase);
  if (phase === undefined) return whyUnknown(session, event.phase);
  if (!event.granted) return undefined;
  if (phase.status !== "in_progress") return `phase ${phase.id} is ${phase.status} and cannot be granted files`;
  if (!phase.agents.includes(event.agent)) return `phase ${phase.id} does not belong to ${event.agent}`;
  const verdict = judgeScopeRequest(session, phase.id, event.paths, stateDir);
  if (!verdict.granted) return `phase ${phase.id} is not granted these files: ${verdict.reason}`;
  const isPlain = JSON.stringify(verdict.paths) === JSON.stringify(event.paths);
  return isPlain ? undefined : `the paths granted to phase ${phase.id} are not in normal form`;
}

interface Abort {
  reason: string | undefined;
  summary: string | undefined;
}

/** Reads a change as an abort: phases that end by the user's decision, then the session. Undefined if it is another change. */
function readAbort(change: readonly SessionEvent[]): Abort | undefined {
  const last = change.at(-1);
  if (last?.type !== "session.status_set" || last.aborted !== true || last.status !== "failed") return undefined;
  const moves = change.slice(0, -1);
  const isEnd = (event: SessionEvent) =>
    event.type === "phase.moved" && event.user_decision === true && (event.to === "failed" || event.to === "aborted");
  if (!moves.every(isEnd)) return undefined;
  const [first] = moves;
  return { reason: first?.type === "phase.moved" ? first.reason : undefined, summary: last.summary };
}

/** The session determines which phases an abort ends, so that an abort written next to a forged record still ends every running phase. */
function judgeAbort(session: Session, change: readonly SessionEvent[], { reason, summary }: Abort): ForeignVerdict {
  if (session.status === "completed" || session.aborted || session.archiving !== null) {
    return { refused: `session ${session.session_id} is already over` };
  }
  const said = summary === undefined ? {} : { summary };
  const events = decideAbort(session, reason, new Date(0)).map((event): SessionEvent => {
    if (event.type !== "session.status_set") return event;
    return { type: event.type, status: event.status, ...said, aborted: true };
  });
  return { events: isSame(events, change) ? change : events };
}

function isSame(expected: readonly SessionEvent[], given: readonly SessionEvent[]): boolean {
  const plain = (event: SessionEvent) => JSON.stringify(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1)));
  return expected.length === given.length && expected.every((event, at) => plain(event) === plain(given[at] ?? event));
}

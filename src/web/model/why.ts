// Why a phase does not run at a moment: asks the engine's own scheduler with the session of that moment, and names what blocks the phase.
// Pure.

import { schedule } from "../../engine/schedule.ts";
import { phaseState, waitsFor } from "../../session/phase/phase-state.ts";
import { barrierOf, openReview, reviewSubject } from "../../session/review/review.ts";
import { findPhase, lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { runningAttempt } from "../../views/report/times.ts";
import { clockTime, durationText } from "../../views/text/duration.ts";
import { placeText, QUEUED } from "../../views/text/place.ts";

export interface WhyMoment {
  now: number;
  /** How many phases may run at a time; null: no limit. */
  slots: number | null;
  /** Whether an engine runs the session. */
  isDriven: boolean;
}

export interface Reason {
  kind:
    | "runs"
    | "blocked"
    | "slots"
    | "alone"
    | "quota"
    | "review"
    | "user"
    | "engine"
    | "starts"
    | "over"
    | "work"
    | "worker";
  text: string;
  /** The phases that it names. */
  phases: string[];
}

/** Undefined for a phase that is done. */
export function whyOf(session: Session, phase: SessionPhase, moment: WhyMoment): Reason | undefined {
  const state = phaseState(session, phase, moment.isDriven);
  if (state === "completed" || state === "skipped") return undefined;
  if (session.aborted || state === "aborted") return reason("over", "The session was aborted.");
  if (state === "failed") return reason("user", "It failed: you decide whether to retry or skip it.");
  if (state === "in_review") return reason("review", "Its work waits for your review.");
  if (runningAttempt(session, phase) !== undefined && moment.isDriven) {
    const attempt = lastAttempt(phase);
    const who = `Attempt ${attempt?.attempt} of ${attempt?.agent}`;
    const place = placeText(attempt);
    if (place === QUEUED) return reason("worker", `${who} ${QUEUED}${labelsOf(phase)}.`);
    return reason("runs", `${who} is running${place === "" ? "" : ` ${place}`}.`);
  }
  const blockers = waitsFor(session, phase);
  if (blockers.length > 0) return blockedBy(session, blockers);
  return heldBack(session, phase, moment);
}

function labelsOf({ plan }: SessionPhase): string {
  const needs = plan?.needs ?? [];
  return needs.length === 0 ? "" : ` with ${needs.join(", ")}`;
}

function blockedBy(session: Session, blockers: string[]): Reason {
  const named = blockers.map((id) => {
    const status = findPhase(session, id)?.status ?? "missing";
    return `${id} (${status.replace("_", " ")})`;
  });
  const shown = named.slice(0, 5).join(", ");
  const more = named.length > 5 ? ` and ${named.length - 5} more` : "";
  return reason("blocked", `Blocked by ${shown}${more}.`, blockers);
}

/** The phase could start as far as the plan is concerned. */
function heldBack(session: Session, phase: SessionPhase, moment: WhyMoment): Reason {
  const review = openReview(session);
  if (review?.batch !== undefined) {
    return reason("review", `Paused for the review of ${reviewSubject(review)}.`, review.phases);
  }
  const failed = session.phases.filter(({ status }) => status === "failed").map(({ id }) => id);
  const live = liveOf(session);
  const until = Date.parse(session.quota?.until ?? "") || Number.NEGATIVE_INFINITY;
  if (until > moment.now) {
    const left = durationText(until - moment.now);
    return reason("quota", `The provider's quota is exhausted until ${clockTime(new Date(until))} (${left}).`);
  }
  if (session.budget_spent !== null) return reason("user", "The budget is spent: you decide whether to raise it.");
  const slots = slotsOf(session, moment);
  const { actions } = schedule(
    session,
    { slots, staggerMs: 0, mode: session.execution_mode ?? "sequential", keepGoing: true },
    { live, now: moment.now, lastLaunch: null, notBefore: until, slots, draining: false },
  );
  const action = actions.find((one) => one.phase === phase.id);
  if (action !== undefined && failed.length > 0 && action.kind === "launch") {
    return reason("user", `A failed phase (${failed.slice(0, 3).join(", ")}) stops new starts.`, failed);
  }
  if (action !== undefined) return startsNow(action.kind, moment.isDriven);
  if (!phase.parallel && live.size > 0)
    return reason("alone", "It runs alone, and other phases are running.", [...live]);
  const [alone] = [...live].filter((id) => findPhase(session, id)?.parallel === false);
  if (alone !== undefined) return reason("alone", `Phase ${alone} runs alone.`, [alone]);
  if (session.review === "batch" && barrierOf(session).depth < Number.POSITIVE_INFINITY && live.size < slots) {
    return reason("review", "Earlier batches are not reviewed yet.");
  }
  if (live.size === 0) {
    const idle = moment.isDriven ? "" : ' No engine is running. Continue with "maestro resume".';
    return reason(
      moment.isDriven ? "slots" : "engine",
      `Of the phases that can start, those with a longer path to the end start first.${idle}`,
    );
  }
  const all = slots === Number.POSITIVE_INFINITY ? "" : ` (${live.size} of ${slots})`;
  return reason("slots", `All slots are taken${all}; phases with a longer path to the end start first.`, [...live]);
}

function startsNow(kind: string, isDriven: boolean): Reason {
  const what = {
    launch: "It can start",
    validate: "Its work can be validated",
    integrate: "Its work can be integrated",
    review: "Its batch can be reviewed",
    adopt: "Its last attempt has no recorded end",
  }[kind];
  if (isDriven) return reason(kind === "launch" ? "starts" : "work", `${what}: the engine is about to act on it.`);
  return reason("engine", `${what}, but no engine is running. Continue with "maestro resume".`);
}

/** The phases with a running attempt, by the journal. */
function liveOf(session: Session): Set<string> {
  const live = new Set<string>();
  for (const id of session.running) {
    const phase = findPhase(session, id);
    if (phase !== undefined && runningAttempt(session, phase) !== undefined) live.add(id);
  }
  return live;
}

/** Sequential mode has one slot; a quota error lowers their number. */
function slotsOf(session: Session, { slots }: Pick<WhyMoment, "slots">): number {
  if (session.execution_mode === "sequential") return 1;
  return Math.min(slots ?? Number.POSITIVE_INFINITY, session.quota?.slots ?? Number.POSITIVE_INFINITY);
}

function reason(kind: Reason["kind"], text: string, phases: readonly string[] = []): Reason {
  return { kind, text, phases: [...phases] };
}

// Decides what to start now, when to check again, and whether the run is over: a pure function of the session, the limits and the
// situation. It is called after every event, so it makes one pass over the phases. It starts nothing and changes no phase.

import type { PhaseId } from "../ids.ts";
import type { ExecutionMode } from "../session/events.ts";
import { type Barrier, barrierOf, needsReview, openReview } from "../session/review/review.ts";
import {
  awaitsIntegration,
  awaitsValidation,
  findPhase,
  isClosed,
  lastAttempt,
  type Session,
  type SessionPhase,
} from "../session/session.ts";
import { blockersOf, rankingOf, tailsOf } from "./priority.ts";

export interface Limits {
  /** How many phases may run at a time; Infinity: no limit. */
  slots: number;
  staggerMs: number;
  mode: ExecutionMode;
  /** Whether phases that do not depend on a failed phase still start. */
  keepGoing: boolean;
  /** The phases that may start; absent: all of them. */
  only?: ReadonlySet<string> | undefined;
}

export interface Situation {
  /** Phases with a running attempt, validation, integration or adoption of this engine. */
  live: ReadonlySet<string>;
  /** Monotonic ms. */
  now: number;
  lastLaunch: number | null;
  /** Nothing is launched before this time (quota); -Infinity: no wait. */
  notBefore: number;
  /** How many phases may run now; a quota error lowers it. */
  slots: number;
  /** Whether the budget suffices for an attempt of the phase; absent: always. */
  affords?: ((phase: SessionPhase) => boolean) | undefined;
  /** What limits the attempts of the phase's runtime; absent: nothing. */
  laneOf?: ((phase: SessionPhase) => Lane) | undefined;
  /** The user stopped new launches; work that has begun is still adopted and validated. */
  draining: boolean;
}

/** The phases of one runtime share a lane. */
export interface Lane {
  /** How many more of its attempts may start; counts down while launches are chosen. */
  free: number;
  /** None of them is launched before this time (quota); -Infinity: no wait. */
  notBefore: number;
}

export type BatchReview = NonNullable<Barrier["review"]>;

export type Action =
  /** Start an attempt. */
  | { kind: "launch"; phase: PhaseId }
  /** The agent succeeded; its work is not validated yet. */
  | { kind: "validate"; phase: PhaseId }
  /** The agent succeeded in a worktree: merge its work, validate it and apply it to the project. */
  | { kind: "integrate"; phase: PhaseId }
  /** The batch with this phase is done: ask the user to review it. */
  | ({ kind: "review"; phase: PhaseId } & BatchReview)
  /** The engine of the attempt died: look for a result in its files, and record how the attempt ended. */
  | { kind: "adopt"; phase: PhaseId };

export interface Schedule {
  /** In order. */
  actions: Action[];
  /** When to schedule again even if nothing happens; null: only when some work ends. */
  wakeAt: number | null;
  /** Nothing runs and nothing will start. */
  idle: boolean;
  /** Why it is idle; null also when `draining` is the only reason. */
  end: "completed" | "chosen" | "failed" | "review" | "budget" | "blocked" | null;
}

export function schedule(session: Session, limits: Limits, situation: Situation): Schedule {
  const survey = surveyOf(session, situation.live, limits.only);
  if (isOver(session)) return conclude(session, survey, limits, situation, [], null);
  // The result of an adoption decides what else can run. Adoptions are quick, so schedule again at once.
  if (survey.adopt.length > 0) return conclude(session, survey, limits, situation, survey.adopt, situation.now);
  const room = roomOf(session, limits, situation);
  const actions = validationsAndIntegrations(session, limits.mode, reviewable(session, survey.prove, situation), room);
  const barrier = session.review === "batch" ? barrierOf(session, limits.only) : null;
  actions.push(...batchReview(session, barrier, situation));
  const stopped = situation.draining || (survey.failed > 0 && !limits.keepGoing);
  const wakeAt = stopped ? null : launch(session, limits, situation, room, actions, barrier);
  return conclude(session, survey, limits, situation, actions, wakeAt);
}

/**
 * The user reviews one phase at a time, because the tree that is shown would move on with the work of another one. Work that needs no
 * review does not wait.
 */
function reviewable(session: Session, positions: number[], { live }: Situation): number[] {
  if (session.review !== "phase") return positions;
  const { phases, open_review: review } = session;
  const isLive = phases.some((phase) => live.has(phase.id) && needsReview(session, phase));
  const waiting = positions.filter((position) => needsReview(session, phases[position] as SessionPhase));
  const next = waiting.find(
    (position) => review === null || review.phases.includes((phases[position] as SessionPhase).id),
  );
  const chosen = isLive || openReview(session) !== null ? undefined : next;
  return positions.filter((position) => position === chosen || !waiting.includes(position));
}

function batchReview(session: Session, barrier: Barrier | null, { live }: Situation): Action[] {
  const { review = null } = barrier ?? {};
  const [phase] = review?.phases ?? [];
  if (review === null || phase === undefined || openReview(session) !== null || live.size > 0) return [];
  return [{ kind: "review", phase, ...review }];
}

interface Survey {
  closed: number;
  failed: number;
  adopt: Action[];
  /** Positions of phases to be validated or integrated, in plan order. */
  prove: number[];
}

/** A failed phase that was not requested (`only`) does not stop the run. */
function surveyOf({ phases }: Session, live: Situation["live"], only: Limits["only"]): Survey {
  const survey: Survey = { closed: 0, failed: 0, adopt: [], prove: [] };
  for (let position = 0; position < phases.length; position += 1) {
    const phase = phases[position] as SessionPhase;
    if (isClosed(phase)) survey.closed += 1;
    else if (phase.status === "failed") survey.failed += only?.has(phase.id) === false ? 0 : 1;
    else if (phase.status === "in_progress" && !live.has(phase.id)) {
      const need = needOf(phase);
      if (need === "adopt") survey.adopt.push({ kind: need, phase: phase.id });
      if (need === "validate" || need === "integrate") survey.prove.push(position);
    }
  }
  return survey;
}

/** What a phase in progress needs when no work on it is running. */
function needOf(phase: SessionPhase): Exclude<Action["kind"], "review"> {
  if (awaitsIntegration(phase)) return "integrate";
  // This includes work of a native delegation, which has no attempt of an engine.
  if (awaitsValidation(phase)) return "validate";
  const attempt = lastAttempt(phase);
  if (attempt === undefined) return "launch";
  if (attempt.result === null) return "adopt";
  // An attempt from before the phase's last start failed its validation, so the retry needs a new attempt.
  const isCurrent = phase.attempts.length > (phase.attempts_at_start ?? 0);
  return attempt.result.outcome === "success" && isCurrent ? "validate" : "launch";
}

function isOver(session: Session): boolean {
  return session.aborted || session.status === "completed" || session.archiving !== null;
}

/** The slots that are still free while actions are chosen. */
interface Room {
  free: number;
  used: number;
  /** A phase that runs alone occupies all slots. */
  alone: boolean;
}

function roomOf(session: Session, limits: Limits, { live, slots }: Situation): Room {
  let alone = false;
  for (const id of live) alone ||= findPhase(session, id)?.parallel === false;
  // At least one slot: with none, nothing could ever start.
  const all = limits.mode === "sequential" ? 1 : Math.max(1, Math.min(limits.slots, slots));
  return { free: all - live.size, used: live.size, alone };
}

function fits(room: Room, phase: SessionPhase): boolean {
  return hasRoom(room) && (phase.parallel || room.used === 0);
}

function hasRoom(room: Room): boolean {
  return room.free > 0 && !room.alone;
}

function take(room: Room, phase: SessionPhase): void {
  room.free -= 1;
  room.used += 1;
  room.alone = !phase.parallel;
}

/** Validations and integrations come before launches: they complete phases, which unblocks others. */
function validationsAndIntegrations(session: Session, mode: ExecutionMode, positions: number[], room: Room): Action[] {
  if (mode === "parallel" && positions.length > 1) {
    const tails = tailsOf(session.phases);
    positions.sort((a, b) => (tails[b] ?? 0) - (tails[a] ?? 0));
  }
  const actions: Action[] = [];
  for (const position of positions) {
    const phase = session.phases[position] as SessionPhase;
    if (!fits(room, phase)) continue;
    take(room, phase);
    actions.push({ kind: needOf(phase), phase: phase.id });
  }
  return actions;
}

/** Adds launches to `actions`. Returns when the next one is due if it only has to wait for time to pass. */
function launch(
  session: Session,
  limits: Limits,
  situation: Situation,
  room: Room,
  actions: Action[],
  barrier: Barrier | null,
): number | null {
  const { now, lastLaunch, notBefore, live } = situation;
  const { staggerMs } = limits;
  let laneDue = Number.POSITIVE_INFINITY;
  let due = lastLaunch === null || staggerMs <= 0 ? notBefore : Math.max(notBefore, lastLaunch + staggerMs);
  const { phases } = session;
  const blockers = blockersOf(phases);
  const ranking = limits.mode === "sequential" ? null : rankingOf(phases);
  for (let rank = 0; rank < phases.length && hasRoom(room); rank += 1) {
    const position = ranking === null ? rank : (ranking[rank] as number);
    const phase = phases[position] as SessionPhase;
    if (barrier !== null && (barrier.depths[position] ?? 0) > barrier.depth) continue;
    // A phase that runs alone waits until nothing runs; meanwhile other phases may use the slots.
    if (!isLaunchable(phases, position, blockers, live, limits.only) || !fits(room, phase)) continue;
    if (situation.affords?.(phase) === false) continue;
    const lane = situation.laneOf?.(phase);
    if (lane !== undefined && lane.free <= 0) continue;
    if (lane !== undefined && now < lane.notBefore) {
      laneDue = Math.min(laneDue, lane.notBefore);
      continue;
    }
    if (now < due) return Math.min(due, laneDue);
    take(room, phase);
    if (lane !== undefined) lane.free -= 1;
    actions.push({ kind: "launch", phase: phase.id });
    if (staggerMs > 0) due = now + staggerMs;
  }
  return Number.isFinite(laneDue) ? laneDue : null;
}

function isLaunchable(
  phases: readonly SessionPhase[],
  position: number,
  blockers: readonly (readonly number[])[],
  live: Situation["live"],
  only: Limits["only"],
): boolean {
  const phase = phases[position] as SessionPhase;
  if (only?.has(phase.id) === false) return false;
  if (phase.status !== "pending" && phase.status !== "in_progress") return false;
  for (const blocker of blockers[position] ?? []) {
    const before = phases[blocker];
    // The user may have closed the blocker while its attempt is still being stopped.
    if (before === undefined || !isClosed(before) || live.has(before.id)) return false;
  }
  return !live.has(phase.id) && (phase.status === "pending" || needOf(phase) === "launch");
}

function conclude(
  session: Session,
  survey: Survey,
  limits: Limits,
  situation: Situation,
  actions: Action[],
  wakeAt: number | null,
): Schedule {
  const idle = situation.live.size === 0 && actions.length === 0 && wakeAt === null;
  return { actions, wakeAt, idle, end: idle ? endOf(session, survey, limits, situation) : null };
}

function endOf(session: Session, survey: Survey, limits: Limits, situation: Situation): Schedule["end"] {
  const { only } = limits;
  const { draining, live } = situation;
  if (!session.aborted && isHeldBack(session, survey, limits, situation)) return "budget";
  if (session.aborted || survey.failed > 0) return "failed";
  if (openReview(session) !== null) return "review";
  if (session.status === "completed" || survey.closed === session.phases.length) return "completed";
  const { phases } = session;
  if (only !== undefined && phases.every((phase) => !only.has(phase.id) || isClosed(phase))) return "chosen";
  const blockers = blockersOf(phases);
  const couldContinue = draining && phases.some((_, position) => isLaunchable(phases, position, blockers, live, only));
  return couldContinue ? null : "blocked";
}

/** Whether a phase could start if the budget were larger. */
function isHeldBack(session: Session, { failed }: Survey, limits: Limits, situation: Situation): boolean {
  const { affords, draining, live } = situation;
  if (affords === undefined || draining || isOver(session) || (failed > 0 && !limits.keepGoing)) return false;
  const { phases } = session;
  const blockers = blockersOf(phases);
  return phases.some(
    (phase, position) => isLaunchable(phases, position, blockers, live, limits.only) && !affords(phase),
  );
}

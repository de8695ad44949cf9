// The rows of the timeline: for each phase its attempts as bars with their parts, and the waits between them; and the axis, on which idle
// time takes little room. Pure.

import { waitsFor } from "../../session/phase/phase-state.ts";
import { type Attempt, findPhase, isClosed, isQueued, type Session, type SessionPhase } from "../../session/session.ts";
import { runningAttempt, startOf } from "../../views/report/times.ts";
import { type BarOutcome, phaseSign, type StateSign } from "./sign.ts";

export type BarPart = "agent" | "validation" | "integration";

export interface Bar {
  attempt: number | null;
  outcome: BarOutcome;
  /** The worker that ran it. */
  worker?: string;
  from: number;
  to: number;
  parts: { kind: BarPart; from: number; to: number }[];
}

export interface Wait {
  /** `queue`: offered to workers, and none had taken it. */
  kind: "quota" | "slot" | "review" | "queue";
  from: number;
  to: number;
}

export interface TimelineRow {
  id: string;
  name: string;
  agent: string;
  sign: StateSign;
  /** The reason why it does not run is shown in its place. */
  isOpen: boolean;
  isCritical: boolean;
  bars: Bar[];
  waits: Wait[];
}

export interface Timeline {
  rows: TimelineRow[];
  from: number;
  to: number;
  /** Times in which at least one attempt ran, in order, not overlapping. */
  busy: { from: number; to: number }[];
}

export interface TimelineLook {
  now: number;
  isDriven: boolean;
  critical: ReadonlySet<string>;
}

export function timelineOf(session: Session, look: TimelineLook): Timeline {
  const rows = session.phases.map((phase) => rowOf(session, phase, look));
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const { bars } of rows) {
    for (const bar of bars) {
      from = Math.min(from, bar.from);
      to = Math.max(to, bar.to);
    }
  }
  if (from > to) return { rows, from: look.now, to: look.now, busy: [] };
  if (session.status === "in_progress" && look.isDriven) to = Math.max(to, look.now);
  return { rows, from, to, busy: busyTimes(rows) };
}

function rowOf(session: Session, phase: SessionPhase, { now, isDriven, critical }: TimelineLook): TimelineRow {
  const bars = barsOf(session, phase, now, isDriven);
  return {
    id: phase.id,
    name: phase.name,
    agent: phase.agents[0] ?? "",
    sign: phaseSign(session, phase, isDriven),
    isOpen: !isClosed(phase),
    isCritical: critical.has(phase.id),
    bars,
    waits: waitsOf(session, phase, bars, now, isDriven),
  };
}

function barsOf(session: Session, phase: SessionPhase, now: number, isDriven: boolean): Bar[] {
  if (phase.attempts.length === 0) return phase.started === null ? [] : [handBar(session, phase, now)];
  // Without an engine or a conversation the attempt does not run, although its end is not recorded.
  const running = isDriven ? runningAttempt(session, phase) : undefined;
  // An attempt in the queue is a wait, not a bar.
  const begun = phase.attempts.filter((attempt) => !isQueued(attempt));
  return begun.map((attempt) => {
    const isLast = attempt === phase.attempts.at(-1);
    const place = attempt.worker === undefined ? {} : { worker: attempt.worker };
    const bar = { ...attemptBar(phase, attempt, isLast, attempt === running ? now : null), ...place };
    const isUnaccepted = bar.outcome === "success" && (!isLast || phase.status === "failed");
    return isUnaccepted ? { ...bar, outcome: "unaccepted" } : bar;
  });
}

/** Work without a recorded attempt: by hand, or delegated with an earlier version. */
function handBar(session: Session, phase: SessionPhase, now: number): Bar {
  const from = timeOf(phase.started);
  const isRunning = phase.status === "in_progress" && session.status === "in_progress";
  const to = phase.completed === null ? (isRunning ? now : from) : timeOf(phase.completed);
  const outcome = phase.completed === null ? (isRunning ? "running" : "unseen") : "success";
  return { attempt: null, outcome, from, to, parts: [{ kind: "agent", from, to }] };
}

function attemptBar(phase: SessionPhase, attempt: Attempt, isLast: boolean, runsUntil: number | null): Bar {
  const from = startOf(attempt);
  if (attempt.result === null) {
    const to = runsUntil ?? from;
    const outcome = runsUntil === null ? "unseen" : "running";
    return { attempt: attempt.attempt, outcome, from, to, parts: [{ kind: "agent", from, to }] };
  }
  const ended = from + attempt.result.duration_ms;
  const validated = Math.max(ended, timeOf(attempt.validated?.at) || 0);
  const completed = isLast && isClosed(phase) && attempt.integrated ? timeOf(phase.completed) || 0 : 0;
  const to = Math.max(validated, completed);
  const parts: Bar["parts"] = [{ kind: "agent", from, to: ended }];
  if (validated > ended) parts.push({ kind: "validation", from: ended, to: validated });
  if (to > validated) parts.push({ kind: "integration", from: validated, to });
  const outcome = attempt.validated?.result === "fail" ? "failure" : attempt.result.outcome;
  return { attempt: attempt.attempt, outcome, from, to, parts };
}

/** Before the first attempt a phase waits for a free slot from the moment its last dependency is done; after a quota error, for the provider. */
function waitsOf(session: Session, phase: SessionPhase, bars: readonly Bar[], now: number, isDriven: boolean): Wait[] {
  const waits: Wait[] = [];
  const ready = readySince(session, phase);
  const [first] = phase.attempts;
  const isWaiting = phase.status === "pending" && isDriven && waitsFor(session, phase).length === 0;
  const begun = first === undefined ? bars[0]?.from : timeOf(first.started);
  const until = begun ?? (isWaiting ? now : null);
  if (ready !== null && until !== null && until > ready) waits.push({ kind: "slot", from: ready, to: until });
  for (const [at, bar] of bars.entries()) {
    const isLast = at === bars.length - 1;
    // The last one waits still, as long as an engine runs the session.
    const until = isLast
      ? isDriven && !isClosed(phase) && phase.status !== "failed"
        ? now
        : 0
      : (bars[at + 1]?.from ?? 0);
    if (bar.outcome === "quota" && until > bar.to) waits.push({ kind: "quota", from: bar.to, to: until });
  }
  waits.push(...queueWaits(session, phase, isDriven ? now : null));
  const review = session.open_review;
  if (review !== null && !review.approved && review.phases.includes(phase.id)) {
    waits.push({ kind: "review", from: timeOf(review.opened), to: Math.max(now, timeOf(review.opened)) });
  }
  return waits;
}

/** From the offer of each attempt until a worker took it; `until`: when one that is offered still waits. */
function queueWaits(session: Session, phase: SessionPhase, until: number | null): Wait[] {
  return phase.attempts.flatMap((attempt): Wait[] => {
    if (attempt.remote !== true) return [];
    const isOffered = until !== null && isQueued(attempt) && runningAttempt(session, phase) === attempt;
    const from = timeOf(attempt.started);
    const to = isOffered ? until : timeOf(attempt.claimed ?? attempt.finished ?? attempt.started);
    return to > from ? [{ kind: "queue", from, to }] : [];
  });
}

function readySince(session: Session, phase: SessionPhase): number | null {
  let since = timeOf(session.created);
  for (const id of phase.blocked_by) {
    const blocker = findPhase(session, id);
    if (blocker === undefined || !isClosed(blocker)) return null;
    since = Math.max(since, timeOf(blocker.completed) || 0);
  }
  return since;
}

function busyTimes(rows: readonly TimelineRow[]): { from: number; to: number }[] {
  const spans = rows.flatMap(({ bars }) => bars.map(({ from, to }) => ({ from, to })));
  spans.sort((one, other) => one.from - other.from);
  const busy: { from: number; to: number }[] = [];
  for (const span of spans) {
    const last = busy.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else busy.push({ ...span });
  }
  return busy;
}

/** How long at least one attempt ran. */
export function workedTime({ busy }: Pick<Timeline, "busy">): number {
  return busy.reduce((sum, span) => sum + span.to - span.from, 0);
}

export interface Gap {
  from: number;
  to: number;
  /** Where it is drawn, from 0 to 1. */
  at: number;
  width: number;
}

export interface Axis {
  /** Where a time is drawn, from 0 to 1. */
  place(time: number): number;
  /** The idle times that are drawn shorter than they were. */
  gaps: Gap[];
}

/** A collapsed gap takes this part of the busy time. */
const GAP_SHARE = 0.03;
/** Gaps shorter than this part of the busy time stay as they are. */
const SHORT_GAP = 0.08;

export function axisOf({ from, to, busy }: Timeline, isCollapsed: boolean): Axis {
  const worked = workedTime({ busy }) || 1;
  const pieces: { from: number; to: number; length: number; isGap: boolean }[] = [];
  let at = from;
  const push = (until: number, isGap: boolean) => {
    if (until <= at) return;
    const shrinks = isGap && isCollapsed && until - at > worked * SHORT_GAP;
    pieces.push({ from: at, to: until, length: shrinks ? worked * GAP_SHARE : until - at, isGap: shrinks });
    at = until;
  };
  for (const span of busy) {
    push(span.from, true);
    push(span.to, false);
  }
  push(to, true);
  const total = pieces.reduce((sum, piece) => sum + piece.length, 0) || 1;
  let start = 0;
  const placed = pieces.map((piece) => {
    const one = { ...piece, at: start / total, width: piece.length / total };
    start += piece.length;
    return one;
  });
  return {
    place: (time) => {
      const piece = placed.find((one) => time <= one.to) ?? placed.at(-1);
      if (piece === undefined) return 0;
      const share = (time - piece.from) / (piece.to - piece.from);
      return piece.at + piece.width * Math.min(1, Math.max(0, share));
    },
    gaps: placed.filter(({ isGap }) => isGap).map(({ from, to, at, width }) => ({ from, to, at, width })),
  };
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800];

/** Round times for the axis, about `most` of them, none inside a collapsed gap. */
export function ticksOf({ from, to, busy }: Timeline, { gaps }: Axis, most: number): number[] {
  const worked = workedTime({ busy });
  const seconds = Math.max(1, (gaps.length > 0 ? worked : to - from) / 1000);
  const step = (STEPS.find((one) => seconds / one <= most) ?? 604_800) * 1000;
  const ticks: number[] = [];
  for (let time = 0; from + time <= to && ticks.length < 500; time += step) {
    const at = from + time;
    const inGap = gaps.find((gap) => at > gap.from && at < gap.to);
    // Continues with the first round time after the gap.
    if (inGap !== undefined) time += Math.floor((inGap.to - at) / step) * step;
    else ticks.push(at);
  }
  return ticks;
}

/** Every frame of the page reads the same few thousand times of the journal, and parsing one takes longer than all that is done with it. */
const known = new Map<string, number>();
const MAX_KNOWN = 200_000;

/** NaN for a text that is not a time. */
function timeOf(text: string | null | undefined): number {
  if (!text) return Number.NaN;
  const before = known.get(text);
  if (before !== undefined) return before;
  if (known.size >= MAX_KNOWN) known.clear();
  const time = Date.parse(text);
  known.set(text, time);
  return time;
}

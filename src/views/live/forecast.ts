// Estimates how long a session still takes: it simulates the remaining phases on the slots, at the pace measured so far.

import { DEFAULT_PHASE_MINUTES, type Graph, graphOf } from "../../plan/graph.ts";
import { isClosed, isQueued, type Session, type SessionPhase } from "../../session/session.ts";
import { runningAttempt, startOf, workedMs } from "../report/times.ts";

export interface Forecast {
  /** The longest chain of dependent phases. */
  criticalPathLeftMs: number;
  /** Until the last phase ends. Failed phases count as if they ran again. */
  remainingMs: number;
  /** The share of the estimated work that is done, 0 to 1. */
  done: number;
}

/** A running phase never counts as more than this. */
const ALMOST = 0.95;

/** `slots` is how many attempts may run in parallel; null means no limit. */
export function forecast(session: Session, now: Date, slots: number | null): Forecast {
  const pace = paceOf(session, now);
  const left = session.aborted ? [] : session.phases.filter((phase) => !isClosed(phase));
  const jobs = left.map((phase) => jobOf(session, phase, pace, now));
  const graph = graphOf(left);
  const tails = tailsOf(graph, jobs);
  const wait = session.quota === null ? 0 : Math.max(0, Date.parse(session.quota.until) - now.getTime());
  return {
    criticalPathLeftMs: tails.reduce((longest, tail) => Math.max(longest, tail), 0),
    remainingMs: makespan(jobs, graph, tails, slots ?? Number.POSITIVE_INFINITY, wait),
    done: doneOf(session, jobs),
  };
}

interface Job {
  phase: SessionPhase;
  isRunning: boolean;
  expectedMs: number;
  leftMs: number;
}

function jobOf(session: Session, phase: SessionPhase, pace: number, now: Date): Job {
  const expectedMs = estimateMs(phase) * pace;
  const attempt = runningAttempt(session, phase);
  const elapsed = attempt === undefined || isQueued(attempt) ? 0 : now.getTime() - startOf(attempt);
  return {
    phase,
    isRunning: attempt !== undefined,
    expectedMs,
    leftMs: Math.max(0, expectedMs - Math.max(0, elapsed)),
  };
}

function estimateMs(phase: SessionPhase): number {
  return (phase.plan?.estimate?.minutes ?? DEFAULT_PHASE_MINUTES) * 60_000;
}

/** The ratio of finished phases to their estimates: the median, so that one odd phase does not distort it. */
function paceOf(session: Session, now: Date): number {
  const ratios = session.phases.flatMap((phase) => {
    const actual = phase.status === "completed" ? workedMs(session, phase, now) : null;
    return actual === null || estimateMs(phase) === 0 ? [] : [actual / estimateMs(phase)];
  });
  ratios.sort((one, other) => one - other);
  const middle = Math.floor(ratios.length / 2);
  const upper = ratios[middle] ?? 1;
  return ratios.length % 2 === 1 ? upper : (upper + (ratios[middle - 1] ?? upper)) / 2;
}

/** For each job, its own duration plus that of the longest chain after it. */
function tailsOf(graph: Graph, jobs: readonly Job[]): number[] {
  const tails = jobs.map((job) => job.leftMs);
  for (const position of [...graph.order].reverse()) {
    for (const blocker of graph.blockers[position] ?? []) {
      tails[blocker] = Math.max(tails[blocker] ?? 0, (jobs[blocker]?.leftMs ?? 0) + (tails[position] ?? 0));
    }
  }
  return tails;
}

/** List scheduling: a ready phase starts when a slot is free, the longest chain first; `parallel: false` runs alone. */
function makespan(jobs: readonly Job[], graph: Graph, tails: readonly number[], slots: number, wait: number): number {
  const dependents: number[][] = jobs.map(() => []);
  const waiting = graph.blockers.map((blockers) => blockers.length);
  for (const [position, blockers] of graph.blockers.entries()) {
    for (const blocker of blockers) dependents[blocker]?.push(position);
  }
  /** Sorted so that the next to start, or to end, comes last. */
  const ready = { together: [] as number[], alone: [] as number[] };
  const running: { position: number; end: number }[] = [];
  const offer = (position: number) => {
    const queue = jobs[position]?.phase.parallel === false ? ready.alone : ready.together;
    insert(queue, position, (one, other) => (tails[one] ?? 0) - (tails[other] ?? 0));
  };
  const start = (position: number, at: number) =>
    insert(running, { position, end: at + (jobs[position]?.leftMs ?? 0) }, (one, other) => other.end - one.end);
  for (const [position, job] of jobs.entries()) {
    if (job.isRunning) start(position, 0);
    else if (waiting[position] === 0) offer(position);
  }
  let now = 0;
  for (;;) {
    const from = Math.max(now, wait);
    const isAlone = running.some(({ position }) => jobs[position]?.phase.parallel === false);
    while (!isAlone && running.length < slots && ready.together.length > 0) start(ready.together.pop() ?? 0, from);
    if (running.length === 0 && ready.alone.length > 0) start(ready.alone.pop() ?? 0, from);
    const ended = running.pop();
    if (ended === undefined) return now;
    now = ended.end;
    for (const dependent of dependents[ended.position] ?? []) {
      waiting[dependent] = (waiting[dependent] ?? 0) - 1;
      if (waiting[dependent] === 0 && jobs[dependent]?.isRunning === false) offer(dependent);
    }
  }
}

function insert<T>(sorted: T[], item: T, compare: (one: T, other: T) => number): void {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(sorted[middle] as T, item) <= 0) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, item);
}

function doneOf(session: Session, left: readonly Job[]): number {
  if (session.phases.every(isClosed)) return 1;
  // A plan may have no estimates at all: then phases are counted.
  const total = session.phases.reduce((sum, phase) => sum + estimateMs(phase), 0);
  const weight = (phase: SessionPhase) => (total === 0 ? 1 : estimateMs(phase));
  const closed = session.phases.filter(isClosed).reduce((sum, phase) => sum + weight(phase), 0);
  const begun = left.reduce((sum, { phase, expectedMs, leftMs }) => {
    const part = expectedMs === 0 ? 0 : Math.min(ALMOST, 1 - leftMs / expectedMs);
    return sum + part * weight(phase);
  }, 0);
  return (closed + begun) / (total === 0 ? session.phases.length : total);
}

// How long a session would have taken under other conditions: the engine's own scheduler, run with the measured durations instead of
// agents. Pure; what an agent would have done otherwise is not guessed.

import { schedule } from "../../engine/schedule.ts";
import { graphOf, longestPath } from "../../plan/graph.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import { workedMs } from "../../views/report/times.ts";

export interface Conditions {
  /** How many phases run at a time; Infinity: no limit. */
  slots: number;
  /** Only the last attempt of each phase counts. */
  withoutRetries: boolean;
  /** The session does not wait for the provider. */
  withoutQuota: boolean;
}

export interface WhatIf {
  /** From the first start to the last end. */
  makespanMs: number;
  /** With these conditions, no plan of the same durations is shorter than its critical path. */
  boundMs: number;
  starts: { id: string; from: number; to: number }[];
  /** The phases that have no measured duration and are left out. */
  unmeasured: string[];
}

export function whatIf(session: Session, conditions: Conditions, now: Date): WhatIf {
  const lengths = new Map<string, number>();
  const unmeasured: string[] = [];
  for (const phase of session.phases) {
    const length = lengthOf(session, phase, conditions, now);
    if (length === null) unmeasured.push(phase.id);
    lengths.set(phase.id, length ?? 0);
  }
  const quota = conditions.withoutQuota ? 0 : quotaMs(session);
  const starts = simulate(session, conditions.slots, lengths);
  const makespan = starts.reduce((last, { to }) => Math.max(last, to), 0);
  const { length } = longestPath(graphOf(session.phases), (at) => lengths.get(session.phases[at]?.id ?? "") ?? 0);
  return { makespanMs: makespan + quota, boundMs: length + quota, starts, unmeasured };
}

function lengthOf(session: Session, phase: SessionPhase, { withoutRetries }: Conditions, now: Date): number | null {
  const worked = workedMs(session, phase, now);
  if (!withoutRetries || phase.attempts.length < 2) return worked;
  const earlier = phase.attempts.slice(0, -1).reduce((sum, { result }) => sum + (result?.duration_ms ?? 0), 0);
  return worked === null ? null : Math.max(0, worked - earlier);
}

/** How long the whole session waited for the provider: between a quota error and the next attempt of that phase. */
export function quotaMs(session: Session): number {
  let waited = 0;
  for (const { attempts } of session.phases) {
    for (const [at, { result, started }] of attempts.entries()) {
      const next = attempts[at + 1];
      if (result?.outcome !== "quota" || next === undefined) continue;
      const ended = Date.parse(started) + result.duration_ms;
      waited = Math.max(waited, Date.parse(next.started) - ended);
    }
  }
  return Math.max(0, waited);
}

/** Runs the plan from its beginning; a phase without a duration ends at once. */
function simulate(session: Session, slots: number, lengths: ReadonlyMap<string, number>): WhatIf["starts"] {
  const phases = session.phases.map(pending);
  const state: Session = {
    ...session,
    phases,
    status: "in_progress",
    review: "end",
    open_review: null,
    aborted: false,
    archiving: null,
    quota: null,
    running: new Set(),
  };
  const mode = slots === 1 ? "sequential" : "parallel";
  const running = new Map<string, number>();
  const starts: WhatIf["starts"] = [];
  let now = 0;
  // Each round starts or ends at least one phase.
  for (let round = 0; round <= 2 * phases.length; round += 1) {
    const { actions } = schedule(
      state,
      { slots, staggerMs: 0, mode, keepGoing: true },
      {
        live: new Set(running.keys()),
        now,
        lastLaunch: null,
        notBefore: Number.NEGATIVE_INFINITY,
        slots,
        draining: false,
      },
    );
    for (const action of actions.filter(({ kind }) => kind === "launch")) {
      const to = now + (lengths.get(action.phase) ?? 0);
      running.set(action.phase, to);
      starts.push({ id: action.phase, from: now, to });
    }
    if (running.size === 0) break;
    now = Math.min(...running.values());
    for (const [id, end] of running) {
      if (end > now) continue;
      running.delete(id);
      const phase = phases[session.index.get(id as SessionPhase["id"]) ?? -1];
      if (phase !== undefined) phase.status = "completed";
    }
  }
  return starts;
}

function pending(phase: SessionPhase): SessionPhase {
  return { ...phase, status: "pending", attempts: [], attempts_at_start: 0 };
}

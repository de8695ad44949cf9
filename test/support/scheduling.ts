// Events, limits and situations for the tests of the schedule.

import type { Limits, Schedule, Situation } from "../../src/engine/schedule.ts";
import type { AttemptOutcome, SessionEvent } from "../../src/session/events.ts";
import { moved } from "./session.ts";

export const unlimited: Limits = { slots: Infinity, staggerMs: 0, mode: "parallel", keepGoing: false };
export const calm: Situation = {
  live: new Set(),
  now: 1000,
  lastLaunch: null,
  notBefore: -Infinity,
  slots: Infinity,
  draining: false,
};

export const started = (phase: string, attempt = 1): SessionEvent => ({
  type: "attempt.started",
  phase,
  attempt,
  agent: "coder",
  run: "r1",
  runtime: "rehearsal",
  model: null,
  batch: "b",
  name: `coder.p${phase}-${attempt}`,
  prompt_bytes: 1,
  timeout_ms: 600_000,
});

export const finished = (phase: string, outcome: AttemptOutcome, attempt = 1): SessionEvent => ({
  type: "attempt.finished",
  phase,
  attempt,
  outcome,
  exit_code: 0,
  signal: null,
  duration_ms: 1,
  usage: null,
});

export const begin = (phase: string) => moved(phase, "pending", "in_progress");

/** "launch 1" of every action. */
export const shown = ({ actions }: Schedule) => actions.map(({ kind, phase }) => `${kind} ${phase}`);

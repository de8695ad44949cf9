// Ranks phases for launching: the one with the longest path to the end of the plan goes first. Pure; computed once per list of phases
// (a revised plan is a new list), linear in phases and edges, without recursion.

import { DEFAULT_PHASE_MINUTES } from "../plan/graph.ts";
import type { SessionPhase } from "../session/session.ts";

/** For each position, the minutes of the longest path from the phase to the end of the plan, including the phase itself. */
export function tailsOf(phases: readonly SessionPhase[]): Float64Array {
  return factsOf(phases).tails;
}

/** The positions of all phases, longest tail first; equal tails stay in plan order. */
export function rankingOf(phases: readonly SessionPhase[]): Int32Array {
  return factsOf(phases).ranking;
}

/** For each position, the positions of its blockers; -1 for a blocker that is not a phase of the session. */
export function blockersOf(phases: readonly SessionPhase[]): readonly (readonly number[])[] {
  return factsOf(phases).blockers;
}

const UNKNOWN = -1;

interface Facts {
  blockers: readonly (readonly number[])[];
  tails: Float64Array;
  ranking: Int32Array;
}

const known = new WeakMap<readonly SessionPhase[], Facts>();

function factsOf(phases: readonly SessionPhase[]): Facts {
  const before = known.get(phases);
  if (before !== undefined) return before;
  const positions = new Map(phases.map((phase, position) => [phase.id, position]));
  const blockers = phases.map((phase) => phase.blocked_by.map((id) => positions.get(id) ?? UNKNOWN));
  const tails = measure(phases, blockers);
  // The sort is stable, so equal tails stay in plan order.
  const ranking = Int32Array.from(phases.keys()).sort((a, b) => (tails[b] ?? 0) - (tails[a] ?? 0));
  const facts = { blockers, tails, ranking };
  known.set(phases, facts);
  return facts;
}

function measure(phases: readonly SessionPhase[], blockers: Facts["blockers"]): Float64Array {
  const tails = new Float64Array(phases.length);
  const dependents = new Int32Array(phases.length);
  for (const waits of blockers) {
    for (const blocker of waits) if (blocker !== UNKNOWN) dependents[blocker] = (dependents[blocker] ?? 0) + 1;
  }
  // The list grows during iteration: a phase is added once all its dependents are measured. Until then its tail is their longest tail.
  const measured = [...phases.keys()].filter((position) => dependents[position] === 0);
  for (const position of measured) {
    const tail = (tails[position] ?? 0) + minutesOf(phases[position]);
    tails[position] = tail;
    for (const blocker of blockers[position] ?? []) {
      if (blocker === UNKNOWN) continue;
      const left = (dependents[blocker] ?? 0) - 1;
      dependents[blocker] = left;
      tails[blocker] = Math.max(tails[blocker] ?? 0, tail);
      if (left === 0) measured.push(blocker);
    }
  }
  if (measured.length === phases.length) return tails;
  // A phase in a cycle, or with a cycle behind it, has no path to an end.
  return tails.map((tail, position) => (dependents[position] === 0 ? tail : tail + minutesOf(phases[position])));
}

function minutesOf(phase: SessionPhase | undefined): number {
  return phase?.plan?.estimate?.minutes ?? DEFAULT_PHASE_MINUTES;
}

// Which phase goes first when not all can: the one with the longest way to an end. Pure; worked out once for a list of phases (a revised
// plan is a new list), linear in phases and edges, without recursion.

import { DEFAULT_PHASE_MINUTES } from "../plan/graph.ts";
import type { SessionPhase } from "../session/session.ts";

/** By position, the minutes of the longest path from the phase to an end, its own included. */
export function tailsOf(phases: readonly SessionPhase[]): Float64Array {
  return factsOf(phases).tails;
}

/** The positions of all phases, longest tail first; plan order decides between equals. */
export function rankingOf(phases: readonly SessionPhase[]): Int32Array {
  return factsOf(phases).ranking;
}

/** By position, the positions of those it waits for; -1 for a blocker that is no phase of the session. */
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
  // Stable: equals stay in plan order.
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
  // It grows while it is read; a phase joins when everybody behind it is measured. Until then its tail is the longest of theirs.
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
  // What is in a cycle, or has one behind it, has no end to measure to.
  return tails.map((tail, position) => (dependents[position] === 0 ? tail : tail + minutesOf(phases[position])));
}

function minutesOf(phase: SessionPhase | undefined): number {
  return phase?.plan?.estimate?.minutes ?? DEFAULT_PHASE_MINUTES;
}

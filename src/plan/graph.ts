// The order that `blocked_by` gives to phases: depth, batches, critical path. Iterative and linear in phases and edges; phases that are in
// a cycle or downstream of one have no depth and are left out.
import type { PhaseId } from "../ids.ts";
import type { PlanPhase } from "./plan.ts";

export interface Graph {
  /** For each phase, by its position in the plan, the positions of the phases it waits for. */
  blockers: readonly (readonly number[])[];
  depths: readonly (number | null)[];
  /** The positions of all phases that have a depth, blockers first. */
  order: readonly number[];
}

/** The assumed duration of a phase without an estimate. */
export const DEFAULT_PHASE_MINUTES = 5;

/** Ids must be unique; blockers that are not phases of the plan are ignored. */
export function graphOf(phases: readonly Pick<PlanPhase, "id" | "blocked_by">[]): Graph {
  const blockers = blockersOf(phases);
  const dependents = dependentsOf(blockers);
  const waiting = blockers.map((waits) => waits.length);
  const depths: (number | null)[] = waiting.map((count) => (count === 0 ? 0 : null));
  const order = [...depths.keys()].filter((position) => depths[position] === 0);
  // `order` grows while it is read. It is sorted by depth, so the last blocker read is the deepest one.
  for (const position of order) {
    for (const dependent of dependents(position)) {
      const left = (waiting[dependent] ?? 0) - 1;
      waiting[dependent] = left;
      if (left > 0) continue;
      depths[dependent] = (depths[position] ?? 0) + 1;
      order.push(dependent);
    }
  }
  return { blockers, depths, order };
}

/** All dependents in one array, by the phase they wait for: a list for each phase would cost more memory than the rest of the graph. */
function dependentsOf(blockers: readonly (readonly number[])[]): (position: number) => Int32Array {
  const ends = new Int32Array(blockers.length + 1);
  for (const waits of blockers) for (const blocker of waits) ends[blocker + 1] = (ends[blocker + 1] ?? 0) + 1;
  for (let at = 1; at < ends.length; at++) ends[at] = (ends[at] ?? 0) + (ends[at - 1] ?? 0);
  const all = new Int32Array(ends[blockers.length] ?? 0);
  const next = ends.slice();
  for (let position = 0; position < blockers.length; position++) {
    for (const blocker of blockers[position] ?? []) {
      const at = next[blocker] ?? 0;
      all[at] = position;
      next[blocker] = at + 1;
    }
  }
  return (position) => all.subarray(ends[position], ends[position + 1]);
}

function blockersOf(phases: readonly Pick<PlanPhase, "id" | "blocked_by">[]): number[][] {
  const positions = new Map<string, number>();
  phases.forEach(({ id }, position) => void positions.set(id, position));
  return phases.map(({ blocked_by }) => {
    const waits: number[] = [];
    for (let at = 0; at < blocked_by.length; at++) {
      const blocker = positions.get(blocked_by[at] as string);
      if (blocker !== undefined) waits.push(blocker);
    }
    return waits;
  });
}

/** Ids by depth, in plan order within each depth. */
export function batchesOf(phases: readonly PlanPhase[], graph: Graph): PhaseId[][] {
  const batches: PhaseId[][] = [];
  phases.forEach(({ id }, position) => {
    const depth = graph.depths[position] ?? null;
    if (depth === null) return;
    while (batches.length <= depth) batches.push([]);
    batches[depth]?.push(id);
  });
  return batches;
}

/** The positions of the longest chain by `lengthOf`, first phase first; plan order decides between equals. */
export function longestPath(graph: Graph, lengthOf: (position: number) => number): { path: number[]; length: number } {
  const lengths = new Float64Array(graph.blockers.length);
  const previous = new Int32Array(graph.blockers.length);
  for (const position of graph.order) {
    const before = longestOf(graph.blockers[position] ?? [], lengths);
    previous[position] = before;
    lengths[position] = lengthOf(position) + (lengths[before] ?? 0);
  }
  const last = longestOf(graph.order, lengths);
  const path: number[] = [];
  for (let at = last; at !== -1; at = previous[at] ?? -1) path.push(at);
  return { path: path.reverse(), length: lengths[last] ?? 0 };
}

/** -1 for an empty list. */
function longestOf(positions: readonly number[], lengths: Float64Array): number {
  let best = -1;
  for (const position of positions) {
    const difference = best === -1 ? 1 : (lengths[position] ?? 0) - (lengths[best] ?? 0);
    if (difference > 0 || (difference === 0 && position < best)) best = position;
  }
  return best;
}

export function minutesOf(phase: PlanPhase | undefined): number {
  return phase?.estimate?.minutes ?? DEFAULT_PHASE_MINUTES;
}

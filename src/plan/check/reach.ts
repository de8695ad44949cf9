// Answers which phases are ordered by `blocked_by`, directly or transitively, for a small selection of a large graph.
import type { Graph } from "../graph.ts";

/** Whether one of two members must finish before the other may start. Needs one bit for each phase and member. */
export function orderWithin(graph: Graph, members: readonly number[]): (a: number, b: number) => boolean {
  const width = Math.ceil(members.length / 32);
  const bitOf = new Map(members.map((member, bit) => [member, bit]));
  // One row for each phase: the members that it waits for.
  const before = new Uint32Array(graph.blockers.length * width);
  const add = (at: number, bits: number) => {
    before[at] = (before[at] ?? 0) | bits;
  };
  for (const position of graph.order) {
    const row = position * width;
    for (const blocker of graph.blockers[position] ?? []) {
      for (let at = 0; at < width; at++) add(row + at, before[blocker * width + at] ?? 0);
      const bit = bitOf.get(blocker);
      if (bit !== undefined) add(row + (bit >>> 5), 1 << (bit & 31));
    }
  }
  const waitsFor = (later: number, earlier: number) => {
    const bit = bitOf.get(earlier) ?? 0;
    return ((before[later * width + (bit >>> 5)] ?? 0) & (1 << (bit & 31))) !== 0;
  };
  return (a, b) => waitsFor(a, b) || waitsFor(b, a);
}

// A layout in layers, for plans that are too large for dagre, and for the plan of an earlier moment, of which the server sends no layout.
// Pure.

import { graphOf } from "../../plan/graph.ts";
import type { SessionPhase } from "../../session/session.ts";
import type { Layout } from "./wire.ts";

export const NODE = { width: 212, height: 44 };
export const GAP = { across: 64, down: 16 };
/** How often the order within the layers is improved: each time costs the number of dependencies. */
const SWEEPS = 4;

export type PlanPhases = readonly Pick<SessionPhase, "id" | "blocked_by">[];
/** Positions of phases. */
export type PlanEdge = { from: number; to: number };
type PlanGraph = ReturnType<typeof graphOf>;

export function edgesOf({ blockers }: PlanGraph): PlanEdge[] {
  return blockers.flatMap((from, to) => from.map((one) => ({ from: one, to })));
}

/** The given layout if it is one of this plan, and else a layout in layers: a revision may have changed phases and dependencies. */
export function layoutFor(phases: PlanPhases, given: Layout): Layout {
  const graph = graphOf(phases);
  const edges = edgesOf(graph);
  const isSame =
    given.nodes.length === phases.length &&
    given.edges.length === edges.length &&
    given.edges.every(({ from, to }, at) => from === edges[at]?.from && to === edges[at]?.to);
  return isSame ? given : layered(graph, edges);
}

/** A column per depth; within a column the phases are near the middle of what they depend on. */
export function layered({ depths, blockers }: PlanGraph, edges: readonly PlanEdge[]): Layout {
  const columns: number[][] = [];
  for (const [position, depth] of depths.entries()) {
    const column = depth ?? 0;
    while (columns.length <= column) columns.push([]);
    columns[column]?.push(position);
  }
  const dependents: number[][] = blockers.map(() => []);
  for (const { from, to } of edges) dependents[from]?.push(to);
  const rank = new Float64Array(blockers.length);
  for (const column of columns) for (const [at, position] of column.entries()) rank[position] = at;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const neighbours = sweep % 2 === 0 ? blockers : dependents;
    for (const column of sweep % 2 === 0 ? columns : columns.toReversed()) sortColumn(column, neighbours, rank);
  }
  const tallest = Math.max(1, ...columns.map(({ length }) => length));
  const [stepX, stepY] = [NODE.width + GAP.across, NODE.height + GAP.down];
  const nodes: [number, number][] = blockers.map(() => [0, 0]);
  for (const [x, column] of columns.entries()) {
    const top = ((tallest - column.length) * stepY) / 2;
    for (const [y, position] of column.entries()) {
      nodes[position] = [round((x + 0.5) * stepX), round(top + (y + 0.5) * stepY)];
    }
  }
  return {
    width: columns.length * stepX,
    height: tallest * stepY,
    node: NODE,
    nodes,
    edges: edges.map(({ from, to }) => ({ from, to, points: [] })),
  };
}

function sortColumn(column: number[], neighbours: readonly (readonly number[])[], rank: Float64Array): void {
  const middle = new Map(
    column.map((position) => {
      const near = neighbours[position] ?? [];
      const sum = near.reduce((total, one) => total + (rank[one] ?? 0), 0);
      return [position, near.length === 0 ? (rank[position] ?? 0) : sum / near.length] as const;
    }),
  );
  column.sort((one, other) => (middle.get(one) ?? 0) - (middle.get(other) ?? 0));
  for (const [at, position] of column.entries()) rank[position] = at;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

// Where the phases of a plan are drawn: with dagre for plans that it lays out in less than a second, in layers of our own for larger ones.
// Pure.

import { layout as arrange, Graph } from "@dagrejs/dagre";
import { graphOf } from "../plan/graph.ts";
import type { SessionPhase } from "../session/session.ts";
import type { Layout } from "../web/model/wire.ts";

/** dagre takes 0.6 s for 300 phases, and 8 s for 1,000. */
const MOST_FOR_DAGRE = 300;
const NODE = { width: 212, height: 44 };
const GAP = { across: 64, down: 16 };
/** How often the order within the layers is improved: each time costs the number of dependencies. */
const SWEEPS = 4;

type Phases = readonly Pick<SessionPhase, "id" | "blocked_by">[];

export function layoutOf(phases: Phases): Layout {
  const graph = graphOf(phases);
  const edges = graph.blockers.flatMap((from, to) => from.map((one) => ({ from: one, to })));
  return phases.length <= MOST_FOR_DAGRE ? arranged(phases.length, edges) : layered(graph, edges);
}

type Edge = { from: number; to: number };

function arranged(count: number, edges: readonly Edge[]): Layout {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: GAP.down, ranksep: GAP.across, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (let at = 0; at < count; at += 1) graph.setNode(String(at), { ...NODE });
  for (const { from, to } of edges) graph.setEdge(String(from), String(to));
  if (count > 0) arrange(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const at = (position: number): [number, number] => {
    const { x = 0, y = 0 } = graph.node(String(position)) as { x?: number; y?: number };
    return [round(x), round(y)];
  };
  return {
    width: round(width),
    height: round(height),
    node: NODE,
    nodes: Array.from({ length: count }, (_, position) => at(position)),
    edges: edges.map(({ from, to }) => {
      const { points = [] } = graph.edge(String(from), String(to)) as { points?: { x: number; y: number }[] };
      return { from, to, points: points.map(({ x, y }): [number, number] => [round(x), round(y)]) };
    }),
  };
}

/** A column per depth; within a column the phases are near the middle of what they depend on. */
function layered({ depths, blockers }: ReturnType<typeof graphOf>, edges: readonly Edge[]): Layout {
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

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

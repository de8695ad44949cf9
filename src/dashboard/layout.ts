// Where the phases of a plan are drawn: with dagre for plans that it lays out in less than a second, in layers of our own for larger ones.
// Pure.

import { layout as arrange, Graph } from "@dagrejs/dagre";
import { graphOf } from "../plan/graph.ts";
import { edgesOf, GAP, layered, NODE, type PlanEdge, type PlanPhases, round } from "../web/model/layers.ts";
import type { Layout } from "../web/model/wire.ts";

/** dagre takes 0.6 s for 300 phases, and 8 s for 1,000. */
const MOST_FOR_DAGRE = 300;

export function layoutOf(phases: PlanPhases): Layout {
  const graph = graphOf(phases);
  const edges = edgesOf(graph);
  return phases.length <= MOST_FOR_DAGRE ? arranged(phases.length, edges) : layered(graph, edges);
}

function arranged(count: number, edges: readonly PlanEdge[]): Layout {
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

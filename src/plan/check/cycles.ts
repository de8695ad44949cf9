// Finds phases that wait for each other: one cycle for each strongly connected group, by Tarjan's algorithm without recursion.
import type { Graph } from "../graph.ts";

/** Cycles as positions: each phase waits for the next one, and the last for the first. Groups come in plan order. */
export function cyclesOf(graph: Graph): number[][] {
  return groupsOf(graph)
    .filter((group) => group.length > 1 || graph.blockers[group[0] ?? -1]?.includes(group[0] ?? -1))
    .map((group) => group.sort((a, b) => a - b))
    .sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0))
    .map((group) => shortestCycle(group, graph));
}

function groupsOf(graph: Graph): number[][] {
  const size = graph.blockers.length;
  const index = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const nextEdge = new Int32Array(size);
  const inGroup = new Uint8Array(size);
  const path: number[] = [];
  const stack: number[] = [];
  const groups: number[][] = [];
  let count = 0;
  const enter = (node: number) => {
    index[node] = low[node] = count++;
    inGroup[node] = 1;
    path.push(node);
    stack.push(node);
  };
  for (let root = 0; root < size; root++) {
    // A phase that has a depth is neither in a cycle nor downstream of one.
    if (index[root] !== -1 || graph.depths[root] !== null) continue;
    enter(root);
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      const edge = nextEdge[node] ?? 0;
      const blocker = graph.blockers[node]?.[edge];
      nextEdge[node] = edge + 1;
      if (blocker !== undefined) {
        if (graph.depths[blocker] !== null) continue;
        if (index[blocker] === -1) enter(blocker);
        else if (inGroup[blocker] === 1) low[node] = Math.min(low[node] ?? 0, index[blocker] ?? 0);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) low[parent] = Math.min(low[parent] ?? 0, low[node] ?? 0);
      if (low[node] !== index[node]) continue;
      const group = stack.splice(stack.lastIndexOf(node));
      for (const member of group) inGroup[member] = 0;
      groups.push(group);
    }
  }
  return groups;
}

/** A shortest path from the first phase of the group back to itself. */
function shortestCycle(group: readonly number[], graph: Graph): number[] {
  const start = group[0] ?? 0;
  const members = new Set(group);
  const cameFrom = new Map<number, number>();
  const queue = [start];
  for (const node of queue) {
    for (const blocker of graph.blockers[node] ?? []) {
      if (blocker === start) return wayTo(node, cameFrom);
      if (!members.has(blocker) || cameFrom.has(blocker)) continue;
      cameFrom.set(blocker, node);
      queue.push(blocker);
    }
  }
  return [...group];
}

function wayTo(end: number, cameFrom: ReadonlyMap<number, number>): number[] {
  const way: number[] = [];
  for (let node: number | undefined = end; node !== undefined; node = cameFrom.get(node)) way.push(node);
  return way.reverse();
}

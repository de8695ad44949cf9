import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cyclesOf } from "./check/cycles.ts";
import { orderWithin } from "./check/reach.ts";
import { batchesOf, graphOf, longestPath, minutesOf } from "./graph.ts";
import type { PlanPhase } from "./plan.ts";

function phase(id: number, blockedBy: number[], minutes?: number): PlanPhase {
  const lists = {
    validation_criteria: ["ok"],
    validation: [],
    files_created: [],
    files_modified: [],
    files_deleted: [],
  };
  const rest = { title: "t", agent: "coder", description: "d", parallel: true, ...lists };
  return {
    id: String(id),
    blocked_by: blockedBy.map(String),
    ...rest,
    ...(minutes === undefined ? {} : { estimate: { minutes } }),
  };
}

/** Edges go from later to earlier numbers; the plan lists the phases in random order. */
const acyclic = fc
  .array(fc.tuple(fc.array(fc.nat()), fc.option(fc.nat(9), { nil: undefined })), { minLength: 1, maxLength: 9 })
  .chain((rows) => {
    const phases = rows.map(([edges, minutes], id) => {
      const blockers = id === 0 ? [] : edges.slice(0, 4).map((edge) => edge % id);
      return phase(id, [...new Set(blockers)], minutes);
    });
    return fc.shuffledSubarray(phases, { minLength: phases.length });
  });

const anyGraph = fc
  .array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 1, maxLength: 8 })
  .map((rows) => rows.map((edges, id) => phase(id, [...new Set(edges.map((edge) => edge % rows.length))])));

describe("batches", () => {
  test("place every phase right after its deepest blocker", () => {
    fc.assert(
      fc.property(acyclic, (phases) => {
        const batches = batchesOf(phases, graphOf(phases));
        const depth = new Map(batches.flatMap((batch, at) => batch.map((id) => [id, at] as const)));
        expect(depth.size).toBe(phases.length);
        for (const { id, blocked_by } of phases) {
          expect(depth.get(id)).toBe(Math.max(-1, ...blocked_by.map((blocker) => depth.get(blocker) ?? 0)) + 1);
        }
      }),
    );
  });

  test("keep plan order within a batch", () => {
    const phases = [phase(3, []), phase(1, []), phase(2, [3])];
    expect(batchesOf(phases, graphOf(phases))).toEqual([["3", "1"], ["2"]]);
  });

  test("leave out phases that are in a cycle or downstream of one", () => {
    const phases = [phase(1, []), phase(2, [3]), phase(3, [2]), phase(4, [3]), phase(5, [1])];
    expect(batchesOf(phases, graphOf(phases))).toEqual([["1"], ["5"]]);
  });
});

describe("the critical path", () => {
  test("is a path, and the longest one", () => {
    fc.assert(
      fc.property(acyclic, (phases) => {
        const graph = graphOf(phases);
        const { path, length } = longestPath(graph, (at) => minutesOf(phases[at]));
        const total = (positions: readonly number[]) => positions.reduce((sum, at) => sum + minutesOf(phases[at]), 0);
        for (const [at, position] of path.entries()) {
          if (at > 0) expect(graph.blockers[position]).toContain(path[at - 1]);
        }
        expect(length).toBe(total(path));
        expect(length).toBe(Math.max(...everyPath(graph.blockers).map(total)));
      }),
    );
  });

  test("prefers plan order between paths of equal length", () => {
    const phases = [phase(1, []), phase(2, []), phase(3, [2, 1]), phase(4, [1])];
    expect(longestPath(graphOf(phases), () => 1).path).toEqual([0, 2]);
  });

  test("is measured in minutes, not in the number of phases", () => {
    const phases = [phase(1, [], 1), phase(2, [1], 1), phase(3, [2], 1), phase(4, [], 30)];
    expect(longestPath(graphOf(phases), (at) => minutesOf(phases[at]))).toEqual({ path: [3], length: 30 });
  });
});

function everyPath(blockers: readonly (readonly number[])[]): number[][] {
  const endingAt = (position: number): number[][] => [
    [position],
    ...(blockers[position] ?? []).flatMap((blocker) => endingAt(blocker).map((path) => [...path, position])),
  ];
  return blockers.flatMap((_, position) => endingAt(position));
}

/** Whether each position waits for each other one, directly or transitively. */
function closure(blockers: readonly (readonly number[])[]): Set<number>[] {
  return blockers.map((direct) => {
    const all = new Set(direct);
    for (const position of all) for (const blocker of blockers[position] ?? []) all.add(blocker);
    return all;
  });
}

describe("cycles", () => {
  test("are found exactly where phases wait for themselves, one for each group", () => {
    fc.assert(
      fc.property(anyGraph, (phases) => {
        const graph = graphOf(phases);
        const reach = closure(graph.blockers);
        const groups = new Set<string>();
        for (const [position, all] of reach.entries()) {
          if (all.has(position))
            groups.add(
              [...all]
                .filter((other) => reach[other]?.has(position))
                .sort()
                .join(),
            );
        }
        const cycles = cyclesOf(graph);
        expect(cycles).toHaveLength(groups.size);
        for (const cycle of cycles) {
          for (const [at, position] of cycle.entries()) {
            expect(graph.blockers[position]).toContain(cycle[(at + 1) % cycle.length]);
          }
        }
      }),
    );
  });

  test("are found without recursion as deep as the plan", () => {
    const ring = Array.from({ length: 20_000 }, (_, id) => phase(id, [(id + 1) % 20_000]));
    expect(cyclesOf(graphOf(ring))[0]).toHaveLength(20_000);
  });
});

test("phases are ordered exactly when one waits for the other, directly or transitively", () => {
  fc.assert(
    fc.property(acyclic, fc.array(fc.nat(8)), (phases, picks) => {
      const graph = graphOf(phases);
      const reach = closure(graph.blockers);
      const members = [...new Set(picks.map((pick) => pick % phases.length))];
      const areOrdered = orderWithin(graph, members);
      for (const a of members) {
        for (const b of members) expect(areOrdered(a, b)).toBe(reach[a]?.has(b) || reach[b]?.has(a));
      }
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { processorMs } from "../../../test/support/timed.ts";
import { graphOf } from "../graph.ts";
import { readOwnedPath } from "../owned-path.ts";
import { overlap, type Pattern } from "../pattern.ts";
import type { PlanPhase } from "../plan.ts";
import { MAX_OVERLAPS, overlapsOf } from "./ownership.ts";

function graphWith(blockedBy: readonly (readonly number[])[]) {
  return graphOf(blockedBy.map((blockers, id) => ({ id: String(id), blocked_by: blockers.map(String) }) as PlanPhase));
}

function patternsOf(paths: readonly string[]): Pattern[] {
  return paths.flatMap((path) => {
    const owned = readOwnedPath(path, []);
    return "patterns" in owned ? owned.patterns : [];
  });
}

const paths = fc.constantFrom(
  "a",
  "a/",
  "a/b",
  "a/b/c.ts",
  "a/*.ts",
  "a/**",
  "b/x.ts",
  "b/{x,y}.ts",
  "**/c.ts",
  "d",
  "*/x.ts",
);
const plans = fc.array(fc.tuple(fc.array(fc.nat(), { maxLength: 2 }), fc.array(paths, { maxLength: 2 })), {
  minLength: 1,
  maxLength: 7,
});

test("reports exactly the pairs that are unordered and collide (X275)", () => {
  fc.assert(
    fc.property(plans, (rows) => {
      const blockers = rows.map(([edges], id) => (id === 0 ? [] : [...new Set(edges.map((edge) => edge % id))]));
      const owned = rows.map(([, declared]) => patternsOf(declared));
      const before = blockers.map((direct) => {
        const all = new Set(direct);
        for (const position of all) for (const blocker of blockers[position] ?? []) all.add(blocker);
        return all;
      });
      const expected: [number, number][] = [];
      for (const [second, theirs] of owned.entries()) {
        for (const [first, ours] of owned.slice(0, second).entries()) {
          const collide = ours.some((a) => theirs.some((b) => overlap(a, b)));
          if (collide && !before[second]?.has(first)) expected.push([first, second]);
        }
      }
      const owners = owned.map((patterns, position) => ({ position, patterns }));
      const { found, limit } = overlapsOf(owners, graphWith(blockers));
      expect(limit).toBeNull();
      expect(found.map(({ first, second }) => [first, second]).sort()).toEqual(expected.sort());
    }),
    { numRuns: 2_000 },
  );
});

test("lets a long chain share one file, and many files, without comparing every pair", () => {
  const size = 5_000;
  const shared = patternsOf(["src/shared.ts", "src/", "docs/**"]);
  const owners = Array.from({ length: size }, (_, position) => ({ position, patterns: shared }));
  const chain = graphWith(owners.map(({ position }) => (position === 0 ? [] : [position - 1])));
  const start = processorMs();
  expect(overlapsOf(owners, chain)).toEqual({ found: [], limit: null });
  expect(processorMs() - start).toBeLessThan(5_000);
});

test("lists a limited number of pairs and says that there are more", () => {
  const owners = Array.from({ length: 1_000 }, (_, position) => ({ position, patterns: patternsOf(["src/x.ts"]) }));
  const { found, limit } = overlapsOf(owners, graphWith(owners.map(() => [])));
  expect(found).toHaveLength(MAX_OVERLAPS);
  expect(limit).toBe("overlaps");
});

test("gives up on patterns that would take too long to compare", () => {
  const owners = Array.from({ length: 3_000 }, (_, position) => ({
    position,
    patterns: patternsOf([`*${"a*".repeat(200)}${position}`]),
  }));
  const start = processorMs();
  expect(overlapsOf(owners, graphWith(owners.map(() => [])))).toMatchObject({ limit: "work" });
  expect(processorMs() - start).toBeLessThan(20_000);
});

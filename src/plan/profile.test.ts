import { expect, test } from "vitest";
import { batchesOf, DEFAULT_PHASE_MINUTES, graphOf } from "./graph.ts";
import type { Estimate, PlanPhase } from "./plan.ts";
import { type PlannedBatch, profileOf } from "./profile.ts";

function phase(id: string, blocked_by: string[], parallel = true, estimate?: Estimate): PlanPhase {
  const lists = {
    validation_criteria: ["ok"],
    validation: [],
    files_created: [],
    files_modified: [],
    files_deleted: [],
  };
  const base = { id, title: id, agent: "coder", description: "d", blocked_by, parallel, ...lists };
  return estimate === undefined ? base : { ...base, estimate };
}

function profile(...phases: PlanPhase[]) {
  return profileOf(phases, graphOf(phases));
}

test("counts phases, batches and the phases that can run in parallel (O200)", () => {
  const result = profile(
    phase("a", []),
    phase("b", ["a"]),
    phase("c", ["a"]),
    phase("d", ["a"], false),
    phase("e", ["b"]),
  );
  expect(result).toMatchObject({ total_phases: 5, batch_count: 3, parallelizable_phases: 2 });
});

test("a single phase, and phases that run alone, are not parallelizable", () => {
  expect(profile(phase("a", []), phase("b", [], false))).toMatchObject({ parallelizable_phases: 0, batch_count: 1 });
});

test.each<[string, PlanPhase[], PlannedBatch[]]>([
  ["a single phase is sequential", [phase("a", [])], [{ phases: ["a"], mode: "sequential" }]],
  ["two phases are parallel", [phase("a", []), phase("b", [])], [{ phases: ["a", "b"], mode: "parallel" }]],
  [
    "phases that all run alone are sequential",
    [phase("a", [], false), phase("b", [], false)],
    [{ phases: ["a", "b"], mode: "sequential" }],
  ],
  [
    "a phase beside one that runs alone is sequential",
    [phase("a", [], false), phase("b", [])],
    [{ phases: ["a", "b"], mode: "sequential" }],
  ],
  [
    "two phases beside one that runs alone are parallel",
    [phase("a", [], false), phase("b", []), phase("c", [])],
    [{ phases: ["a", "b", "c"], mode: "parallel" }],
  ],
  [
    "each depth is judged separately",
    [phase("d", ["b", "c"]), phase("b", ["a"]), phase("a", []), phase("c", ["a"])],
    [
      { phases: ["a"], mode: "sequential" },
      { phases: ["b", "c"], mode: "parallel" },
      { phases: ["d"], mode: "sequential" },
    ],
  ],
])("in a batch, %s (O197)", (_case, phases, batches) => {
  expect(profile(...phases).batches).toEqual(batches);
});

test("uses the batches of the graph, and the parallel ones hold the parallelizable phases (H106, O197)", () => {
  const phases = [phase("a", []), phase("b", []), phase("c", ["a"]), phase("d", ["c"]), phase("e", ["c"])];
  const { batches, batch_count, parallelizable_phases } = profile(...phases);
  expect(batches.map((batch) => batch.phases)).toEqual(batchesOf(phases, graphOf(phases)));
  expect(batches).toHaveLength(batch_count);
  expect(batches.flatMap((batch) => (batch.mode === "parallel" ? batch.phases : []))).toHaveLength(
    parallelizable_phases,
  );
});

test("estimates wall time for parallel and sequential execution (O200)", () => {
  const result = profile(
    phase("a", [], true, { minutes: 4 }),
    phase("b", ["a"], true, { minutes: 10 }),
    phase("c", ["a"], true, { minutes: 6 }),
    phase("d", ["a"], false, { minutes: 3 }),
    phase("e", ["b", "c"]),
  );
  // a, b and e run one after the other, and d runs alone.
  expect(result.estimated_minutes.parallel).toBe(4 + 10 + DEFAULT_PHASE_MINUTES + 3);
  expect(result.estimated_minutes.sequential).toBe(4 + 10 + 6 + 3 + DEFAULT_PHASE_MINUTES);
  expect(result.estimate_basis).toBe(4);
});

test("sums the estimated tokens of the phases that have an estimate", () => {
  expect(profile(phase("a", []))).toMatchObject({ estimated_tokens: null });
  const result = profile(
    phase("a", [], true, { input_tokens: 5 }),
    phase("b", [], true, { input_tokens: 2, output_tokens: 1 }),
  );
  expect(result.estimated_tokens).toEqual({ input: 7, output: 1 });
});

test("says what parallel dispatch means for approval (O200)", () => {
  expect(profile(phase("a", [])).note).toMatch(/--yolo.*approved/);
});

// Measures validation of large plans in a fresh process, because the first call is the one users wait for.

import { type ValidationReport, validatePlan } from "../src/plan/validate.ts";
import { cpu, report } from "./support/measure.ts";

const context = { agents: [{ name: "coder", tier: "full" as const }], disabled: [], stateDir: ".gemini" };

function planOf(count: number, blockedBy: (index: number) => number[], order: (ids: number[]) => number[]): string {
  const ids = order(Array.from({ length: count }, (_, index) => index + 1));
  const phases = ids.map(
    (id) => `  - id: ${id}
    title: "Phase ${id}"
    agent: "coder"
    description: "Work on part ${id} of the whole."
    validation_criteria: ["part ${id} works"]
    blocked_by: [${blockedBy(id).join(", ")}]
    files_created: ["src/part-${id}.ts"]
    files_modified: []
`,
  );
  return `---\ntitle: "Large"\ntotal_phases: ${count}\nphases:\n${phases.join("")}---\n\n# Large\n`;
}

const layer = (id: number) => Math.ceil(id / 10) - 1;
const layered = planOf(
  5000,
  (id) => (layer(id) === 0 ? [] : Array.from({ length: 10 }, (_, index) => (layer(id) - 1) * 10 + index + 1)),
  (ids) => ids,
);
const chain = planOf(
  10_000,
  (id) => (id === 1 ? [] : [id - 1]),
  (ids) => ids.reverse(),
);

const measured = (what: string, plan: string, limit: number, batches: number) => {
  let result: ValidationReport | undefined;
  const elapsed = cpu(() => {
    result = validatePlan(Buffer.from(plan), context);
  });
  if (result?.valid !== true || result.dependency_graph.parallel_batches.length !== batches)
    throw new Error(`wrong answer for ${what}`);
  report(what, elapsed, "ms CPU", limit);
};

measured("5,000 phases in fully connected layers of 10", layered, 300, 500);
measured("a chain of 10,000 phases in reverse order", chain, 600, 10_000);

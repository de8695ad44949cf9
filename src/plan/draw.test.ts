import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drawPlan } from "./draw.ts";
import { validatePlan } from "./validate.ts";

function draw(source: string): string[] {
  const report = validatePlan(source, { agents: [], disabled: [], stateDir: ".gemini" });
  expect(report.errors).toEqual([]);
  return report.plan === undefined ? [] : drawPlan(report.plan, report);
}

function plan(phases: { id: string; title: string; fields?: string }[]): string {
  const lines = phases.map(
    ({ id, title, fields = "" }) =>
      `  - {id: ${id}, title: "${title}", agent: coder, description: d, validation_criteria: [c]${fields}}`,
  );
  return `---\ntitle: Small\nphases:\n${lines.join("\n")}\n---\n`;
}

test("shows batches, dependencies, the critical path and the profile", () => {
  const source = plan([
    { id: "1", title: "First", fields: ", estimate: {minutes: 2, input_tokens: 12000}" },
    { id: "2", title: "Left", fields: ", blocked_by: [1], estimate: {minutes: 7.25}" },
    { id: "3", title: "Right", fields: ", blocked_by: [1]" },
    { id: "last", title: "Last", fields: ", blocked_by: [2, 3], parallel: false" },
  ]);
  expect(draw(source)).toEqual([
    "Small",
    "",
    " 1 ┬─ ● 1     First  coder     2 min",
    "   │",
    " 2 ├─ ● 2     Left   coder   7.3 min   after 1",
    "   ├─ ○ 3     Right  coder    ~5 min   after 1",
    "   │",
    " 3 └─ ● last  Last   coder    ~5 min   after 2, 3, alone",
    "",
    "● critical path  1 → 2 → last, 14.3 min",
    "",
    "phases  4 in 3 batches; 2 can run side by side",
    "time    14.3 min in parallel, 19.3 min one by one; 2 of 4 phases have an estimate",
    "tokens  12,000 in, 0 out",
    "note    Parallel dispatch runs agents with --yolo: all their tool calls are approved without asking.",
    "        Review the results at the end of the run.",
  ]);
});

test("fits 100 columns for any plan", () => {
  const long = Array.from({ length: 30 }, (_, at) => ({
    id: `phase-with-a-long-name-${at}`,
    title: "A title that goes on and on ".repeat(8),
    fields:
      at === 0
        ? ""
        : `, blocked_by: [${Array.from({ length: at }, (_, to) => `phase-with-a-long-name-${to}`).join(", ")}]`,
  }));
  const example = readFileSync(new URL("../../examples/task-api-impl-plan.md", import.meta.url), "utf8");
  for (const line of [...draw(plan(long)), ...draw(example)]) expect([...line].length).toBeLessThanOrEqual(100);
});

test("draws a plan of one phase", () => {
  expect(draw(plan([{ id: "only", title: "Only" }]))[2]).toBe(" 1 ── ● only  Only  coder    ~5 min");
  expect(draw(plan([{ id: "1", title: "One" }]))).toContain("phases  1 in 1 batch; 0 can run side by side");
});

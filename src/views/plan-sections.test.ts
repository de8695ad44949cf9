import { expect, test } from "vitest";
import type { PlanPhase } from "../plan/plan.ts";
import { baselineText, type PlanFacts, withFacts } from "./plan-sections.ts";

const phase = {
  id: "1",
  agent: "coder",
  validation: ["a|b"],
  estimate: { input_tokens: 1000 },
} as unknown as PlanPhase;
const profile = {
  ...{ total_phases: 1, parallelizable_phases: 0, batch_count: 1 },
  ...{ estimated_minutes: { parallel: 2, sequential: 2 } },
} as PlanFacts["profile"];
const facts: PlanFacts = {
  profile,
  phases: [phase],
  costOf: () => 0.5,
  baseline: [{ command: "a|b", result: "fails_now", exit_code: 1, failing: ["error x"] }],
};
const plan =
  "---\ntitle: T\n## Baseline\n---\n\n# T\n\n```\n## Baseline\n```\n\n## Execution Profile\n\nold\n\n## After\n\nkept\n";

test("profile, cost and baseline replace their sections and leave the rest (C55)", () => {
  const text = withFacts(plan, facts);
  expect(
    text.startsWith(
      "---\ntitle: T\n## Baseline\n---\n\n# T\n\n```\n## Baseline\n```\n\n## Execution Profile\n\n- Total phases: 1\n",
    ),
  ).toBe(true);
  expect(text).toContain("\n\n## After\n\nkept\n\n## Cost Estimation\n");
  expect(text).toContain("| 1 | coder | 1,000 | ? | $0.50 |");
  expect(
    text.endsWith(
      "## Baseline\n\n| command | before the work | after its phase |\n|---|---|---|\n| `a\\|b` | fails now (exit code 1) | must pass |\n",
    ),
  ).toBe(true);
  expect(text).not.toContain("old");
});

test("written twice, the plan is the same, with its line ends", () => {
  const once = withFacts(plan.replaceAll("\n", "\r\n"), facts);
  expect(withFacts(once, facts)).toBe(once);
  expect(once.replaceAll("\r\n", "")).not.toContain("\n");
});

test("without a baseline the section of an earlier one stays", () => {
  const once = withFacts(plan, facts);
  const { baseline: _, ...rest } = facts;
  expect(withFacts(once, rest)).toBe(once);
});

test("a red command is shown with its failing lines", () => {
  expect(baselineText(facts.baseline ?? []).slice(1)).toEqual(["  fails now (exit code 1): a|b", "    error x"]);
});

import { describe, expect, test } from "vitest";
import { planText } from "../../../test/support/project.ts";
import type { PlanContext, ValidationReport } from "../../plan/validate.ts";
import { validatePlan } from "../../plan/validate.ts";
import { answerText } from "../answer.ts";
import { briefValidation } from "./brief-validation.ts";

const agents = [{ name: "coder", tier: "full" }] as unknown as PlanContext["agents"];
const context: PlanContext = { agents, broken: [], disabled: [], stateDir: ".gemini", redact: (text) => text };
const reportOf = (phases: Parameters<typeof planText>[0]): ValidationReport => validatePlan(planText(phases), context);

describe("a validation in brief (C43)", () => {
  test("has the phases in a line each, the batches and the longest chain", () => {
    const brief = briefValidation(reportOf([{ id: 1 }, { id: 2 }, { id: 3, blocked_by: [1, 2] }]));
    expect(brief).toMatchObject({
      valid: true,
      errors: [],
      dependency_graph: { phases: ["1 coder", "2 coder", "3 coder after 1, 2"], parallel_batches: [["1", "2"], ["3"]] },
      execution_profile: { total_phases: 3, batch_count: 2 },
    });
  });

  test("of a plan with many errors shows the first ones whole and counts all of them", () => {
    const brief = briefValidation(reportOf(Array.from({ length: 40 }, (_, at) => ({ id: at, agent: `nobody-${at}` }))));
    expect(brief).toMatchObject({ valid: false, errors_total: 40 });
    const text = answerText({ body: brief });
    expect(text).not.toContain('"cut"');
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_500);
  });
});

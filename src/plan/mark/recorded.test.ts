import { describe, expect, test } from "vitest";
import { planText } from "../../../test/support/project.ts";
import { validatePlan } from "../validate.ts";
import { recordedText } from "./recorded.ts";

const context = { agents: [{ name: "coder", tier: "full" as const }], disabled: [], stateDir: ".gemini" };

describe("the text of a recorded plan", () => {
  test("is a plan with the same phases, also what their commands are expected to do", () => {
    const source = planText([
      { id: 1, files_created: ["a"], validation: ["true", { run: "b", expect: "pass" }] },
      { id: "two", blocked_by: [1], parallel: false, validation: [{ run: "c", expect: "not_worse" }] },
    ]);
    const { phases, title } = validatePlan(source, context).plan ?? { phases: [], title: "" };
    expect(phases).toHaveLength(2);
    const again = validatePlan(recordedText({ title, design_document: null, phases }), context);
    expect(again.plan ?? again.errors).toMatchObject({ title, phases });
    expect(again.plan?.phases).toEqual(phases);
  });
});

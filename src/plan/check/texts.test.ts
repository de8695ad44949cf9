import { describe, expect, test } from "vitest";
import { planText } from "../../../test/support/project.ts";
import { validatePlan } from "../validate.ts";

const context = { agents: [{ name: "coder", tier: "full" as const }], disabled: [], stateDir: ".gemini" };
const warningsOf = (source: string, redact?: (text: string) => string) =>
  validatePlan(source, redact === undefined ? context : { ...context, redact }).warnings.filter(
    ({ code }) => code === "secret_in_plan" || code === "hidden_characters",
  );

describe("the text of a plan", () => {
  test("warns about a secret and names the phase, the field and the fix", () => {
    const [found, ...others] = warningsOf(planText([{ id: 1 }, { id: 2, validation: ["PGPASSWORD=hunter2 psql"] }]));
    expect(others).toEqual([]);
    expect(found).toMatchObject({ code: "secret_in_plan", phase: "2" });
    expect(found?.message).toMatch(/^Phase 2: "validation" contains a secret, .*--pass-env$/);
    expect(JSON.stringify(found)).not.toContain("hunter2");
  });

  test("warns about a secret known only from the environment, and about one that was redacted earlier", () => {
    const plan = planText([{ id: 1, description: "Use plain-as-day." }]);
    expect(warningsOf(plan)).toEqual([]);
    expect(warningsOf(plan, (text) => text.replaceAll("plain-as-day", "[redacted]"))).toHaveLength(1);
    expect(warningsOf(planText([{ id: 1, description: "Use [redacted]." }]))).toHaveLength(1);
  });

  test.each([
    ["title", planText([{ id: 1 }], "Task\u202e API")],
    ["description", planText([{ id: 1, description: "ad\u200bmin" }])],
    ["validation", planText([{ id: 1, validation: ["rm -rf \u2066x\u2069"] }])],
    ["files_created", planText([{ id: 1, files_created: ["src/a\u202ets.exe"] }])],
  ])("warns about invisible characters in %s", (field, plan) => {
    const found = warningsOf(plan);
    expect(found.map(({ code }) => code)).toEqual(["hidden_characters"]);
    expect(found[0]?.message).toContain(`"${field}"`);
  });

  test("does not warn about ordinary text in any script", () => {
    const description = "設計 👩‍💻 می\u200cخواهم, password: string, token = getToken(), https://example.org";
    expect(warningsOf(planText([{ id: 1, description, validation: ["npm test -- --token $TOKEN"] }]))).toEqual([]);
  });
});

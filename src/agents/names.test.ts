import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalizeAgentName } from "./names.ts";
import { nearest } from "./nearest.ts";
import { agentTiers } from "./tiers.ts";

const twelve = [...agentTiers.keys()];

describe("normalising an agent name (C11, F67)", () => {
  test.each([
    ["technical_writer", "technical-writer"],
    ["Technical-Writer", "technical-writer"],
    ["  coder\n", "coder"],
    ["a_b_c", "a-b-c"],
    ["", ""],
  ])("%j becomes %j", (given, canonical) => {
    expect(normalizeAgentName(given)).toBe(canonical);
  });

  test("is idempotent", () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        const once = normalizeAgentName(name);
        expect(normalizeAgentName(once)).toBe(once);
      }),
    );
  });
});

describe("the nearest name (F69)", () => {
  test.each([
    ["codr", "coder"],
    ["codre", "coder"],
    ["coderr", "coder"],
    ["Code", "coder"],
    ["tecnical_writer", "technical-writer"],
    ["technicalwriter", "technical-writer"],
    ["secruity-engineer", "security-engineer"],
    ["devops-enginer", "devops-engineer"],
    ["ai-designer", "api-designer"],
    ["refactoring", "refactor"],
    ["tech-writer", "technical-writer"],
    ["perf-engineer", "performance-engineer"],
    ["devops", "devops-engineer"],
    ["debug", "debugger"],
  ])("of %j is %j", (given, expected) => {
    expect(nearest(given, twelve)).toBe(expected);
  });

  test.each([
    "",
    "x",
    "qa",
    "co",
    "doc-writer",
    "ui-designer",
    "qa-engineer",
    "ml-engineer",
    "engineer",
    "designer",
    "frontend-engineer",
  ])("of %j does not exist", (given) => {
    expect(nearest(given, twelve)).toBeUndefined();
  });

  test("is the first of two equally near ones, as spelled in the list", () => {
    expect(nearest("tester", ["Testers", "testera"])).toBe("Testers");
    expect(nearest("tester", ["testera", "Testers"])).toBe("testera");
  });

  test("is the name itself when it is in the list", () => {
    fc.assert(
      fc.property(fc.constantFrom(...twelve), fc.shuffledSubarray(twelve), (name, others) => {
        expect(nearest(name.replaceAll("-", "_").toUpperCase(), [...others, name])).toBe(name);
      }),
    );
  });

  test("does not exist without candidates", () => {
    expect(nearest("coder", [])).toBeUndefined();
  });
});

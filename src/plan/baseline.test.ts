import { describe, expect, test } from "vitest";
import { type BaselineCommand, commandsOf, resultText } from "./baseline.ts";
import type { PlanPhase } from "./plan.ts";
import { validatePlan } from "./validate.ts";

function report(phases: object[], baseline: BaselineCommand[] = []) {
  const full = phases.map((phase) => ({
    ...{ title: "T", agent: "coder", description: "D", validation_criteria: ["c"], files_created: ["x/"] },
    ...phase,
  }));
  const text = `---\n${JSON.stringify({ title: "Plan", phases: full })}\n---\n`;
  const agents = [{ name: "coder", tier: "full" }] as never;
  return validatePlan(text, { agents, broken: [], disabled: [], stateDir: ".gemini", baseline });
}

const phasesOf = (phases: object[]): PlanPhase[] => report(phases).plan?.phases ?? [];

describe("validation commands", () => {
  test("are texts, or maps that say what is expected of them (C55)", () => {
    const [phase] = phasesOf([
      { id: 1, validation: ["a", { run: "b", expect: "not_worse" }, { run: "c", expect: "pass" }, { run: "d" }] },
    ]);
    expect(phase).toMatchObject({ validation: ["a", "b", "c", "d"], not_worse: ["b"], meant_to_pass: ["c"] });
    const [plain] = phasesOf([{ id: 1, validation: ["a"] }]);
    expect(Object.keys(plain ?? {})).not.toContain("not_worse");
  });

  test("must pass when one of two entries says so", () => {
    expect(phasesOf([{ id: 1, validation: [{ run: "a", expect: "not_worse" }, "a"] }])[0]?.not_worse).toBeUndefined();
  });

  test.each([[{ run: "a", expect: "red" }], [{ run: "a", times: 3 }], [{ expect: "pass" }], [{ run: 3 }], [3]])(
    "have no other form: %j",
    (entry) => {
      const { errors } = report([{ id: 1, validation: [entry] }]);
      expect(errors.map(({ code }) => code)).toEqual([expect.stringMatching(/^(?:invalid_field_type|missing_field)$/)]);
      expect(errors[0]?.message).toContain('"validation" entry 1');
    },
  );

  test("run once each, in the order of the plan", () => {
    expect(
      commandsOf(
        phasesOf([
          { id: 1, validation: ["b", "a"] },
          { id: 2, blocked_by: [1], validation: ["a", "c"] },
        ]),
      ),
    ).toEqual(["b", "a", "c"]);
  });
});

describe("a command that must pass and is red before the work", () => {
  const red: BaselineCommand = { command: "npm test", result: "fails_now", exit_code: 1, failing: [] };
  const warned = (phases: object[], baseline = [red]) =>
    report(phases, baseline).warnings.map(({ code, phase }) => `${code} ${phase}`);
  const later = (id: number, rest: object) => ({ id, blocked_by: [id - 1], files_created: [`${id}/`], ...rest });

  test("is a warning for every phase that lists it (C55)", () => {
    const phases = [{ id: 1, validation: ["npm test"] }, later(2, { validation: ["npm test", "true"] })];
    expect(warned(phases)).toEqual(["baseline_red 1", "baseline_red 2"]);
    expect(report(phases, [red]).warnings[0]?.message).toContain(
      '"npm test" fails now (exit code 1), and no phase is meant to fix it',
    );
  });

  test("is none from the phase on that is meant to turn it green", () => {
    const meant = { validation: [{ run: "npm test", expect: "pass" }] };
    expect(
      warned([{ id: 1, validation: ["npm test"] }, later(2, meant), later(3, { validation: ["npm test"] })]),
    ).toEqual(["baseline_red 1"]);
  });

  test("is none when its phase, or one before it, creates a file that it names", () => {
    const command = "node --test ./test/a.test.js";
    const phases = [{ id: 1, files_created: ["test/a.test.js"] }, later(2, { validation: [command] })];
    expect(warned(phases, [{ ...red, command }])).toEqual([]);
  });

  test("is none when it passes, or may stay red", () => {
    expect(warned([{ id: 1, validation: ["npm test"] }], [{ ...red, result: "passes_already", exit_code: 0 }])).toEqual(
      [],
    );
    expect(warned([{ id: 1, validation: [{ run: "npm test", expect: "not_worse" }] }])).toEqual([]);
  });

  test("is described by its result", () => {
    expect(resultText(red)).toBe("fails now (exit code 1)");
    expect(resultText({ result: "timed_out", exit_code: null })).toBe("timed out");
  });
});

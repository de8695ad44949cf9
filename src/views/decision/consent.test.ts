import { describe, expect, test } from "vitest";
import { consentLines } from "./consent.ts";

describe("informed consent", () => {
  const profile = {
    total_phases: 3,
    parallelizable_phases: 2,
    batch_count: 2,
    batches: [],
    estimated_minutes: { parallel: 45, sequential: 75 },
    estimate_basis: 2,
    estimated_tokens: null,
    note: "",
  };
  const gemini = [{ program: "gemini", unattended: "--approval-mode=yolo" }];
  const lines = consentLines(profile, gemini);

  test("states both options in the words of the design document, and promises the review that a run has (O199, C41)", () => {
    expect(lines.slice(0, 11).join("\n")).toBe(
      [
        "Option 1: Parallel Dispatch (faster)",
        "- Parallelizable phases run as concurrent `gemini` CLI processes",
        "- Agents operate in autonomous mode (`--yolo`): all tool calls auto-approved without confirmation",
        "- User reviews results at the end of the run, not during execution",
        "- Best for: well-defined tasks with clear file ownership",
        "",
        "Option 2: Sequential Delegation (safer)",
        "- Each phase executes one at a time via `invoke_agent`",
        "- Standard tool approval rules apply",
        "- Full visibility and control between phases",
        "- Best for: exploratory tasks, unfamiliar codebases, security-sensitive work",
      ].join("\n"),
    );
  });

  test.each([
    [
      "batch",
      "- User reviews results after each batch: the next one starts when they are approved (`maestro approve`)",
    ],
    ["phase", "- User reviews the work of each phase before it is applied to the project (`maestro approve`)"],
  ] as const)("says that the review is of each %s (C41)", (review, line) => {
    const shown = consentLines(profile, gemini, [], review);
    expect(shown[3]).toBe(line);
    expect(shown.filter((one) => !lines.includes(one))).toEqual([line]);
  });

  test("says that neither option asks for approval, and how long each takes", () => {
    expect(lines.slice(12)).toEqual([
      "Here both options run `gemini --approval-mode=yolo`: option 2 runs the same processes, also unattended, one at a time.",
      "To approve tool calls yourself, run the plan in Gemini CLI: /maestro:execute.",
      "Estimated wall time: 45 min parallel, 1 h 15 min sequential (2 of 3 phases have an estimate).",
    ]);
  });

  test("names every program that agents run in, with the option by which it does not ask the user", () => {
    const shown = consentLines(profile, [...gemini, { program: "pi", unattended: "" }]).join("\n");
    expect(shown).toContain("run as concurrent `gemini`, `pi` CLI processes");
    expect(shown).toContain("Here both options run `gemini --approval-mode=yolo`, `pi`: option 2");
  });
});

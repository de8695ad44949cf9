// The options of a run, and which processes may decide about it.

import { describe, expect, test } from "vitest";
import { createSession, planPath, planText, withProject } from "../support/project.ts";
import { status } from "../support/status.ts";

const attempt = { MAESTRO_ATTEMPT: "1", MAESTRO_PHASE: "1", MAESTRO_AGENT: "coder" };

describe("--phases", () => {
  test.each([
    ["2", /--phases names 2, which waits for phase 1\n.*Add 1 to --phases, or run it first/],
    ["1,9", /--phases names 9, which is not a phase of the plan/],
    [" , ", /--phases is empty/],
  ])("%s is refused before anything is created or changed", (phases, said) =>
    withProject((project) => {
      project.write(planPath, planText([{ id: 1 }, { id: 2, blocked_by: [1] }]));
      const run = project.maestro(["run", planPath, "--mode", "parallel", "--phases", phases]);
      expect([run.code, run.stderr]).toEqual([2, expect.stringMatching(said)]);
      expect(project.exists(".gemini/state/progress.jsonl")).toBe(false);
      createSession(project);
      const before = project.read(".gemini/state/progress.jsonl");
      expect(project.maestro(["resume", "--phases", phases]).code).toBe(2);
      expect(project.read(".gemini/state/progress.jsonl")).toBe(before);
    }),
  );
});

describe("an agent at work on a phase", () => {
  test.each([
    ["skip", "1"],
    ["retry", "1"],
    ["abort"],
    ["archive"],
    ["session", "transition", "1", "in_progress"],
    ["session", "mode", "parallel"],
    ["session", "complete"],
  ])("decides nothing about its own session: %s %s", (...args) =>
    withProject((project) => {
      createSession(project);
      const before = project.read(".gemini/state/progress.jsonl");
      const run = project.maestro(args, { env: attempt });
      expect([run.code, run.stderr]).toEqual([3, expect.stringContaining("cannot decide about its own session")]);
      expect(project.read(".gemini/state/progress.jsonl")).toBe(before);
    }),
  );

  test("may leave a note", () =>
    withProject((project) => {
      createSession(project);
      expect(project.maestro(["session", "note", "half-way"], { env: attempt }).code).toBe(0);
    }));
});

describe("a completed session that was kept open", () => {
  test("takes the summary of its reviewer (K141)", () =>
    withProject((project) => {
      createSession(project, [{ id: 1 }]);
      const env = { MAESTRO_AUTO_ARCHIVE: "false" };
      for (const args of [
        ["session", "transition", "1", "in_progress"],
        ["session", "transition", "1", "completed"],
        ["session", "complete"],
        ["session", "complete", "--summary", "Reviewed, no findings."],
      ]) {
        expect(project.maestro(args, { env }).code).toBe(0);
      }
      expect(status(project).summary).toBe("Reviewed, no findings.");
    }));
});

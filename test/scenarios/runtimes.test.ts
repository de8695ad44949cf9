// Several runtimes in one run: another one takes over when the first has no quota or no program, and three work beside each other.

import { chmodSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { journalOf, maestro, TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { type Project, planPath, planText } from "../support/project.ts";
import { played, prepare, StandIn } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const quick = ["--grace", "300ms"];

const report = `## Task Report
- Status: success
- Files Created: FILE
- Files Modified: none
- Files Deleted: none
- Validation: pass
- Summary: Done

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

/** Programs that print what the real ones print, and write the file of their phase. */
const programs: Record<string, (text: string) => object[]> = {
  claude: (result) => [
    {
      type: "result",
      subtype: "success",
      is_error: false,
      result,
      modelUsage: { m: { inputTokens: 10, outputTokens: 5 } },
    },
  ],
  codex: (text) => [
    { type: "item.completed", item: { type: "agent_message", text } },
    { type: "turn.completed", usage: { input_tokens: 10, cached_input_tokens: 0, output_tokens: 5 } },
  ],
};

function install(project: Project, name: string): void {
  const lines = (programs[name]?.(report) ?? []).map((event) => `${JSON.stringify(event)}\n`).join("");
  project.write(`.bin/${name}.events`, lines);
  const write = `printf '%s' "$MAESTRO_PHASE" > "by-${name}.txt"; sed "s/FILE/by-${name}.txt/" "$0.events"`;
  chmodSync(project.write(`.bin/${name}`, `#!/bin/sh\ncat >/dev/null\n${write}\n`), 0o755);
}

const started = (project: Project) =>
  journalOf(project)
    .filter(({ type }) => type === "attempt.started")
    .map(({ phase, runtime, instead_of }) => ({ phase, runtime, instead_of }));

describe("a run with several runtimes", () => {
  test("continues with the next runtime when the quota is exhausted for longer than the wait, and counts no retry", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["quota", 3600]], {}, [["quota", 3600]])]);
      install(project, "claude");
      const words = ["--quota-wait", "1s", "--fallback", "claude"];
      const run = await maestro(project, ["run", planPath, ...quick, ...words], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(started(project)).toEqual([
        { phase: "1", runtime: "gemini", instead_of: undefined },
        { phase: "1", runtime: "claude", instead_of: "gemini" },
      ]);
      expect(run.stderr).toContain("gemini has no quota left; claude takes over.");
      const { phases } = JSON.parse((await maestro(project, ["report", "--json"])).stdout);
      expect(phases[0]).toMatchObject({ status: "completed", retries: 0 });
      const { stdout } = await commandLine(project, ["report"]);
      expect(stdout).toContain("- phase 1: gemini, then claude instead of gemini");
    }));

  test("starts with the next one when the program of the first is missing", () =>
    withProcesses(async (project) => {
      project.write(planPath, planText([{ id: 1 }]));
      install(project, "codex");
      const env = { PATH: `${project.path}/.bin:/usr/bin:/bin`, MAESTRO_EXECUTION_MODE: "parallel" };
      const words = ["--runtime", "claude", "--fallback", "codex"];
      const run = await maestro(project, ["run", planPath, ...quick, ...words], env);
      expect(run.code, run.stderr).toBe(0);
      expect(started(project)).toEqual([{ phase: "1", runtime: "codex", instead_of: "claude" }]);
      expect(run.stderr).toContain("started with codex instead of claude (attempt 1)");
    }));

  test("is refused by run and by validate when the plan names a runtime that does not exist", () =>
    withProcesses(async (project) => {
      project.write(planPath, planText([{ id: 1, runtime: "claud" }]));
      for (const words of [
        ["run", planPath, "--yes"],
        ["validate", planPath],
        ["validate", planPath, "--json"],
      ]) {
        const { code, stderr } = await commandLine(project, words);
        expect([code, stderr]).toEqual([2, expect.stringContaining('Unknown runtime "claud" (phase 1 of the plan)')]);
        expect(stderr).toContain("The runtimes are gemini, claude, codex");
      }
    }));

  test("says that it chooses nothing for an agent that does not exist, and that a reviewer is not of another vendor", () =>
    withProcesses(async (project) => {
      const review = { id: 2, agent: "code-reviewer", review_by: "other" as const, blocked_by: [1] };
      project.write(planPath, planText([{ id: 1 }, review]));
      install(project, "codex");
      const env = { PATH: `${project.path}/.bin:/usr/bin:/bin`, MAESTRO_RUNTIMES: "*=codex, codr=claude" };
      const words = ["--mode", "sequential", "--isolation", "none"];
      const run = await maestro(project, ["run", planPath, ...quick, ...words], env);
      expect(run.stderr).toContain('MAESTRO_RUNTIMES names "codr", which is not in agents/ and is ignored');
      expect(run.stderr).toContain("note: Phase 2 asks for a review by another vendor, but codex reviews its own work");
    }));

  test("plays each phase with its own, at once, and merges their work", () =>
    withProcesses(async (project) => {
      project.write(".gitignore", ".bin\n.home\n.gemini\n");
      const git = (...args: string[]) =>
        project.run("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args]);
      git("init", "-q");
      git("add", ".gitignore");
      git("commit", "-qm", "start");
      const file = (name: string) => ({ files_created: [`by-${name}.txt`] });
      const own = (name: string) => ({ ...file(name), runtime: name });
      const phases = [
        played(1, [["write", ["by-gemini.txt", "1"]]], file("gemini")),
        { id: 2, ...own("claude") },
        { id: 3, ...own("codex") },
      ];
      project.write(planPath, planText(phases));
      const agent = new StandIn(project);
      for (const name of ["claude", "codex"]) install(project, name);
      const run = await maestro(project, ["run", planPath, ...quick, "--isolation", "worktree"], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(
        started(project)
          .map(({ runtime }) => runtime)
          .sort(),
      ).toEqual(["claude", "codex", "gemini"]);
      const integrated = journalOf(project).filter(({ type }) => type === "phase.integrated");
      expect(integrated).toHaveLength(3);
      for (const name of ["claude", "codex"]) expect(project.exists(`by-${name}.txt`)).toBe(true);
    }));
});

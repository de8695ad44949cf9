// What a run shows: on a terminal, as JSON Lines, and in tokens.

import { describe, expect, test, vi } from "vitest";
import { quick, reportOf, runPlan } from "../support/engine-run.ts";
import { hasTerminal, onTerminal } from "../support/on-terminal.ts";
import { maestro, processesOf, spawned, TEST_TIMEOUT_MS, until, withProcesses } from "../support/processes.ts";
import { maestroPath, type Project, planPath } from "../support/project.ts";
import { played, prepare, type StandIn, scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

describe("a run on a terminal", () => {
  const run = (project: Project, agent: StandIn, env: Record<string, string> = {}) =>
    onTerminal(project, ["run", planPath, ...quick], agent.env(env));

  /** Hidden while a table is drawn, and given back. */
  function expectCursor(shown: string): void {
    expect(shown).toContain("\u001b[?25l");
    expect(shown.lastIndexOf("\u001b[?25h")).toBeGreaterThan(shown.lastIndexOf("\u001b[?25l"));
  }

  test.skipIf(!hasTerminal).concurrent("asks the user for the mode, draws a table, and restores the cursor", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["sleep", 700]]), played(2, [], { blocked_by: [1] })]);
      const { answer, ended } = run(project, agent, { MAESTRO_EXECUTION_MODE: "ask" });
      await answer("Which mode?", "2\r");
      const { code, shown } = await ended;
      expect(code, shown).toBe(0);
      expect(shown).toContain("Option 1: Parallel Dispatch (faster)");
      expect(shown).toContain("· sequential ·");
      expect(shown).toMatch(/Archived: /);
      expectCursor(shown);
    }),
  );

  test.skipIf(!hasTerminal).concurrent("is interrupted by Ctrl-C, restores the cursor, and exits with 130 (F4)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["write", ["ready", ""]], ["hang"]])]);
      const { answer, ended } = run(project, agent);
      await until("the agent runs", () => project.exists("ready"));
      await answer("Phase 1", "\u0003");
      const { code, shown } = await ended;
      expect(code, shown).toBe(130);
      expectCursor(shown);
      expect(status(project).status).toBe("interrupted");
      expect(processesOf(project)).toEqual([]);
    }),
  );

  test.skipIf(!hasTerminal).concurrent.each([
    ["1", 0, { status: "completed", phases: [{ retries: 1 }] }],
    ["2", 0, { status: "completed", phases: [{ status: "skipped" }] }],
    ["3", 1, { status: "failed", aborted: true }],
    ["q", 4, { status: "failed", aborted: false, unresolved_errors: [{ resolution: "pending" }] }],
  ])("asks the user about a phase that failed for good: answer %s, exit %i (L168, M177)", (typed, exit, expected) =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["exit", 1]])]);
      const { answer, ended } = run(project, agent, { MAESTRO_MAX_RETRIES: "0" });
      await answer("What would you like to do?", `${typed}\r`);
      const { code, shown } = await ended;
      expect(code, shown).toBe(exit);
      expect(shown).toContain("Phase Execution Failed: Phase 1");
      expectCursor(shown);
      expect(await reportOf(project)).toMatchObject(expected);
    }),
  );
});

describe("standard output that cannot be written (P11)", () => {
  test.concurrent("is an error, and the whole plan still runs", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [])]);
      const script = '"$0" "$1" run "$2" --json >/dev/full';
      const run = await spawned(project, "sh", ["-c", script, process.execPath, maestroPath, planPath], agent.env())
        .ended;
      expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("(ENOSPC)")]);
      expect(await reportOf(project)).toMatchObject({ status: "completed" });
    }));
});

describe("maestro run --json", () => {
  test.concurrent("prints JSON Lines, and ends with run.finished", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(project, [played(1, [["exit", 1]]), played(2, [], { blocked_by: [1] })], {
        words: ["--json"],
      });
      expect(run.code, run.stderr).toBe(0);
      const events = run.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(events.every((event) => typeof event === "object" && typeof event.type === "string")).toBe(true);
      expect(events.at(-1)).toEqual({
        type: "run.finished",
        session_id: "2026-02-14-task-api",
        status: "completed",
        end: "completed",
        exit_code: 0,
        archived: ".gemini/state/archive/2026-02-14-task-api.md",
      });
      const started = events.filter((event) => event.type === "attempt.started").map((event) => event.phase);
      expect(started).toEqual(["1", "1", "2"]);
      expect(events.some((event) => "crc" in event)).toBe(false);
      const sequence = events.slice(0, -1).flatMap((event) => event.seq ?? []);
      expect(sequence).toEqual([...sequence].sort((a, b) => a - b));
    }));

  test.concurrent("reports a failure too", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(project, [played(1, [["exit", 1]])], {
        words: ["--json"],
        env: { MAESTRO_MAX_RETRIES: "0" },
      });
      expect(run.code).toBe(4);
      const last = JSON.parse(run.stdout.trim().split("\n").at(-1) ?? "");
      expect(last).toMatchObject({
        type: "run.finished",
        status: "failed",
        end: "failed",
        failed: ["1"],
        exit_code: 4,
      });
    }));

  test.concurrent("agrees with `status --json`, which has the documented shape", () =>
    withProcesses(async (project) => {
      await runPlan(
        project,
        [played(1, [["report", { created: "src/a.ts" }]]), played(2, [["exit", 1]], { agent: "tester" })],
        {
          env: { MAESTRO_MAX_RETRIES: "0", MAESTRO_AUTO_ARCHIVE: "false" },
        },
      );
      const state = status(project);
      expect(state).toMatchObject({
        exists: true,
        session_id: "2026-02-14-task-api",
        status: "failed",
        execution_mode: "parallel",
        total_phases: 2,
        token_usage: {
          total_input: 100,
          total_output: 20,
          total_cached: 40,
          by_agent: { coder: { input: 100, output: 20, cached: 40 } },
        },
        phases: [
          {
            id: "1",
            name: "Phase 1",
            status: "completed",
            agents: ["coder"],
            retry_count: 0,
            files_created: ["src/a.ts"],
          },
          { id: "2", name: "Phase 2", status: "failed", agents: ["tester"], retry_count: 0 },
        ],
        errors: [{ phase: "2", agent: "tester", type: "runtime", resolution: "pending", resolved: false }],
      });
      expect(state).toHaveProperty("current_phase");
      expect(state.token_usage.by_agent).not.toHaveProperty("tester");
    }));
});

describe("the tokens of a run (K156, M178)", () => {
  test.concurrent("are summed by agent and phase; unknown is null and never 0; no price, no cost", () =>
    withProcesses(async (project) => {
      const silent = JSON.stringify({ response: "nothing", stats: {} });
      const { run } = await runPlan(project, [
        scripted(1, {
          1: [["report", { status: "partial", tokens: { prompt: 1000, candidates: 200, cached: 300, thoughts: 50 } }]],
          "*": [["report", { tokens: { prompt: 2000, candidates: 400, cached: 600, thoughts: 70 } }]],
        }),
        played(2, [["answer", silent]], { agent: "tester" }, [["exit", 1]]),
        played(3, [["report", { tokens: { prompt: 10, candidates: 20, cached: 0, thoughts: 0 } }]], {
          agent: "tester",
        }),
      ]);
      expect(run.code).toBe(4);
      const report = await reportOf(project);
      expect(report.phases.map(({ tokens }) => tokens)).toEqual([3600, null, 30]);
      expect(report.tokens).toMatchObject({ input: 3010, output: 620, cached: 900, thoughts: 120 });
      expect(report.tokens).toMatchObject({ attempts: 6, unreported: 3 });
      const shown = (await maestro(project, ["report"])).stdout;
      expect(shown).toContain("3,010");
      expect(shown).toMatch(/3 of 6 attempts/);
    }));
});

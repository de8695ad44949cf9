// The batch directory of a run, with real processes: its summary, and when its prompts are deleted.

import { describe, expect, test } from "vitest";
import { quick, results, runPlan } from "../support/engine-run.ts";
import { maestro, withProcesses } from "../support/processes.ts";
import { type Project, planPath } from "../support/project.ts";
import { played } from "../support/stand-in.ts";

const summaryOf = (project: Project) => JSON.parse(project.read(`${results}/summary.json`));
const prompts = ".gemini/parallel/2026-02-14-task-api/prompts";
const promptsOf = (project: Project) => (project.exists(prompts) ? project.list(prompts) : []);
const once = { MAESTRO_MAX_RETRIES: "0" };

describe("a run", () => {
  test.concurrent("record A10: leaves a summary of the last attempt of every phase, like a dispatch (G93-G96)", () =>
    withProcesses(async (project) => {
      const phases = [
        played(1, [["exit", 1]], { validation: ["true"] }),
        played(2, [], { agent: "tester" }),
        played(3, [], { validation: ["exit 7"] }),
        played(4, [], { blocked_by: [1] }),
      ];
      const { run } = await runPlan(project, phases, { env: once, words: ["--keep-going"] });
      expect(run.code, run.stderr).toBe(4);
      const agents = [
        { name: "coder.p1-1", agent: "coder", exit_code: 1, status: "failed" },
        { name: "tester.p2-1", agent: "tester", exit_code: 0, status: "success" },
        { name: "coder.p3-1", agent: "coder", exit_code: 0, status: "failed" },
      ];
      expect(summaryOf(project)).toEqual({
        batch_status: "partial_failure",
        total_agents: 3,
        succeeded: 1,
        failed: 2,
        wall_time_seconds: expect.any(Number),
        agents,
      });
    }));

  test.concurrent("record A8: deletes its prompts with MAESTRO_CLEANUP_DISPATCH only when its session is over (G99)", () =>
    withProcesses(async (project) => {
      const env = { ...once, MAESTRO_CLEANUP_DISPATCH: "true", MAESTRO_AUTO_ARCHIVE: "false" };
      const phases = [played(1, [["exit", 1]]), played(2, [])];
      const { agent, run } = await runPlan(project, phases, { env, words: ["--keep-going"] });
      expect(run.code, run.stderr).toBe(4);
      expect(promptsOf(project)).toEqual(["coder.p1-1.txt", "coder.p2-1.txt"]);
      const skipped = await maestro(project, ["skip", "1", "--reason", "later"], agent.env(env));
      expect(skipped.code, skipped.stderr).toBe(0);
      const resumed = await maestro(project, ["resume", ...quick], agent.env(env));
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(promptsOf(project)).toEqual([]);
      expect(summaryOf(project)).toMatchObject({ total_agents: 2, succeeded: 1 });
      const logs = await maestro(project, ["logs", "2"], agent.env());
      expect(logs.code, logs.stderr).toBe(0);
    }));

  test.concurrent("leaves prompts that archiving deletes with MAESTRO_CLEANUP_DISPATCH, and that stay without it (G99)", () =>
    withProcesses(async (project) => {
      const { agent } = await runPlan(project, [played(1, [["exit", 1]])], { env: once });
      expect(promptsOf(project)).toEqual(["coder.p1-1.txt"]);
      const archived = await maestro(project, ["archive"], agent.env({ MAESTRO_CLEANUP_DISPATCH: "true" }));
      expect(archived.code, archived.stderr).toBe(0);
      expect(promptsOf(project)).toEqual([]);
      expect(project.exists(planPath)).toBe(false);
    }));
});

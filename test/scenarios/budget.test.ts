// Budgets, with the built program and stand-in agents: an attempt is stopped at its reservation, a spent budget pauses the session, and
// nothing that was spent is forgotten.

import { describe, expect, test, vi } from "vitest";
import { quick } from "../support/engine-run.ts";
import {
  allGone,
  background,
  journalOf,
  maestro,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
} from "../support/processes.ts";
import { type Project, planPath } from "../support/project.ts";
import { played, prepare, scripted } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const of = (project: Project, type: string) => journalOf(project).filter((record) => record.type === type);

async function budgetOf(project: Project, env: Record<string, string>) {
  return JSON.parse((await maestro(project, ["status", "--json"], env)).stdout).budget;
}

describe("a session with a budget", () => {
  test.concurrent("stops an attempt that uses more than it reserved, pauses with exit 5, and continues with a larger budget", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [["spend", [600, 100]], ["spend", [600, 100]], ["hang"]]),
        played(2, [], { blocked_by: [1] }),
      ]);
      const env = agent.env({ MAESTRO_AUTO_ARCHIVE: "false" });
      const run = await maestro(project, ["run", planPath, ...quick, "--budget", "2ktok"], env);
      expect(run.code, run.stderr).toBe(5);
      expect(of(project, "attempt.started")[0]).toMatchObject({ reserved: { tok: 1000 } });
      expect(of(project, "attempt.finished")[0]).toMatchObject({ reason: "over_budget", spent: { tok: 1400 } });
      expect(agent.notes("start")).toHaveLength(1);
      const command = /resume --budget (\S+)/.exec(run.stdout)?.[1];
      expect(command).toBe("3.7ktok");

      const undecided = await maestro(project, ["resume", "--yes", ...quick], env);
      expect(undecided.code).toBe(5);
      expect(undecided.stdout).toContain("resume --budget 3.7ktok");
      expect(agent.notes("start")).toHaveLength(1);

      const resumed = await maestro(project, ["resume", ...quick, "--budget", String(command)], env);
      expect(resumed.code, resumed.stderr).toBe(0);
      // Twice the reservation of the attempt that was stopped.
      expect(of(project, "attempt.started")[1]).toMatchObject({ reserved: { tok: 2000 } });
      expect(await budgetOf(project, env)).toEqual({
        cap: { tok: 3700 },
        spent: { tok: 1400 + 2 * 127 },
        reserved: { tok: 0 },
        left: { tok: 3700 - 1400 - 2 * 127 },
      });
    }));

  test.concurrent("keeps what it has spent when its engine is killed, and counts an attempt without a report in full", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [scripted(1, { 1: [], "*": [] }), played(2, [["hang"]], { blocked_by: [1] })]);
      const env = agent.env();
      const engine = background(
        project,
        ["run", planPath, ...quick, "--budget", "1usd", "--model", "gemini-2.5-pro"],
        env,
      );
      await until("the second agent runs", () => agent.notes("start").length === 2);
      engine.child.kill("SIGKILL");
      await engine.ended;
      await allGone(project);
      const before = await budgetOf(project, env);
      const [, hanging] = of(project, "attempt.started").map((event) => event.reserved as { usd: number });
      expect(before.spent.usd).toBeCloseTo((60 * 1.25 + 40 * 0.125 + 27 * 10) / 1e6, 6);
      expect(before.reserved).toEqual(hanging);

      const resumed = await maestro(project, ["resume", "--yes", ...quick, "--model", "gemini-2.5-pro"], env);
      expect(resumed.code, resumed.stderr).toBe(5);
      const ends = of(project, "attempt.finished");
      expect(ends[1]).toMatchObject({ outcome: "interrupted", spent: hanging });
      expect(agent.notes("start")).toHaveLength(2);
      const after = await budgetOf(project, env);
      expect(after.spent.usd).toBeCloseTo(before.spent.usd + (hanging?.usd ?? 0), 6);
    }));

  test.concurrent("is refused before anything starts when a limit could not be kept", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [scripted(1, {})]);
      const refused = async (words: string[], env: Record<string, string> = {}) => {
        const { code, stderr } = await maestro(project, ["run", planPath, ...words], agent.env(env));
        expect(code).toBe(2);
        return stderr;
      };
      expect(await refused(["--budget", "5usd"])).toContain("phase 1 names no model");
      expect(await refused(["--budget", "5usd", "--model", "secret-1"])).toContain("secret-1 has no known price");
      expect(await refused(["--budget", "5 dollars"])).toContain("--budget must be amounts");
      expect(await refused([], { MAESTRO_BUDGET: "5usd" })).toContain("A budget in dollars cannot be enforced");
      expect(agent.notes("start")).toEqual([]);
      expect((await maestro(project, ["status"])).stdout).toContain("No active session");
    }));

  test.concurrent("is compared with the budget of each phase before it starts", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [scripted(1, {}, { budget: "2Mtok" })]);
      const told = "Phase 1: its budget of 2Mtok is more than the session's budget of 1Mtok";
      const run = await maestro(project, ["run", planPath, "--dry-run", "--budget", "1Mtok"], agent.env());
      expect(run.stderr).toContain(`WARNING: ${told}`);
      const other = await maestro(project, ["run", planPath, "--dry-run", "--budget", "3Mtok"], agent.env());
      expect(other.stderr).not.toContain("its budget of");
      const checked = await maestro(project, ["validate", planPath], agent.env({ MAESTRO_BUDGET: "1Mtok" }));
      expect([checked.code, checked.stdout]).toEqual([
        0,
        expect.stringContaining(`warning budget_over_session: ${told}`),
      ]);
    }));

  test.concurrent("is compared with the plan's estimate before it starts", () =>
    withProcesses(async (project) => {
      const estimate = { input_tokens: 100_000, output_tokens: 20_000, minutes: 1 };
      const agent = prepare(project, [scripted(1, {}, { estimate })]);
      const dry = ["run", planPath, "--dry-run", "--budget", "1usd", "--model", "gemini-2.5-pro"];
      expect((await maestro(project, dry, agent.env())).stdout).toContain("Budget: $1.00, estimated $0.33 (33 %)");
      const env = agent.env({ MAESTRO_BUDGET: "100ktok" });
      expect((await maestro(project, ["validate", planPath], env)).stdout).toContain(
        "budget  100.0k tokens, estimated 120.0k tokens (120 %, more than the budget)",
      );
    }));
});

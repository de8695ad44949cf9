// The provider rejects requests: the whole session slows down, no work is lost, and no phase uses up retries.

import { describe, expect, test, vi } from "vitest";
import {
  background,
  journalOf,
  maestro,
  processesOf,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
} from "../support/processes.ts";
import { type Project, planPath } from "../support/project.ts";
import { played, prepare, type Steps, scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";
import { TIMED } from "../support/timed.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const quick = ["--grace", "300ms"];
const seed = Number(process.env.MAESTRO_CHAOS_SEED ?? 20260214);

async function retriesOf(project: Project): Promise<number[]> {
  const { phases } = JSON.parse((await maestro(project, ["report", "--json"])).stdout);
  return phases.map((phase: { retries: number }) => phase.retries);
}

const waitsOf = (project: Project) => journalOf(project).filter((record) => record.type === "quota.hit");

describe("a session whose provider refuses requests (F17, P7)", () => {
  test.concurrent(`finishes every phase without a retry when 70 % of all attempts are refused, with and without a hint (seed ${seed})`, () =>
    withProcesses(async (project) => {
      // A linear congruential generator: the same storm every time.
      let state = seed;
      const random = () => {
        state = (state * 1_103_515 + 12_345) % 2_147_483_648;
        return state / 2_147_483_648;
      };
      let refusals = 0;
      const phases = Array.from({ length: 10 }, (_, index) => {
        const script: Record<string, Steps> = { "*": [] };
        for (let attempt = 1; attempt <= 5 && random() < 0.7; attempt++) {
          script[attempt] = [random() < 0.5 ? ["quota"] : ["quota", 0.04]];
          refusals += 1;
        }
        return scripted(index + 1, script, { blocked_by: index > 5 ? [index - 4] : [] });
      });
      expect(refusals).toBeGreaterThan(12);
      const agent = prepare(project, phases);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env({ MAESTRO_QUOTA_DELAY: "50ms" }));
      expect(run.code, run.stderr).toBe(0);
      expect(await retriesOf(project)).toEqual(Array(10).fill(0));
      expect(agent.notes("start")).toHaveLength(10 + refusals);
      const ends = journalOf(project).filter((record) => record.type === "attempt.finished");
      expect(ends.filter((end) => end.outcome === "quota")).toHaveLength(refusals);
      expect(waitsOf(project).length).toBeGreaterThan(3);
      expect(run.stderr).toMatch(/session {2}waits .* for quota, until .* \(the provider rejected phase \d+\)/);
    }));

  test.concurrent("slows down all phases after the refusal of one", TIMED, () =>
    withProcesses(async (project) => {
      const back = Date.now() + 3000;
      const agent = prepare(
        project,
        Array.from({ length: 8 }, (_, index) => scripted(index + 1, { "*": [["outage", back]] })),
      );
      const run = await maestro(project, ["run", planPath, ...quick], agent.env({ MAESTRO_QUOTA_DELAY: "50ms" }));
      expect(run.code, run.stderr).toBe(0);
      expect(await retriesOf(project)).toEqual(Array(8).fill(0));
      // The first burst, halved each time, then one at a time with waits that double: far fewer than eight who try again at once.
      expect(agent.notes("start").length).toBeLessThan(8 + 40);
      const slots = waitsOf(project).map((wait) => Number(wait.slots));
      expect(Math.min(...slots)).toBe(1);
    }),
  );

  test.concurrent("launches no attempt of any phase before the time that the provider named", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [["quota", 2]]),
        played(2, [["sleep", 700]]),
        played(3, [], { blocked_by: [2] }),
      ]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env({ MAESTRO_QUOTA_DELAY: "50ms" }));
      expect(run.code, run.stderr).toBe(0);
      const [first] = agent.notes("start");
      const later = agent.notes("start").filter((note) => note.phase === "3" || note.attempt === 2);
      expect(later).toHaveLength(2);
      for (const note of later) expect(note.at - (first?.at ?? 0)).toBeGreaterThan(2000);
    }));
});

describe("a runtime that tries again by itself", () => {
  test.concurrent("slows the session down as long as it reports refusals, and its attempt continues", () =>
    withProcesses(async (project) => {
      const words = "Attempt 1 failed with status 429. Retrying with backoff... Please retry in 2s.";
      const agent = prepare(project, [
        played(1, [
          ["stderr", words],
          ["sleep", 1500],
        ]),
        played(2, [["sleep", 500]]),
        played(3, [], { blocked_by: [2] }),
      ]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env({ MAESTRO_QUOTA_DELAY: "50ms" }));
      expect(run.code, run.stderr).toBe(0);
      expect(waitsOf(project)).toMatchObject([{ phase: "1", slots: 1 }]);
      const [first, , last] = agent.notes("start");
      expect((last?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1900);
      expect(agent.notes("start").map((note) => note.attempt)).toEqual([1, 1, 1]);
    }));
});

describe("a provider that does not come back", () => {
  const refused: Steps = [["quota"]];

  test.concurrent("makes the engine exit with 5 after --quota-wait without progress; the interrupted session can be resumed", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [scripted(1, { "*": refused }), played(2, [])]);
      const env = agent.env({ MAESTRO_QUOTA_DELAY: "50ms" });
      const run = await maestro(project, ["run", planPath, "--quota-wait", "300ms", ...quick], env);
      expect(run.code, run.stderr).toBe(5);
      expect(run.stdout).toContain("rejected requests for too long");
      expect(run.stdout).toContain('maestro.js" resume');
      expect(status(project)).toMatchObject({
        status: "interrupted",
        phases: [
          { status: "in_progress", retry_count: 0 },
          { status: "completed", retry_count: 0 },
        ],
        errors: [],
      });
      expect(processesOf(project)).toEqual([]);
      const before = agent.notes("start").length;
      const again = await maestro(project, ["resume", "--quota-wait", "300ms", ...quick], env);
      expect(again.code, again.stderr).toBe(5);
      expect(agent.notes("start").length).toBeGreaterThan(before);
      expect(status(project)).toMatchObject({ status: "interrupted", phases: [{ retry_count: 0 }, {}] });
    }));

  test.concurrent("does not keep a resumed session from finishing once it answers again", () =>
    withProcesses(async (project) => {
      const back = Date.now() + 4000;
      const agent = prepare(project, [scripted(1, { "*": [["outage", back]] })]);
      const env = agent.env({ MAESTRO_QUOTA_DELAY: "50ms" });
      const run = await maestro(project, ["run", planPath, "--quota-wait", "300ms", ...quick], env);
      expect(run.code, run.stderr).toBe(5);
      await until("the provider is back", () => Date.now() > back);
      const resumed = await maestro(project, ["resume", ...quick], env);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(await retriesOf(project)).toEqual([0]);
    }));

  test.concurrent("leaves a waiting session that can be stopped; the next engine waits for the rest of the time", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["quota", 6]])]);
      const engine = background(project, ["run", planPath, ...quick], agent.env({ MAESTRO_QUOTA_DELAY: "50ms" }));
      await until("it waits", () => engine.stderr().includes("for quota"));
      const refusedAt = Date.now();
      engine.child.kill("SIGINT");
      expect((await engine.ended).code).toBe(130);
      expect(Date.now() - refusedAt).toBeLessThan(3000);
      const resumed = await maestro(project, ["resume", ...quick], agent.env());
      expect(resumed.code, resumed.stderr).toBe(0);
      expect((agent.notes("start")[1]?.at ?? 0) - (agent.notes("start")[0]?.at ?? 0)).toBeGreaterThan(6000);
    }));
});

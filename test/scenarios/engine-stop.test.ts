// An engine is stopped, by signals, limits and kills: its agents end, with every process they started, and the session can be resumed.

import { describe, expect, test, vi } from "vitest";
import {
  allGone,
  background,
  isAlive,
  journalOf,
  maestro,
  processesOf,
  spawned,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
} from "../support/processes.ts";
import { maestroPath, type PhaseSpec, type Project, planPath } from "../support/project.ts";
import { played, prepare, type Steps } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const results = ".gemini/parallel/2026-02-14-task-api/results";
/** The machine may be busy with something else. */
const NOISE_MS = 1500;

/** An engine whose agents have all noted their start. */
async function running(project: Project, phases: PhaseSpec[], words: string[] = [], env: Record<string, string> = {}) {
  const agent = prepare(project, phases);
  const engine = background(project, ["run", planPath, "--grace", "500ms", ...words], agent.env(env));
  await until("the agents run", () => agent.notes("start").length === phases.length);
  return { agent, engine };
}

const stateOf = (project: Project) => {
  const { status: session, phases, errors } = status(project);
  return {
    session,
    phases: phases.map((phase: { status: string; retry_count: number }) => [phase.status, phase.retry_count]),
    errors: errors.length,
  };
};

describe("a signal for the engine (F4, P3, P6)", () => {
  test.concurrent.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "%s ends the agents, leaves the session interrupted and the phase in progress, and exits with %i",
    (signal, code) =>
      withProcesses(async (project) => {
        const { agent, engine } = await running(project, [
          played(1, [["hang"]]),
          played(2, [["hang"]], { agent: "tester" }),
        ]);
        engine.child.kill(signal);
        const end = await engine.ended;
        // When the engine exits, no process of the run is left.
        expect(processesOf(project)).toEqual([]);
        expect([end.code, end.signal]).toEqual([code, null]);
        expect(end.stdout).toContain("was interrupted; all finished work is kept");
        expect(stateOf(project)).toEqual({
          session: "interrupted",
          phases: [
            ["in_progress", 0],
            ["in_progress", 0],
          ],
          errors: 0,
        });
        const ends = journalOf(project).filter((record) => record.type === "attempt.finished");
        expect(ends.map((record) => record.outcome)).toEqual(["interrupted", "interrupted"]);
        const resumed = background(project, ["resume", "--grace", "500ms"], agent.env());
        expect((await resumed.ended).code, resumed.stderr()).toBe(0);
        expect(resumed.stderr()).toContain("Interrupted; they restart with their remaining retries");
        expect(agent.notes("start").map((note) => note.attempt)).toEqual([1, 1, 2, 2]);
      }),
  );

  test.concurrent("waits for agents that need a moment to end, and kills those that do not end at all", () =>
    withProcesses(async (project) => {
      const { engine } = await running(project, [
        played(1, [["ignore", "SIGTERM"], ["write", ["deaf", ""]], ["hang"]]),
        played(2, [["linger", 300], ["write", ["slow", ""]], ["hang"]]),
      ]);
      await until("both are ready", () => project.exists("deaf") && project.exists("slow"));
      const asked = performance.now();
      engine.child.kill("SIGTERM");
      expect((await engine.ended).code).toBe(143);
      const took = performance.now() - asked;
      expect(took).toBeGreaterThan(450);
      expect(took).toBeLessThan(500 + 1000 + NOISE_MS);
      expect(processesOf(project)).toEqual([]);
    }));

  test.concurrent.each<[string, Steps]>([
    ["an agent that ignores TERM", [["ignore", "SIGTERM"], ["write", ["ready", ""]], ["hang"]]],
    ["what an agent that has ended left behind", [["stubborn", 60], ["write", ["ready", ""]], ["hang"]]],
  ])("a second SIGINT kills at once: %s", (_, steps) =>
    withProcesses(async (project) => {
      const { engine } = await running(project, [played(1, steps)], ["--grace", "15s"]);
      await until("it is ready", () => project.exists("ready"));
      engine.child.kill("SIGINT");
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(engine.child.exitCode).toBe(null);
      const asked = performance.now();
      engine.child.kill("SIGINT");
      expect((await engine.ended).code).toBe(130);
      expect(performance.now() - asked).toBeLessThan(1000 + NOISE_MS);
      expect(processesOf(project)).toEqual([]);
      expect(stateOf(project)).toMatchObject({ session: "interrupted", phases: [["in_progress", 0]] });
    }),
  );

  test.concurrent("signals without end still let it say how to resume", () =>
    withProcesses(async (project) => {
      const { engine } = await running(project, [played(1, [["hang"]])]);
      // Node hands signals back to the system at the very end, so the last one may end the process.
      const impatient = setInterval(() => engine.child.kill("SIGINT"), 1);
      const { stdout } = await engine.ended;
      clearInterval(impatient);
      expect(stdout).toContain("was interrupted; all finished work is kept");
      expect(stateOf(project)).toMatchObject({ session: "interrupted" });
    }));

  test.concurrent("during a validation command stops the command, and the next engine validates without another attempt", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [], { validation: ["touch validating; test -e go || exec sleep 60"] }),
      ]);
      const engine = background(project, ["run", planPath, "--grace", "500ms"], agent.env());
      await until("it validates", () => project.exists("validating"));
      engine.child.kill("SIGINT");
      expect((await engine.ended).code).toBe(130);
      expect(processesOf(project)).toEqual([]);
      expect(stateOf(project)).toMatchObject({ session: "interrupted", phases: [["in_progress", 0]] });
      project.write("go", "");
      expect((await maestro(project, ["resume"], agent.env())).code).toBe(0);
      expect(agent.notes("start")).toHaveLength(1);
    }));

  test.concurrent("between a failure and its retry loses neither (K151)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["exit", 1]], {}, [["await", ".bin/go"]])]);
      const engine = background(project, ["run", planPath, "--grace", "500ms"], agent.env());
      await until("the retry runs", () => agent.notes("start").length === 2);
      engine.child.kill("SIGTERM");
      expect((await engine.ended).code).toBe(143);
      expect(stateOf(project)).toEqual({ session: "interrupted", phases: [["in_progress", 1]], errors: 1 });
      project.write(".bin/go", "");
      expect((await maestro(project, ["resume"], agent.env())).code).toBe(0);
      const { phases } = JSON.parse((await maestro(project, ["report", "--json"])).stdout);
      expect(phases).toMatchObject([{ status: "completed", retries: 1 }]);
      expect(agent.notes("start").map((note) => note.attempt)).toEqual([1, 2, 3]);
    }));
});

describe("an engine whose output has no reader (F4)", () => {
  const piped = (project: Project, env: Record<string, string>, pipeline: string) =>
    spawned(
      project,
      "bash",
      ["-c", `${pipeline}; echo "code \${PIPESTATUS[0]}"`, "bash", process.execPath, maestroPath, planPath],
      env,
    ).ended;

  test.concurrent("runs the whole plan: `maestro run | head -1`", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["sleep", 200]]), played(2, [], { blocked_by: [1] })]);
      const run = await piped(project, agent.env(), '"$1" "$2" run "$3" 2>&1 | head -1');
      expect(run.stdout).toContain("code 0");
      expect(agent.notes("end").map((note) => note.phase)).toEqual(["1", "2"]);
      expect(project.exists(".gemini/state/archive/2026-02-14-task-api.md")).toBe(true);
    }));

  test.concurrent("still exits with 4 for a plan that fails: `maestro run | head -1`", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [
          ["sleep", 200],
          ["exit", 1],
        ]),
      ]);
      const run = await piped(project, agent.env({ MAESTRO_MAX_RETRIES: "0" }), '"$1" "$2" run "$3" 2>&1 | head -1');
      expect(stateOf(project)).toMatchObject({ session: "failed", phases: [["failed", 0]] });
      expect(run.stdout).toContain("code 4");
    }));
});

describe("an attempt that reaches its limit (F14, P8, M173, M174)", () => {
  const limit = ["--timeout", "1s", "--grace", "500ms"];
  const cases: [what: string, steps: Steps][] = [
    ["hangs", [["hang"]]],
    ["ignores TERM", [["ignore", "SIGTERM"], ["hang"]]],
    ["never gives the processor back", [["spin"]]],
    ["has closed its output", [["closeStdout"], ["hang"]]],
    ["has children that ignore TERM", [["stubborn", 60], ["hang"]]],
    ["has handed over and does not end", [["print"], ["hang"]]],
  ];

  test.concurrent.each(cases)(
    "and %s is killed with its whole process tree, recorded as 124, and escalated",
    (_, steps) =>
      withProcesses(async (project) => {
        const agent = prepare(project, [played(1, steps)]);
        const run = background(project, ["run", planPath, ...limit], agent.env({ MAESTRO_MAX_RETRIES: "0" }));
        await until("the agent runs", () => agent.notes("start").length > 0, 25_000);
        const [start] = agent.notes("start");
        await until("the agent is gone", () => !isAlive(start?.pid ?? 0));
        await allGone(project);
        const took = Date.now() - (start?.at ?? 0);
        expect(took).toBeLessThan(1000 + 500 + 1000 + NOISE_MS);
        const end = await run.ended;
        expect(end.code, end.stderr).toBe(4);
        expect(project.read(`${results}/coder.p1-1.exit`)).toBe("124\n");
        expect(end.stdout).toMatch(
          /^Agent Timeout: coder\n\nPhase: Phase 1\nTimeout: 1 second\nElapsed: \d.* seconds?\n/m,
        );
        expect(end.stdout).toContain("1. Retry with increased timeout (suggest: 2 seconds)");
        expect(end.stdout).toContain("What would you like to do?");
        expect(end.stdout).toContain('/dist/maestro.js" retry 1 --timeout 2s');
        const state = status(project);
        expect(state).toMatchObject({
          status: "failed",
          phases: [{ status: "failed", retry_count: 0 }],
          errors: [{ type: "timeout", agent: "coder", resolution: "pending", resolved: false }],
        });
      }),
  );

  test.concurrent("has one grace period, not one for the agent and another for its children", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["stubborn", 60], ["linger", 2700], ["hang"]])]);
      const words = ["run", planPath, "--timeout", "1s", "--grace", "3s"];
      const run = background(project, words, agent.env({ MAESTRO_MAX_RETRIES: "0" }));
      const start = await until("the agent runs", () => agent.notes("start")[0]);
      expect((await run.ended).code).toBe(4);
      expect(processesOf(project)).toEqual([]);
      expect(Date.now() - start.at).toBeLessThan(1000 + 3000 + 1000 + 1000);
    }));

  test.concurrent("record A6: is retried once with twice the limit, which is recorded and shown (C40)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["hang"]], {}, [["prompt"]])]);
      const words = ["run", planPath, "--timeout", "2s", "--grace", "300ms"];
      const run = await maestro(project, words, agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(run.stderr).toContain("to be retried with a limit of 4 s: automatic retry with twice the time limit");
      expect(run.stderr).toContain("started (attempt 2, time limit 4 s)");
      const limits = journalOf(project).filter(({ type }) => type === "attempt.started");
      expect(limits.map(({ timeout_ms }) => timeout_ms)).toEqual([2000, 4000]);
      expect(project.read(`${results}/coder.p1-1.exit`)).toBe("124\n");
      expect(agent.notes("prompt")[0]?.prompt).toMatch(/ran out of time/);
      const { phases } = JSON.parse((await maestro(project, ["report", "--json"])).stdout);
      expect(phases).toMatchObject([{ status: "completed", retries: 1 }]);
    }));

  test.concurrent("record A6: a second time is escalated although retries are left, with what the agent printed (C40, M173, M174)", () =>
    withProcesses(async (project) => {
      const steps: Steps = [["stderr", "half of the work is done"], ["hang"]];
      const agent = prepare(project, [played(1, steps, {}, steps)]);
      const words = ["run", planPath, "--timeout", "1s", "--grace", "300ms"];
      const run = await maestro(project, words, agent.env({ MAESTRO_MAX_RETRIES: "5" }));
      expect(run.code, run.stderr).toBe(4);
      const journal = journalOf(project);
      const limits = journal.filter(({ type }) => type === "attempt.started").map(({ timeout_ms }) => timeout_ms);
      expect(limits).toEqual([1000, 2000]);
      const ends = journal.filter(({ type }) => type === "attempt.finished");
      expect(ends).toMatchObject(
        [1, 2].map(() => ({ outcome: "timeout", partial_output: "half of the work is done" })),
      );
      expect(run.stdout).toMatch(/^Agent Timeout: coder\n\nPhase: Phase 1\nTimeout: 2 seconds\n/m);
      expect(run.stdout).toContain("Partial Output:\nhalf of the work is done\n");
      expect(run.stdout).toContain(" retry 1 --timeout 4s");
    }));

  test.concurrent("does not wait for a child that holds the output of an agent that has ended (F16)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [
          ["child", 60],
          ["stubborn", 60],
        ]),
        played(2, [], { blocked_by: [1] }),
      ]);
      const run = await maestro(project, ["run", planPath, "--grace", "500ms"], agent.env());
      expect(run.code, run.stderr).toBe(0);
      const [end] = agent.notes("end");
      const next = agent.notes("start").find((note) => note.phase === "2");
      expect((next?.at ?? 0) - (end?.at ?? 0)).toBeLessThan(1000 + NOISE_MS);
      expect(processesOf(project)).toEqual([]);
    }));

  test.concurrent("is measured in time that the engine was awake for: a frozen engine does not kill its agents when it wakes (F25)", () =>
    withProcesses(async (project) => {
      const { engine } = await running(project, [played(1, [["await", ".bin/go"]])], ["--timeout", "4s"]);
      engine.child.kill("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 4500));
      engine.child.kill("SIGCONT");
      project.write(".bin/go", "");
      expect((await engine.ended).code).toBe(0);
    }));
});

describe("a process that an agent leaves behind (F13, P6)", () => {
  const litter: Steps = [
    ["daemon", 60],
    ["child", 60],
    ["stubborn", 60],
  ];

  test.concurrent("is gone after a normal end", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, litter), played(2, litter)]);
      const run = await maestro(project, ["run", planPath, "--grace", "500ms"], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(processesOf(project)).toEqual([]);
    }));

  test.concurrent("is gone after the end of a validation command", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [], { validation: ["setsid sleep 60 >/dev/null 2>&1 & sleep 60 &"] })]);
      const run = await maestro(project, ["run", planPath, "--grace", "500ms"], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(processesOf(project)).toEqual([]);
    }));

  test.concurrent("is gone after a timeout", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [...litter, ["hang"]])]);
      const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
      const run = await maestro(project, ["run", planPath, "--timeout", "800ms", "--grace", "500ms"], env);
      expect(run.code, run.stderr).toBe(4);
      expect(processesOf(project)).toEqual([]);
    }));

  test.concurrent.each([
    ["the engine", ["engine"]],
    ["the warden, after which the engine has another one, and then of the engine", ["warden", "engine"]],
  ] as const)("is gone within grace + 1 s after kill -9 of %s", (_, victims) =>
    withProcesses(async (project) => {
      const { engine } = await running(project, [
        played(1, [...litter, ["ignore", "SIGTERM"], ["write", ["one", ""]], ["hang"]]),
        played(2, [...litter, ["write", ["two", ""]], ["hang"]]),
      ]);
      await until("all of it runs", () => project.exists("one") && project.exists("two"));
      const warden = () => processesOf(project).find(({ command }) => command.includes("warden.cjs"))?.pid;
      if (victims[0] === "warden") {
        const first = await until("there is a warden", warden);
        process.kill(first, "SIGKILL");
        await until("there is another warden", () => {
          const now = warden();
          return now !== undefined && now !== first;
        });
      }
      expect(processesOf(project).length).toBeGreaterThan(8);
      const killed = performance.now();
      engine.child.kill("SIGKILL");
      await engine.ended;
      await allGone(project);
      expect(performance.now() - killed).toBeLessThan(500 + 1000 + NOISE_MS);
    }),
  );

  test.concurrent("has exited before the next engine starts anything, when engine and warden were killed together", () =>
    withProcesses(async (project) => {
      const { agent, engine } = await running(project, [
        played(1, [...litter, ["write", ["ready", ""]], ["await", ".bin/go"]]),
      ]);
      await until("all of it runs", () => project.exists("ready"));
      const warden = processesOf(project).find(({ command }) => command.includes("warden.cjs"))?.pid ?? 0;
      engine.child.kill("SIGSTOP");
      process.kill(warden, "SIGKILL");
      engine.child.kill("SIGKILL");
      await engine.ended;
      const orphans = processesOf(project).map(({ pid }) => pid);
      expect(orphans.length).toBeGreaterThan(3);
      project.write(".bin/hold", "");
      const next = background(project, ["resume", "--grace", "500ms"], agent.env());
      await until("the next attempt runs", () => agent.notes("start").length === 2);
      expect(orphans.filter(isAlive)).toEqual([]);
      project.write(".bin/go", "");
      expect((await next.ended).code).toBe(0);
      expect(processesOf(project)).toEqual([]);
    }));
});

describe("--detach", () => {
  test.concurrent("keeps running when its parent has exited, in a session of its own, and is stopped by `maestro stop`", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["await", ".bin/go"]]), played(2, [["hang"]], { blocked_by: [1] })]);
      const parent = await maestro(project, ["run", planPath, "--detach", "--grace", "500ms"], agent.env());
      expect(parent.code, parent.stderr).toBe(0);
      const pid = Number(/is running in process (\d+)/.exec(parent.stdout)?.[1]);
      expect(isAlive(pid)).toBe(true);
      const watcher = background(project, ["watch"], agent.env());
      for (let note = 0; !watcher.stderr().includes("is an engine there"); note++) {
        expect(note).toBeLessThan(50);
        await maestro(project, ["session", "note", "is an engine there?"], agent.env());
      }
      project.write(".bin/go", "");
      await until("the second agent runs", () => agent.notes("start").length === 2);
      await until("the watcher has seen it", () => /phase 2 .*started/.test(watcher.stderr()));
      const stop = await maestro(project, ["stop"], agent.env());
      expect([stop.code, stop.stdout]).toEqual([0, expect.stringContaining(`process ${pid}`)]);
      expect((await watcher.ended).stdout).toContain("interrupted");
      await allGone(project, 2000 + NOISE_MS);
      expect(stateOf(project)).toMatchObject({ session: "interrupted" });
    }));

  test.concurrent("says what fails at the start, and with which code", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["await", ".bin/go"]])]);
      const first = await maestro(project, ["run", planPath, "--detach", "--json", "--grace", "500ms"], agent.env());
      const begun = JSON.parse(first.stdout);
      expect(begun).toMatchObject({ session_id: "2026-02-14-task-api", pid: expect.any(Number) });
      const second = await maestro(project, ["run", planPath, "--detach"], agent.env());
      expect([second.code, second.stderr]).toEqual([3, expect.stringContaining(`process ${begun.pid}`)]);
      expect((await maestro(project, ["stop", "--force", "--json"], agent.env())).code).toBe(0);
      await allGone(project);
    }));

  test.concurrent("of a resume continues from the state of the session", () =>
    withProcesses(async (project) => {
      const { agent, engine } = await running(project, [played(1, [["hang"]])]);
      engine.child.kill("SIGTERM");
      await engine.ended;
      const parent = await maestro(project, ["resume", "--detach", "--grace", "500ms"], agent.env());
      expect(parent.code, parent.stderr).toBe(0);
      await until("the plan has run", () => project.exists(".gemini/state/archive/2026-02-14-task-api.md"));
      await allGone(project);
      expect(agent.notes("start").map((note) => note.attempt)).toEqual([1, 2]);
    }));

  test.concurrent("keeps running although its parent is killed before it is under way", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [])]);
      const parent = background(project, ["run", planPath, "--detach"], agent.env());
      const find = () => processesOf(project).find(({ command }) => command.includes("--ready-fd"));
      await until("the engine's process is there", find);
      parent.child.kill("SIGKILL");
      await until("the plan has run", () => project.exists(".gemini/state/archive/2026-02-14-task-api.md"));
      await allGone(project);
    }));
});

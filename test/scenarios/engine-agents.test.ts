// Agents of a run with real processes: what they hand over, print, are given and give away.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { quick, reportOf, results, runPlan } from "../support/engine-run.ts";
import { background, processesOf, TEST_TIMEOUT_MS, until, withProcesses } from "../support/processes.ts";
import { maestroPath, type Project, planPath } from "../support/project.ts";
import { played, prepare, type StandIn, type Steps } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

describe("an agent whose result is not usable (P9, K143)", () => {
  const document = JSON.stringify({ session_id: "x", response: "All done, trust me.", stats: {} });
  const cases: [what: string, steps: Steps, reason: string, type: string, says: RegExp][] = [
    ["no hand-off", [["answer", document]], "handoff_incomplete", "validation", /Task Report/],
    ["no Downstream Context", [["report", { downstream: false }]], "handoff_incomplete", "validation", /Downstream/],
    ["partial", [["report", { status: "partial", summary: "Half." }]], "reported_partial", "runtime", /Half\./],
    ["failure", [["report", { status: "failure", summary: "No way." }]], "reported_failure", "runtime", /No way\./],
    ["nothing at all", [["answer", ""]], "no_result", "runtime", /without a result/],
    ["garbage", [["answer", "Segmentation fault"]], "not_json", "runtime", /Segmentation fault/],
    [
      "half of its JSON",
      [["answer", '{"session_id":"x","response":"## Task Rep']],
      "truncated_json",
      "runtime",
      /is truncated/,
    ],
    ["an empty response", [["answer", '{"response":"","stats":{}}']], "empty_response", "runtime", /empty response/],
    ["an error of the API", [["error", [500, "backend exploded", 1]]], ".*", "runtime", /backend exploded/],
    ["killed at its start", [["kill", "SIGKILL"]], ".*", "runtime", /137/],
    [
      "killed in the middle of its JSON",
      [
        ["stdout", '{"session_id":"x","resp'],
        ["kill", "SIGKILL"],
      ],
      ".*",
      "runtime",
      /137/,
    ],
    ["killed after its report", [["print"], ["kill", "SIGKILL"]], ".*", "runtime", /137/],
    ["killed with everything around it", [["print"], ["killGroup"]], ".*", "runtime", /137/],
    ["terminated after its report", [["print"], ["kill", "SIGTERM"]], ".*", "runtime", /143/],
  ];

  test.concurrent("fails with the reason and is retried, while other phases continue (F3, F18)", () =>
    withProcesses(async (project) => {
      const last = cases.length + 1;
      const { run } = await runPlan(
        project,
        [
          ...cases.map(([, steps], index) => played(index + 1, steps)),
          // One phase waits for all of them.
          played(last, [], { blocked_by: cases.map((_, index) => index + 1) }),
        ],
        { words: ["--max-concurrent", "4"], env: { MAESTRO_AUTO_ARCHIVE: "false" } },
      );
      expect(run.code, run.stderr).toBe(0);
      const { phases, errors } = status(project);
      for (const [index, [what, , reason, type, says]] of cases.entries()) {
        const phase = phases[index];
        expect(phase, what).toMatchObject({ status: "completed", retry_count: 1 });
        expect(phase.attempts[0].result, what).toMatchObject({
          outcome: "failure",
          reason: expect.stringMatching(new RegExp(`^${reason}$`)),
        });
        const error = errors.find((one: { phase: string }) => one.phase === String(index + 1));
        expect(error, what).toMatchObject({ type, message: expect.stringMatching(says), resolved: true });
      }
      expect(phases.at(-1)).toMatchObject({ status: "completed", retry_count: 0 });
    }));

  test.concurrent("fails alone when it ends without reading its prompt (EPIPE)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [{ id: 1, description: "x".repeat(60_000) }, { id: 2 }]);
      writeFileSync(join(project.path, ".bin/gemini"), "#!/bin/sh\nexit 1\n");
      const run = await commandLine(project, ["run", planPath, ...quick], {
        env: agent.env({ MAESTRO_MAX_RETRIES: "0" }),
      });
      expect(run.code, run.stderr).toBe(4);
      expect(status(project).phases).toMatchObject([{ status: "failed" }, { status: "failed" }]);
    }));

  test.concurrent("fails when its program cannot be executed", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [{ id: 1 }]);
      writeFileSync(join(project.path, ".bin/gemini"), "#!/no/such/interpreter\n");
      const run = await commandLine(project, ["run", planPath, ...quick], {
        env: agent.env({ MAESTRO_MAX_RETRIES: "0" }),
      });
      expect(run.code, run.stderr).toBe(4);
      expect(project.read(`${results}/coder.p1-1.exit`)).toMatch(/^12[67]\n$/);
    }));

  test.concurrent("causes a warning in the report when a delivered file is gone afterwards", () =>
    withProcesses(async (project) => {
      const steps: Steps = [["write", ["src/ghost.ts", "g\n"]]];
      const { run } = await runPlan(project, [
        played(1, steps, { files_created: ["src/ghost.ts"] }),
        played(2, [["remove", "src/ghost.ts"]], { blocked_by: [1], files_deleted: ["src/ghost.ts"] }),
      ]);
      expect(run.code, run.stderr).toBe(0);
      expect(run.stdout).toContain("src/ghost.ts");
      expect(await reportOf(project)).toMatchObject({ missing_files: [{ phase: "1", file: "src/ghost.ts" }] });
    }));
});

describe("an agent that prints 100 MB (F15, P7)", () => {
  const much = 100 * 1024 * 1024;

  /** Runs the plan, and returns the most memory that its engine had, in kB. */
  async function measured(project: Project, agent: StandIn, env: Record<string, string> = {}) {
    const engine = background(project, ["run", planPath, ...quick], agent.env(env));
    let peak = 0;
    const timer = setInterval(() => {
      peak = Math.max(peak, residentOf(engine.pid));
    }, 50);
    const run = await engine.ended;
    clearInterval(timer);
    expect(run.code, run.stderr).toBe(0);
    expect(peak).toBeGreaterThan(0);
    return peak;
  }

  test.concurrent("on stdout, in one line, fails as output_too_large, and the file is cut; the engine stays small", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["spew", [1, much]]])]);
      expect(await measured(project, agent, { MAESTRO_AUTO_ARCHIVE: "false" })).toBeLessThan(200 * 1024);
      const [phase] = status(project).phases;
      expect(phase).toMatchObject({ status: "completed", retry_count: 1 });
      expect(phase.attempts[0].result).toMatchObject({ outcome: "failure", reason: "output_too_large" });
      expect(sizeOf(project, `${results}/coder.p1-1.json`)).toBeLessThanOrEqual(50 * 1024 * 1024);
    }));

  test.concurrent("of which 48 MB come before its answer succeeds at once; the engine stays small", () =>
    withProcesses(async (project) => {
      const noise = 48 * 1024 * 1024;
      const agent = prepare(project, [
        played(1, [
          ["spew", [1, noise]],
          ["stdout", "\n"],
        ]),
      ]);
      expect(await measured(project, agent, { MAESTRO_AUTO_ARCHIVE: "false" })).toBeLessThan(150 * 1024);
      expect(sizeOf(project, `${results}/coder.p1-1.json`)).toBeGreaterThan(noise);
      expect(status(project).phases[0]).toMatchObject({ status: "completed", retry_count: 0 });
    }));

  test("record A13: ten agents that print 50 MB each leave the engine below 150 MB (P7)", () =>
    withProcesses(async (project) => {
      const noise = 48 * 1024 * 1024;
      const phases = Array.from({ length: 10 }, (_, at) =>
        played(at + 1, [
          ["spew", [1, noise]],
          ["stdout", "\n"],
        ]),
      );
      const agent = prepare(project, phases);
      expect(await measured(project, agent, { MAESTRO_MAX_CONCURRENT: "10" })).toBeLessThan(150 * 1024);
    }));

  test.concurrent("on stderr has only its log cut, with a mark; the engine stays small", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [
          ["stderr", "first words"],
          ["spew", [2, much]],
          // Output that arrives while the log is being cut may be lost.
          ["sleep", 1500],
          ["stderr", "\nlast words"],
        ]),
      ]);
      expect(await measured(project, agent)).toBeLessThan(200 * 1024);
      expect(sizeOf(project, `${results}/coder.p1-1.log`)).toBeLessThanOrEqual(10 * 1024 * 1024);
      const log = project.read(`${results}/coder.p1-1.log`);
      expect(log).toMatch(/^first words/);
      expect(log).toMatch(/\[maestro: \d+ bytes were cut out here\]/);
      expect(log.trimEnd()).toMatch(/last words$/);
    }));

  test.concurrent("in a validation command that passes has its log cut", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(project, [played(1, [], { validation: ["head -c 60000000 /dev/zero & wait"] })], {
        env: { MAESTRO_MAX_RETRIES: "0" },
      });
      expect(run.code === 0 || run.stdout.includes("its output exceeds 10 MB"), run.stdout).toBe(true);
      expect(sizeOf(project, `${results}/coder.p1-1.validation.log`)).toBeLessThanOrEqual(11 * 1024 * 1024);
    }));

  test.concurrent("in a validation command fails the validation", () =>
    withProcesses(async (project) => {
      const endless = "while :; do head -c 1000000 /dev/zero; sleep 0.01; done";
      const { run } = await runPlan(project, [played(1, [], { validation: [endless] })], {
        env: { MAESTRO_MAX_RETRIES: "0" },
      });
      expect(run.code, run.stderr).toBe(4);
      expect(run.stdout).toContain("stopped: its output exceeds 10 MB");
      expect(processesOf(project)).toEqual([]);
    }));
});

describe("the secrets and the environment of an agent (T9, T10, P12)", () => {
  test.concurrent("are an allow-listed environment, what --pass-env names, and the name of its attempt", () =>
    withProcesses(async (project) => {
      const ofEngine = {
        MAESTRO_EXCHANGE: "/canary/exchange",
        MAESTRO_WORKER_KEY: "canary-key".repeat(4),
        MAESTRO_WORKER_KEY_FILE: "/canary/key",
        MAESTRO_QUEUE_PASSWORD: "canary-password",
        MAESTRO_WORKER_LEASE: "61",
        MAESTRO_WORKER_RENEWAL: "11",
        MAESTRO_WORKER_SWEEP: "16",
        MAESTRO_ORPHAN_LIMIT: "11",
        MAESTRO_BUDGET: "9Mtok",
      };
      const env = { CANARY_SECRET: "no", GITHUB_TOKEN: "no", NODE_OPTIONS: "", EXTRA_ONE: "1", LC_ALL: "C" };
      const { agent, run } = await runPlan(project, [played(1, [["environment"]], { validation: ["env >seen"] })], {
        env: { ...env, ...ofEngine },
        words: [
          "--pass-env",
          "EXTRA_ONE,MAESTRO_WORKER_KEY,MAESTRO_WORKER_KEY_FILE,MAESTRO_QUEUE_PASSWORD,MAESTRO_EXCHANGE",
        ],
      });
      expect(run.code, run.stderr).toBe(0);
      const names = agent.notes("environment")[0]?.names ?? [];
      for (const name of ["PATH", "HOME", "LC_ALL", "EXTRA_ONE", "MAESTRO_SESSION", "MAESTRO_PHASE", "MAESTRO_AGENT"]) {
        expect(names).toContain(name);
      }
      expect(names).toContain("MAESTRO_ATTEMPT");
      const withheld = ["CANARY_SECRET", "GITHUB_TOKEN", "NODE_OPTIONS", ...Object.keys(ofEngine)];
      expect(names.filter((name) => withheld.includes(name))).toEqual([]);
      const seen = project.read("seen");
      expect(seen).not.toMatch(/canary/);
      expect(seen).toMatch(/^EXTRA_ONE=1$/m);
      expect(seen).not.toContain("CANARY_SECRET");
    }));

  test.concurrent("include toolchain variables and what MAESTRO_PASS_ENV names, which no project can set (C48)", () =>
    withProcesses(async (project) => {
      project.write(".env", "MAESTRO_PASS_ENV=*\nGOPATH=/evil\n");
      const env = { JAVA_HOME: "/jdk", APP_ONE: "1", CANARY_SECRET: "no", MAESTRO_PASS_ENV: "APP_*" };
      const { agent, run } = await runPlan(project, [played(1, [["environment"]], { validation: ["env >seen"] })], {
        env,
      });
      expect(run.code, run.stderr).toBe(0);
      const { names = [], values = {} } = agent.notes("environment")[0] ?? {};
      for (const name of ["JAVA_HOME", "APP_ONE"]) expect(names).toContain(name);
      expect(names).not.toContain("CANARY_SECRET");
      expect(values.GOPATH ?? "").toBe("");
      expect(project.read("seen")).toMatch(/^JAVA_HOME=\/jdk$/m);
      expect(project.read("seen")).not.toMatch(/^GOPATH=/m);
    }));

  test.concurrent("do not include its prompt on a command line", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        { id: 1, description: `Keep quiet about the word marmalade.\nPLAY {"*":[["await",".bin/go"]]}` },
      ]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("the agent runs", () => agent.notes("start").length > 0);
      const commands = processesOf(project).map(({ command }) => command);
      expect(commands.length).toBeGreaterThan(2);
      expect(commands.filter((command) => command.includes("marmalade"))).toEqual([]);
      expect(agent.notes("start")[0]?.argv.join(" ")).not.toContain("marmalade");
      project.write(".bin/go", "");
      expect((await engine.ended).code).toBe(0);
    }));

  test.concurrent("are in nothing that Maestro writes or shows when the agent prints a secret", () =>
    withProcesses(async (project) => {
      const secret = `AIza${"Sy0123456789abcdefghij_-KLMNOPQRSTU"}`;
      const leaking: Steps = [
        ["leak", "GEMINI_API_KEY"],
        ["exit", 1],
      ];
      const { run } = await runPlan(project, [played(1, leaking, {}, leaking)], {
        env: { GEMINI_API_KEY: secret, MAESTRO_MAX_RETRIES: "1" },
      });
      expect(run.code).toBe(4);
      expect(project.read(`${results}/coder.p1-1.log`)).toContain("key=[redacted]");
      const shown = [
        project.read(`${results}/coder.p1-1.log`),
        run.stdout,
        run.stderr,
        (await commandLine(project, ["report"], { env: { GEMINI_API_KEY: secret } })).stdout,
        (await commandLine(project, ["status", "--json"])).stdout,
        project.read(".gemini/state/progress.jsonl"),
        project.read(".gemini/state/active-session.md"),
        project.read(".gemini/parallel/2026-02-14-task-api/prompts/coder.p1-2.txt"),
      ];
      for (const text of shown) expect(text).not.toContain(secret);
      expect(project.read(".gemini/state/progress.jsonl")).toContain("key=[redacted]");
      // The agent's own words are for its owner only.
      const modes = project
        .run("find", [`${results}`, "-type", "f", "-printf", "%m\n"])
        .stdout.trim()
        .split("\n");
      expect(new Set(modes)).toEqual(new Set(["600"]));
    }));

  test.concurrent("mark it as an attempt, so that an engine it starts refuses to run (T13)", () =>
    withProcesses(async (project) => {
      const nested = (...words: string[]): Steps[number] => ["command", [process.execPath, maestroPath, ...words]];
      const { agent, run } = await runPlan(project, [
        played(1, [nested("run", planPath, "--yes"), nested("resume", "--yes"), nested("rehearse", planPath)]),
      ]);
      expect(run.code, run.stderr).toBe(0);
      const tried = agent.notes("command");
      expect(tried.slice(0, 2).map(({ code }) => code)).toEqual([3, 3]);
      expect(tried[0]?.stderr).toContain("This is already an attempt of Maestro");
      expect(agent.notes("start")).toHaveLength(1);
    }));
});

function sizeOf(project: Project, path: string): number {
  return Number(project.run("stat", ["-c", "%s", path]).stdout);
}

/** Resident memory of a process in kB; 0 when it is gone. */
function residentOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

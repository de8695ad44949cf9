// What goes wrong apart from the agents: leftovers, locks, tampering, settings, decisions during a run.

import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { background, journalOf, maestro, spawned, until, withProcesses } from "../support/processes.ts";
import { planPath, programPath } from "../support/project.ts";
import { played, prepare } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

const quick = ["--grace", "500ms"];

describe("a validation", () => {
  test.concurrent("is not killed along with the processes that its agent left behind", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["stubborn", 60]], { validation: ["sleep 2"] })]);
      const run = await maestro(project, ["run", planPath, ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(agent.notes("start")).toHaveLength(1);
    }));

  test.concurrent("leaves no part of a secret where its output is cut (P12)", () =>
    withProcesses(async (project) => {
      const secret = "canary-0123456789-abcdefghij-uvwxyz";
      const command = `printf '%s' "$MY_TOKEN"; head -c 3975 /dev/zero | tr '\\0' .; exit 1`;
      const agent = prepare(project, [played(1, [], { validation: [command] })]);
      const env = agent.env({ MY_TOKEN: secret, MAESTRO_MAX_RETRIES: "0" });
      const run = await commandLine(project, ["run", planPath, "--pass-env", "MY_TOKEN", ...quick], { env });
      expect(run.code, run.stderr).toBe(4);
      const written = `${run.stdout}${run.stderr}${project.read(".gemini/state/progress.jsonl")}`;
      expect(written).toContain("....");
      expect(written).not.toContain("uvwxyz");
    }));
});

describe("a decision of a person in the middle of a run", () => {
  test.concurrent("to skip a phase lets other phases start only when its agent has ended", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [["ignore", "SIGTERM"], ["write", ["deaf", ""]], ["hang"]]),
        played(2, [], { blocked_by: [1] }),
      ]);
      const engine = background(project, ["run", planPath, "--grace", "1s"], agent.env());
      await until("it is deaf", () => project.exists("deaf"));
      expect((await commandLine(project, ["skip", "1"], { env: agent.env() })).code).toBe(0);
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      const order = journalOf(project)
        .filter(({ type }) => type === "attempt.started" || type === "attempt.finished")
        .map(({ type, phase }) => `${type} ${phase}`);
      expect(order.slice(0, 3)).toEqual(["attempt.started 1", "attempt.finished 1", "attempt.started 2"]);
    }));

  test.concurrent("to retry a phase is accepted only when it has failed", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, []), played(2, [])]);
      await commandLine(project, ["session", "create", planPath]);
      const retry = await commandLine(project, ["retry", "2"], { env: agent.env() });
      expect([retry.code, retry.stderr]).toEqual([1, expect.stringContaining("only a failed phase is retried")]);
      expect(status(project).phases[1].status).toBe("pending");
    }));
});

test.concurrent("a session lock that another process holds for seconds does not end the run: results are recorded later", () =>
  withProcesses(async (project) => {
    const agent = prepare(project, [
      played(1, [
        ["write", ["begun", ""]],
        ["sleep", 300],
      ]),
      played(2, [], { blocked_by: [1] }),
    ]);
    const engine = background(project, ["run", planPath, ...quick], agent.env());
    await until("it works", () => project.exists("begun"));
    project.write(".gemini/state/counter", "0");
    const holder = spawned(project, process.execPath, [programPath("lock-holder"), ".gemini/state", "1", "hold"]);
    await until("the lock is held", () => holder.stdout().includes("held"));
    await until("the engine says so", () => engine.stderr().includes("State is locked by"));
    holder.child.kill("SIGKILL");
    const run = await engine.ended;
    expect(run.code, run.stderr).toBe(0);
    expect(agent.notes("start").map((note) => note.phase)).toEqual(["1", "2"]);
  }));

test.concurrent("the policy of a tier is whole at every launch, whatever an agent did to it (T4)", () =>
  withProcesses(async (project) => {
    const policy = ".gemini/parallel/2026-02-14-task-api/results/policy-read-only.toml";
    const agent = prepare(project, [
      played(1, [], { agent: "architect" }),
      played(2, [["write", [policy, ""]]], { blocked_by: [1] }),
      played(3, [], { agent: "architect", blocked_by: [2] }),
    ]);
    const run = await commandLine(project, ["run", planPath, ...quick], { env: agent.env() });
    expect(run.code, run.stderr).toBe(0);
    expect(project.read(policy)).toContain('toolName = ["write_file", "replace", "run_shell_command"]');
  }));

test.concurrent.each([
  ["31s", 31_000],
  ["65s", 65_000],
  ["1.5m", 90_000],
])("a time limit of %s is taken as it is", (timeout, timeout_ms) =>
  withProcesses(async (project) => {
    const agent = prepare(project, [played(1, [])]);
    const run = await commandLine(project, ["run", planPath, ...quick], {
      env: agent.env({ MAESTRO_AGENT_TIMEOUT: timeout }),
    });
    expect(run.code, run.stderr).toBe(0);
    expect(journalOf(project).find(({ type }) => type === "attempt.started")).toMatchObject({ timeout_ms });
  }),
);

test.concurrent("a dry run shows the command of every tier, also without gemini", () =>
  withProcesses(async (project) => {
    prepare(project, [played(1, [], { agent: "architect" }), played(2, [])]);
    const run = await commandLine(project, ["run", planPath, "--dry-run"], { env: { PATH: "/usr/bin:/bin" } });
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).toMatch(
      / 1 {2}gemini .* --policy \.gemini\/parallel\/<session>\/results\/policy-read-only\.toml /,
    );
    expect(run.stdout).toMatch(
      / 2 {2}gemini --approval-mode=yolo --output-format stream-json --policy \S+policy-full\.toml --policy ~\/\.gemini\/policies --skip-trust\n/,
    );
    expect(project.exists(".gemini/state")).toBe(false);
  }));

test.concurrent("prices that cannot be read are refused before anything starts", () =>
  withProcesses(async (project) => {
    const agent = prepare(project, [played(1, [])]);
    const run = await commandLine(project, ["run", planPath], { env: agent.env({ MAESTRO_PRICES: "nowhere.json" }) });
    expect([run.code, run.stderr]).toEqual([3, expect.stringContaining("Cannot read the prices")]);
    expect([agent.notes(), project.exists(".gemini/state/progress.jsonl")]).toEqual([[], false]);
  }));

test.concurrent("a rehearsal without retries plays no failure", () =>
  withProcesses(async (project) => {
    prepare(project, [played(1, []), played(2, [], { validation: ["false"] })]);
    const run = await maestro(project, ["rehearse", planPath, "--seconds", "0.2"], { MAESTRO_MAX_RETRIES: "0" });
    expect([run.code, run.stdout]).toEqual([0, expect.not.stringContaining("One failure was simulated")]);
  }));

// An agent that speaks the Agent Client Protocol plays phases behind the bridge: what it may do is decided by its tier and its directory.

import { chmodSync, copyFileSync, existsSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, test, vi } from "vitest";
import { NEEDS_A_PERSON } from "../../src/exit-codes.ts";
import { bubblewrap } from "../support/bubblewrap.ts";
import { withIsolated } from "../support/isolated.ts";
import { journalOf, maestro, processesOf, TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { type PhaseSpec, type Project, planPath, planText, programPath } from "../support/project.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

/** Runs one phase whose agent takes `steps`. */
async function runSteps(project: Project, steps: string[], phase: Partial<PhaseSpec> = {}, words: string[] = []) {
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${programPath("acp-agent")}' "$@"\n`;
  chmodSync(project.write(".bin/acp-agent", launcher), 0o755);
  project.write(planPath, planText([{ id: 1, description: "Work.", ...phase }]));
  const env = {
    PATH: [join(project.path, ".bin"), process.env.PATH].join(delimiter),
    ...{ MAESTRO_EXECUTION_MODE: "sequential", MAESTRO_STAGGER_DELAY: "0", MAESTRO_MAX_RETRIES: "0" },
  };
  const runtime = `acp:acp-agent ${steps.map((step) => `'${step}'`).join(" ")}`;
  const common = ["--runtime", runtime, "--isolation", "none", "--grace", "300ms"];
  const run = await maestro(project, ["run", planPath, ...common, ...words], env);
  const ends = journalOf(project).filter(({ type }) => type === "attempt.finished");
  const log = async () => (await maestro(project, ["logs", "1", "--session", "2026-02-14-task-api"], env)).stdout;
  return { run, ends, log };
}

test.concurrent("an agent of the full tier writes, reads and runs inside of its directory, and its tokens count", () =>
  withProcesses(async (project) => {
    const steps = ["ask=edit", "write=sub/a.txt", "read=sub/a.txt", "run=cat sub/a.txt; exit 3", "ask=execute"];
    const { run, ends, log } = await runSteps(project, steps, { files_created: ["sub/a.txt"] });
    expect(run.code, run.stderr).toBe(0);
    expect(ends).toMatchObject([{ outcome: "success", usage: [{ model: null, input: 30, output: 12 }] }]);
    const shown = await log();
    expect(shown).toContain("Summary: ask=edit: sure; write=sub/a.txt: yes");
    expect(shown).toContain("read=sub/a.txt: written; run=cat sub/a.txt; exit 3: written 3; ask=execute: sure");
  }));

test.concurrent("an agent is refused what its tier does not have", () =>
  withProcesses(async (project) => {
    const steps = ["ask=read", "ask=edit", "ask=execute", "write=a.txt", "run=touch b.txt"];
    const { run, log } = await runSteps(project, steps, { agent: "architect" }, ["--allow-unheld"]);
    expect(run.code, run.stderr).toBe(0);
    const shown = await log();
    expect(shown).toContain("Summary: ask=read: sure; ask=edit: never");
    expect(shown).toContain("ask=execute: never; write=a.txt: error");
    expect(shown).toContain("failed: not allowed: a edit: an agent of the tier read-only must not change files");
    expect(["a.txt", "b.txt"].filter((name) => existsSync(join(project.path, name)))).toEqual([]);
  }));

test.concurrent("no agent of a tier that the protocol cannot enforce starts without permission", () =>
  withProcesses(async (project) => {
    const { run, ends } = await runSteps(project, [], { agent: "architect" });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("cannot enforce the tier of agent architect (read-only)");
    expect(ends).toEqual([]);
  }));

test.concurrent("a command that only the plan names needs consent", () =>
  withProcesses(async (project) => {
    const { run, ends } = await runSteps(project, [], { runtime: "acp:acp-agent" });
    expect(run.code).toBe(NEEDS_A_PERSON);
    expect(run.stderr).toContain("acp:acp-agent (the plan)");
    expect(ends).toEqual([]);
  }));

test.concurrent("the guard judges the commands of an agent", () =>
  withProcesses(async (project) => {
    const steps = ["run=git reset --hard", "run=echo fine"];
    const { run, log } = await runSteps(project, steps);
    expect(run.code, run.stderr).toBe(0);
    const shown = await log();
    expect(shown).toContain("failed: not allowed: run sh -c git reset --hard: ");
    expect(shown).toContain("run=echo fine: fine 0");
  }));

test.concurrent("a write outside of the agent's directory is refused, by whatever way", () =>
  withProcesses(async (project) => {
    const target = `maestro-acp-${process.pid}.txt`;
    symlinkSync(tmpdir(), join(project.path, "out"));
    const steps = [`write=../${target}`, `write=out/${target}`, "write=.git/config", "read=../../etc/hostname"];
    const { run, log } = await runSteps(project, steps);
    expect(run.code, run.stderr).toBe(0);
    const shown = await log();
    for (const step of steps) expect(shown).toContain(`${step}: error`);
    const places = [join(project.path, "..", target), join(tmpdir(), target), join(project.path, ".git")];
    expect(places.filter((path) => existsSync(path))).toEqual([]);
  }));

test.concurrent("a sandbox enforces the tiers that the protocol cannot, in a worktree for each agent", (context) => {
  bubblewrap(context);
  const phases = [
    { id: "writes", files_created: ["a.txt"] },
    { id: "looks", agent: "architect" },
  ];
  return withIsolated({ "b.txt": "b\n" }, phases, async (project) => {
    // What lies beside a program on PATH is visible in the sandbox; the cache of the tests is not.
    copyFileSync(programPath("acp-agent"), join(project.path, ".bin/acp-agent.cjs"));
    const launcher = `#!/bin/sh\nexec '${process.execPath}' "$(dirname "$0")/acp-agent.cjs" "$@"\n`;
    chmodSync(project.write(".bin/acp-agent", launcher), 0o755);
    const runtime = "acp:acp-agent write=a.txt read=b.txt";
    const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, "--sandbox", "--runtime", runtime).ended;
    expect(run.code, `${run.stderr}\n${run.stdout}`).toBe(0);
    expect(project.read("a.txt")).toBe("written\n");
  });
});

test.concurrent("an agent that hangs is stopped with all that it started", () =>
  withProcesses(async (project) => {
    const { run, ends } = await runSteps(project, ["hang"], {}, ["--timeout", "3s"]);
    expect(run.code).not.toBe(0);
    expect(ends).toMatchObject([{ outcome: "timeout" }]);
    expect(processesOf(project)).toEqual([]);
  }));

test.concurrent("an agent that dies fails the attempt with its last sign", () =>
  withProcesses(async (project) => {
    const { ends } = await runSteps(project, ["die"]);
    expect(ends).toMatchObject([{ outcome: "failure" }]);
    expect(JSON.stringify(ends)).toContain("The agent exited unexpectedly (exit code 3)");
  }));

// A failed phase waits for the user: every view shows the decision with a command for each option.

import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { locateState } from "../../src/store/location.ts";
import { SessionStore } from "../../src/store/session-store.ts";
import { commandLine } from "../support/command-line.ts";
import { contextOf, hook, move, Shelf, sessionProject, succeed } from "../support/hooks.ts";
import { withServer } from "../support/mcp.ts";
import { hasTerminal, onTerminal } from "../support/on-terminal.ts";
import { TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { maestroPath, type Project, planPath, root } from "../support/project.ts";
import { played, prepare, scripted } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const quick = ["--grace", "300ms"];
const program = `node "${maestroPath}"`;

/** The blocks of a failure: from their first line to the last command. */
const failure =
  /^Phase Execution Failed: Phase 1\n\nAgent: coder\nAttempt: 0 of 0\nError Type: runtime\n[\s\S]*\nOptions:\n1\. Manually fix the issue and retry this phase\n[\s\S]*\nWhat would you like to do\?\n\n {2}To answer:\n/m;

async function failed(project: Project) {
  const agent = prepare(project, [played(1, [["exit", 1]]), played(2, [], { blocked_by: [1] })]);
  const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
  expect((await commandLine(project, ["run", planPath, ...quick], { env: env })).code).toBe(4);
  return { agent, env };
}

const commands = (...words: string[]) => words.map((word, at) => `    ${at + 1}. ${program} ${word}\n`).join("");

describe("record A3: an open decision without a terminal", () => {
  test.concurrent.each([["resume"], ["status"], ["report"]])(
    "is shown by `%s` with its block and the command for each option (M177)",
    (verb) =>
      withProcesses(async (project) => {
        const { agent, env } = await failed(project);
        const run = await commandLine(project, [verb], { env: env });
        expect(run.code, run.stderr).toBe(verb === "resume" ? 4 : 0);
        expect(run.stdout).toMatch(failure);
        expect(run.stdout).toContain(commands("retry 1", "skip 1", "abort", "retry 1 --timeout 20m"));
        expect(run.stdout).toContain(`  After 1, 2, 4: ${program} resume\n`);
        expect(run.stderr).not.toContain("?");
        expect(agent.notes("start")).toHaveLength(1);
      }),
  );

  test.concurrent("holds `resume` back: nothing starts until a shown command is pasted into a shell (M177)", () =>
    withProcesses(async (project) => {
      const { agent, env } = await failed(project);
      const shown = (await commandLine(project, ["resume"], { env: env })).stdout;
      const [, skip = "", next = ""] = /^ {4}2\. (.*)\n[\s\S]*^ {2}After 1, 2, 4: (.*)$/m.exec(shown) ?? [];
      const pasted = project.run("sh", ["-c", `${skip} && ${next} ${quick.join(" ")}`], { env });
      expect(pasted.code, pasted.stderr).toBe(0);
      expect(agent.notes("start").map(({ phase }) => phase)).toEqual(["1", "2"]);
    }));

  test.concurrent("is shown with the short command to a user whose PATH leads to this program", () =>
    withProcesses(async (project) => {
      const { env } = await failed(project);
      symlinkSync(maestroPath, join(project.path, ".bin", "maestro"));
      expect((await commandLine(project, ["status"], { env: env })).stdout).toContain("    1. maestro retry 1\n");
    }));

  test.concurrent("is data with --json: `resume`, `status`, `report` and the end of a run (M177)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["exit", 1]])]);
      const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
      const decision = {
        phase: "1",
        kind: "failure",
        message: expect.stringContaining("exit code 1"),
        options: [
          { name: "retry", command: `${program} retry 1` },
          { name: "skip", command: `${program} skip 1` },
          { name: "abort", command: `${program} abort` },
          { name: "adjust", command: `${program} retry 1 --timeout 20m` },
        ],
      };
      const run = await commandLine(project, ["run", planPath, "--json", ...quick], { env: env });
      expect(JSON.parse(run.stdout.trim().split("\n").at(-1) ?? "").open_decisions).toEqual([decision]);
      const resume = await commandLine(project, ["resume", "--json"], { env: env });
      expect(resume.code).toBe(4);
      expect(JSON.parse(resume.stdout)).toEqual({
        type: "decisions.open",
        session_id: "2026-02-14-task-api",
        open_decisions: [decision],
        exit_code: 4,
      });
      for (const verb of ["status", "report"]) {
        const { open_decisions } = JSON.parse((await commandLine(project, [verb, "--json"], { env: env })).stdout);
        expect(open_decisions, verb).toEqual([decision]);
      }
      expect((await commandLine(project, ["retry", "1"], { env: env })).code).toBe(0);
      expect(
        JSON.parse((await commandLine(project, ["status", "--json"], { env: env })).stdout).open_decisions,
      ).toEqual([]);
    }));

  test.concurrent("suggests twice the time after a timeout, and guidance for a narrower scope (M174)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [scripted(1, { 1: [["hang"]], "*": [] })]);
      const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
      expect((await commandLine(project, ["run", planPath, "--timeout", "600ms", ...quick], { env: env })).code).toBe(
        4,
      );
      const { stdout } = await commandLine(project, ["resume"], { env: env });
      expect(stdout).toMatch(/^Agent Timeout: coder\n\nPhase: Phase 1\nTimeout: 0\.6 seconds\n/m);
      const [, narrow = ""] = /^ {4}2\. (.*)$/m.exec(stdout) ?? [];
      const pasted = project.run("sh", ["-c", narrow], { env });
      expect(pasted.code, pasted.stderr).toBe(0);
      const run = await commandLine(project, ["resume", ...quick], { env: env });
      expect(run.code, run.stderr).toBe(0);
      const prompt = project.read(".gemini/parallel/2026-02-14-task-api/prompts/coder.p1-2.txt");
      expect(prompt).toMatch(/# Guidance from the user\n[\s\S]*\nDo the smallest part of the objective/);
    }));
});

describe("an open decision at a terminal", () => {
  test.skipIf(!hasTerminal).concurrent("is shown before `resume` asks, and by `status` (M177)", () =>
    withProcesses(async (project) => {
      const { env } = await failed(project);
      const { answer, ended } = onTerminal(project, ["resume"], env);
      await answer("has this issue been resolved?", "q\r");
      const resume = await ended;
      expect(resume.code, resume.shown).toBe(4);
      const before = resume.shown.slice(0, resume.shown.indexOf("has this issue been resolved?"));
      expect(before).toContain("Phase Execution Failed: Phase 1\n");
      const status = await onTerminal(project, ["status"], env).ended;
      expect(status.shown).toContain("Phase Execution Failed: Phase 1\n");
      expect(status.shown).toContain(`    2. ${program} skip 1\n`);
    }),
  );
});

describe("record A3: an open decision in a conversation", () => {
  const shelf = new Shelf();
  afterEach(() => shelf.clear());

  /** Phase 1 has failed with a conflict about a file. */
  function conflicting(): Project {
    const project = shelf.keep(
      sessionProject([
        { id: 1, files_modified: ["src/a.ts"] },
        { id: 2, blocked_by: [1] },
      ]),
    );
    move(project, "1", "in_progress");
    succeed(project, ["session", "error", "1", "src/a.ts is not as I left it", "--type", "file_conflict"]);
    move(project, "1", "failed");
    return project;
  }

  test("is in the metadata of maestro_session_read, with the block for the user (M176)", async () => {
    const project = conflicting();
    await withServer(project, async (client) => {
      const { metadata } = await client.ok("maestro_session_read");
      expect(metadata).toMatchObject({
        open_decisions_total: 1,
        open_decisions: [
          {
            phase: "1",
            kind: "file_conflict",
            options: ["retry", "skip", "abort"],
            block: expect.stringMatching(
              /^File Conflict Detected\n\nPhase: Phase 1\nAgent: coder\n\nConflicting Files:\n- src\/a\.ts \(modified externally since phase start\)\n/,
            ),
          },
        ],
      });
      const whole = (await client.ok("maestro_session_read", { full: true })).metadata;
      expect(whole.open_decisions[0]).toMatchObject({
        message: "src/a.ts is not as I left it",
        options: [
          { name: "retry", command: `${program} retry 1` },
          { name: "skip", command: `${program} skip 1` },
          { name: "abort", command: `${program} abort` },
        ],
      });
      await client.ok("maestro_decide", { action: "skip", phase_id: 1, user_decision: true });
      expect((await client.ok("maestro_session_read")).metadata).not.toHaveProperty("open_decisions");
    });
  });

  test("is in the context of every turn in one line, and as a block for /maestro:resume (M176)", () => {
    const project = conflicting();
    expect(hook(project, "SessionStart").reply.systemMessage).toContain("Your decision is needed for phase 1.");
    const turn = contextOf(hook(project, "BeforeAgent", { prompt: "go on" }).reply);
    expect(turn.split("\n")).toContain(
      `Open decision, phase 1: File Conflict Detected. The user's options: 1. ${program} retry 1; 2. ${program} skip 1; 3. ${program} abort.`,
    );
    const resume = contextOf(hook(project, "BeforeAgent", { prompt: "/maestro:resume" }).reply);
    expect(resume).toContain("\nFile Conflict Detected\n\nPhase: Phase 1\n");
    expect(resume).toContain(commands("retry 1", "skip 1", "abort"));
    succeed(project, ["skip", "1"]);
    expect(contextOf(hook(project, "BeforeAgent", { prompt: "go on" }).reply)).not.toContain("Open decision");
  });
});

describe("three thousand open decisions", () => {
  const shelf = new Shelf();
  afterEach(() => shelf.clear());

  /** All phases have failed, with a long message each. */
  function allFailed(): Project {
    const ids = Array.from({ length: 3000 }, (_, at) => String(at + 1));
    const project = shelf.keep(sessionProject(ids.map((id) => ({ id }))));
    const store = new SessionStore(locateState(project.path, ".gemini"), {
      now: () => new Date(),
      warn: () => undefined,
    });
    const timestamp = new Date().toISOString();
    const message = "it broke\n".repeat(200);
    const error = {
      agent: "coder",
      timestamp,
      type: "runtime" as const,
      message,
      resolution: "pending",
      resolved: false,
    };
    store.update((session) => ({
      events: (session?.phases ?? []).flatMap(({ id: phase }) => [
        { type: "phase.moved" as const, phase, from: "pending" as const, to: "in_progress" as const },
        { type: "phase.error_added" as const, phase, error },
        { type: "phase.moved" as const, phase, from: "in_progress" as const, to: "failed" as const },
      ]),
      result: undefined,
    }));
    store.close();
    return project;
  }

  test("are counted, and only the first are shown, wherever they are shown (M177)", async () => {
    const project = allFailed();
    for (const verb of ["resume", "status", "report"]) {
      const { stdout } = await commandLine(project, [verb]);
      expect(stdout.split("\n").length, verb).toBeLessThan(700);
      expect(stdout, verb).toContain(
        "\n2997 more phases wait for a decision: phase 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, ... (",
      );
    }
    const resumed = await commandLine(project, ["resume", "--json"]);
    expect(JSON.parse(resumed.stdout).open_decisions).toHaveLength(20);
    const turn = contextOf(hook(project, "BeforeAgent", { prompt: "go on" }).reply);
    expect(turn).toContain("2,999 more phases waiting");
    expect(turn.length).toBeLessThan(2000);
    const instructions = readFileSync(join(root, "GEMINI.md"), "utf8");
    const told = contextOf(hook(project, "BeforeAgent", { prompt: "/maestro:resume" }).reply);
    expect(told.length - instructions.length).toBeLessThan(7000);
    await withServer(project, async (client) => {
      const { body, bytes } = await client.call("maestro_session_read");
      expect(body.metadata.open_decisions_total).toBe(3000);
      expect(body.metadata.open_decisions).toHaveLength(1);
      expect(bytes).toBeLessThanOrEqual(1_500);
    });
  });
});

// What a run shows of an agent while it works: the agent prints an event for each of its actions.

import { expect, test, vi } from "vitest";
import { quick } from "../support/engine-run.ts";
import { hasTerminal, onTerminal } from "../support/on-terminal.ts";
import {
  allGone,
  background,
  journalOf,
  maestro,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
} from "../support/processes.ts";
import { planPath } from "../support/project.ts";
import { played, prepare } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const file = "/home/u/project/.git/maestro/worktrees/1/src/routes/a.ts";
const key = "sk-live-0123456789abcdef0123456789abcdef";

test("`status`, `watch` and `logs` show what a running agent does, without the prompt, secrets and raw events (C57)", () =>
  withProcesses(async (project) => {
    const agent = prepare(project, [
      played(1, [
        ["stderr", "YOLO mode is enabled. All tool calls will be automatically approved."],
        ["say", "I look at the code.\nThe route is "],
        ["say", "missing."],
        ["use", ["write_file", { file_path: file, content: "x" }]],
        ["use", ["run_shell_command", { command: "deploy --key $GEMINI_API_KEY" }]],
        ["stderr", "YOLO mode is enabled. All tool calls will be automatically approved."],
        ["await", ".bin/go"],
      ]),
    ]);
    const env = agent.env({ GEMINI_API_KEY: key, MAESTRO_AUTO_ARCHIVE: "false" });
    const used = { id: "m", type: "gemini", tokens: { input: 300, output: 60, cached: 120, thoughts: 7 } };
    project.write(".home/.gemini/tmp/p/chats/session-2026-02-14T10-00-57a4d1e0.jsonl", `${JSON.stringify(used)}\n`);
    const early = background(project, ["watch", "--wait", "60s"], env);
    await until("it waits", () => early.stderr().includes("Waiting for an engine"));
    const engine = background(project, ["run", planPath, ...quick], env);
    const follower = () => background(project, ["logs", "1", "-f"], env);
    await until("the agent runs", () => agent.notes("start").length === 1);
    const followed = follower();
    await until("its calls are shown", () => followed.stdout().includes("> run_shell_command"));

    expect(followed.stdout()).toContain("I look at the code.\nThe route is missing.\n> write_file …/src/routes/a.ts\n");
    const shown = await maestro(project, ["status"], env);
    expect(shown.stdout).toMatch(/last activity: run_shell_command deploy --key \[/);
    const { activity } = JSON.parse((await maestro(project, ["status", "--json"], env)).stdout);
    expect(activity).toEqual({
      1: { last: expect.stringContaining("run_shell_command deploy"), tokens: 367 },
    });
    const raw = await maestro(project, ["logs", "1", "--raw"], env);
    expect(raw.stdout).toMatch(/^\{"type":"init"/);
    if (hasTerminal) {
      const { answer, ended } = onTerminal(project, ["watch"], env);
      await answer("367  run_shell_command deploy", "\u0003");
      const table = (await ended).shown;
      expect(table).not.toMatch(/YOLO/);
      expect(table).not.toContain(key);
    }

    project.write(".bin/go", "");
    expect((await engine.ended).code).toBe(0);
    const { stdout } = await followed.ended;
    expect(stdout).toMatch(/## Task Report\n- Status: success/);
    for (const text of [stdout, shown.stdout, raw.stdout]) expect(text).not.toContain(key);
    for (const text of [stdout, shown.stdout]) expect(text).not.toMatch(/PROJECT ROOT|"type"/);
    expect((await early.ended).stderr).toMatch(/phase 1 coder {2}completed/);
    expect(journalOf(project).filter(({ type }) => /activity|heartbeat/.test(String(type)))).toEqual([]);
  }));

test("an agent that is stopped with its engine has not failed, whatever it has said before (C57, K151)", () =>
  withProcesses(async (project) => {
    const agent = prepare(project, [
      played(1, [["obey"], ["say", "## Task Report\n- Status: success\n"], ["write", ["said", ""]], ["hang"]]),
    ]);
    const engine = background(project, ["run", planPath, ...quick], agent.env());
    await until("it has said something", () => project.exists("said"));
    engine.child.kill("SIGKILL");
    await engine.ended;
    await allGone(project);
    const run = await maestro(project, ["resume", ...quick], agent.env());
    expect(run.code, run.stderr).toBe(0);
    const ends = journalOf(project).filter(({ type }) => type === "attempt.finished");
    expect(ends.map(({ outcome }) => outcome)).toEqual(["interrupted", "success"]);
  }));

// A dispatch that is refused before any agent starts: bad prompts, settings and directories.

import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { available, batchOf, dispatch, prompt, test } from "../support/dispatch.ts";
import { background, maestro } from "../support/processes.ts";
import { type Project, withProject } from "../support/project.ts";
import { StandIn } from "../support/stand-in.ts";

describe("a dispatch that is refused before any agent starts", () => {
  test.concurrent("names every bad prompt of the batch, and runs no agent, not even the good one (F66-F71, F74-F76, C10)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [], "tester.a": [], "tester.$a": [], "coder.Ünïque!": [] });
    prompt(project, "codr", "x");
    prompt(project, "tech_writer", "x");
    prompt(project, "zzz", "x");
    prompt(project, "architect", "");
    prompt(project, "debugger", " \t\r\n\v\u00a0\ufeff\n");
    prompt(project, "refactor", "x".repeat(1_048_577));
    prompt(project, "$!", "x");
    const run = await dispatch(project, agent.env());
    expect(run).toMatchObject({ code: 1, stdout: "" });
    expect(run.stderr.trimEnd().split("\n").sort()).toEqual(
      [
        "ERROR: Prompt file name does not contain an agent: batch/prompts/$!.txt",
        "ERROR: Prompt file is empty: batch/prompts/architect.txt",
        "ERROR: Agent 'codr' not found in agents/",
        "  Did you mean: coder?",
        available,
        "ERROR: Prompt file is empty: batch/prompts/debugger.txt",
        "ERROR: Prompt file is too large: batch/prompts/refactor.txt has 1048577 bytes, the limit is 1048576",
        "ERROR: Agent 'tech_writer' not found in agents/",
        "  Did you mean: technical-writer?",
        available,
        "ERROR: Agent 'zzz' not found in agents/",
        available,
        "ERROR: tester.$a.txt and tester.a.txt would write the same results",
      ].sort(),
    );
    expect(run.stderr).toContain(`ERROR: Agent 'codr' not found in agents/\n  Did you mean: coder?\n${available}\n`);
    expect([agent.notes(), project.list("batch")]).toEqual([[], ["prompts"]]);
  });

  test.concurrent("refuses a directory without prompts, and says what belongs there (F62, F63, F65)", async ({
    project,
    agent,
  }) => {
    project.write("file/prompts", "x");
    project.write("other/prompts/coder.md", "x");
    mkdirSync(join(project.path, "other/prompts/coder.txt"));
    const [none, file, other, missing] = await Promise.all(
      [["nowhere"], ["file"], ["other"], []].map((words) => maestro(project, ["dispatch", ...words], agent.env())),
    );
    const hint = "  A dispatch directory contains prompts/<agent>.txt, one file per agent.\n";
    expect(none).toMatchObject({ code: 1, stderr: `ERROR: Prompts directory not found: nowhere/prompts\n${hint}` });
    expect(file).toMatchObject({ code: 1, stderr: `ERROR: Prompts directory not found: file/prompts\n${hint}` });
    expect(other).toMatchObject({
      code: 1,
      stderr: "ERROR: No prompt files found in other/prompts (expected <agent>.txt)\n",
    });
    // Not 2, which is the exit code of a batch with two failed agents.
    expect(missing?.code).toBe(64);
    expect(missing?.stderr).toContain("Usage: maestro dispatch");
    expect(project.list()).not.toContain("nowhere");
  });

  test.concurrent("exits with 1 and names a bad setting (E61, C2)", async ({ project, agent }) => {
    batchOf(project, { coder: [] });
    const cases: [name: string, value: string, expects: string][] = [
      ["MAESTRO_STAGGER_DELAY", "x", "a non-negative integer"],
      ["MAESTRO_STAGGER_DELAY", "-1", "a non-negative integer"],
      ["MAESTRO_MAX_CONCURRENT", "1.5", "a non-negative integer"],
      ["MAESTRO_AGENT_TIMEOUT", "0", "a positive integer of minutes, or a duration such as 90s"],
      ["MAESTRO_AGENT_TIMEOUT", "ten", "a positive integer of minutes, or a duration such as 90s"],
      ["MAESTRO_CLEANUP_DISPATCH", "perhaps", "true or false"],
    ];
    const runs = await Promise.all(cases.map(([name, value]) => dispatch(project, agent.env({ [name]: value }))));
    for (const [index, [name, value, expects]] of cases.entries()) {
      const stderr = `ERROR: ${name} must be ${expects} (got: ${value})\n`;
      expect(runs[index]).toMatchObject({ code: 1, stdout: "", stderr });
    }
    project.write(".env", "MAESTRO_MAX_CONCURRENT=many\n");
    expect((await dispatch(project, agent.env())).stderr).toBe(
      "ERROR: MAESTRO_MAX_CONCURRENT must be a non-negative integer (got: many)\n  It is set in the workspace .env.\n",
    );
    expect(agent.notes()).toEqual([]);
  });

  test.concurrent("treats extra arguments with an open quote as a bad setting (E54, E61)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [] });
    const run = await dispatch(project, agent.env({ MAESTRO_GEMINI_EXTRA_ARGS: "--x 'y" }));
    expect(run).toMatchObject({ code: 1, stdout: "" });
    expect(run.stderr).toContain("ERROR: MAESTRO_GEMINI_EXTRA_ARGS");
    expect(agent.notes()).toEqual([]);
  });

  test.concurrent("refuses a disabled agent (E58)", async ({ project, agent }) => {
    batchOf(project, { coder: [] });
    const run = await dispatch(project, agent.env({ MAESTRO_DISABLED_AGENTS: "coder, tester" }));
    expect(run).toMatchObject({ code: 1, stdout: "" });
    expect(run.stderr).toMatch(
      /^ERROR: Agent 'coder' is disabled by MAESTRO_DISABLED_AGENTS\n {2}Available agents: api/,
    );
  });

  test.concurrent("record A15: refuses to run inside an attempt, and without gemini (H111)", async ({
    project,
    agent,
  }) => {
    batchOf(project, { coder: [] });
    const nowhere = join(project.path, "nowhere");
    const [attempt, marked, missing] = await Promise.all([
      dispatch(project, agent.env({ MAESTRO_ATTEMPT: "1" })),
      dispatch(project, agent.env({ MAESTRO_RUN: "abc.coder" })),
      dispatch(project, agent.env({ PATH: nowhere })),
    ]);
    for (const run of [attempt, marked]) {
      expect(run).toMatchObject({ code: 3, stdout: "" });
      expect(run.stderr).toContain("ERROR: This is already an attempt of Maestro");
    }
    expect(missing).toMatchObject({ code: 127, stdout: "" });
    expect(missing.stderr).toContain("ERROR: gemini was not found on PATH");
    expect(missing.stderr).toContain("npm install -g @google/gemini-cli");
    expect([agent.notes(), project.list("batch")]).toEqual([[], ["prompts"]]);
  });

  const refusals: [why: string, (project: Project) => void, env: Record<string, string>, code: number][] = [
    ["a bad prompt", (project) => prompt(project, "zzz", "x"), {}, 1],
    ["no prompt left", (project) => rmSync(join(project.path, "batch/prompts/coder.txt")), {}, 1],
    ["no prompts left", (project) => rmSync(join(project.path, "batch/prompts"), { recursive: true }), {}, 1],
    ["a bad setting", () => undefined, { MAESTRO_STAGGER_DELAY: "x" }, 1],
    ["no gemini", () => undefined, { PATH: "/nowhere" }, 127],
  ];
  test.concurrent.for(refusals)(
    "record A10: leaves no result of an earlier dispatch behind: %s (G93, P9)",
    async ([, spoil, env, code], { expect }) => {
      await withProject(async (project) => {
        const agent = new StandIn(project);
        batchOf(project, { coder: [], "tester.gone": [] });
        expect((await dispatch(project, agent.env())).code).toBe(0);
        // An agent that was killed has no exit code; a file that no agent wrote stays.
        for (const file of ["debugger.json", "debugger.log", "notes.json"])
          project.write(`batch/results/${file}`, "{}");
        rmSync(join(project.path, "batch/prompts/tester.gone.txt"));
        spoil(project);
        expect((await dispatch(project, agent.env(env))).code).toBe(code);
        expect(project.list("batch/results").filter((file) => !file.startsWith("policy-"))).toEqual(["notes.json"]);
      });
    },
  );

  test.concurrent("leaves the results of a directory alone that no dispatch has used", async ({ project, agent }) => {
    project.write("own/results/summary.json", '{"tests":3}');
    project.write("own/results/a.exit", "0");
    expect((await maestro(project, ["dispatch", "own"], agent.env())).code).toBe(1);
    expect(project.list("own/results")).toEqual(["a.exit", "summary.json"]);
  });

  test.concurrent("refuses a prompt that is not a file, without waiting (P7)", async ({ project, agent }) => {
    mkdirSync(join(project.path, "batch/prompts"), { recursive: true });
    project.run("mkfifo", ["batch/prompts/architect.txt", "pipe"]);
    const links = { coder: "../../pipe", debugger: "../../nothing", tester: "/dev/zero" };
    for (const [name, target] of Object.entries(links)) {
      symlinkSync(target, join(project.path, `batch/prompts/${name}.txt`));
    }
    const running = background(project, ["dispatch", "batch"], agent.env());
    const killer = setTimeout(() => running.child.kill("SIGKILL"), 8000);
    const run = await running.ended;
    clearTimeout(killer);
    expect(run).toMatchObject({ code: 1, stdout: "" });
    for (const name of ["architect", ...Object.keys(links)]) expect(run.stderr).toContain(`batch/prompts/${name}.txt`);
    expect(agent.notes()).toEqual([]);
  });

  test.concurrent("refuses a prompt whose result would replace the summary (F76)", async ({ project, agent }) => {
    mkdirSync(join(project.path, "bare"));
    prompt(project, "summary", "x");
    const run = await dispatch(project, agent.env({ MAESTRO_EXTENSION_PATH: join(project.path, "bare") }));
    expect(run).toMatchObject({ code: 1, stdout: "" });
    expect(run.stderr).toContain("summary.txt");
  });

  test.concurrent("refuses a directory whose policies the CLI would not load (F71)", async ({ project, agent }) => {
    project.write("a,b/prompts/coder.txt", "x");
    project.write("a,b/prompts/debugger.txt", "x");
    const run = await maestro(project, ["dispatch", "a,b"], agent.env());
    expect(run).toMatchObject({ code: 1, stdout: "" });
    expect(run.stderr).toMatch(
      /^ERROR: Gemini CLI would not load the policy file .*a,b.*\n {2}It needs a path without commas/,
    );
    expect(agent.notes()).toEqual([]);
  });
});

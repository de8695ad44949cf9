// What validation commands do before the work: on a snapshot, with the user's consent, recorded with the session; and commands that may stay red.

import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { reportOf, runPlan } from "../support/engine-run.ts";
import { hook } from "../support/hooks.ts";
import { withIsolated } from "../support/isolated.ts";
import { withServer } from "../support/mcp.ts";
import { allGone, background, journalOf, TEST_TIMEOUT_MS, until, withProcesses } from "../support/processes.ts";
import { type PhaseSpec, type Project, planPath, planText } from "../support/project.ts";
import { played, type Steps, scripted } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const red = "echo 'a.ts:3:1 error one'; exit 2";
const phases: PhaseSpec[] = [
  {
    id: 1,
    files_modified: ["a"],
    validation: ["touch made; rm -f keep", "test -f keep", { run: red, expect: "not_worse" }],
  },
  {
    id: 2,
    files_created: ["b"],
    blocked_by: [1],
    validation: ["no-such-program", "test -f b", "sleep 300 & sleep 300"],
  },
];
const results = [
  { command: "touch made; rm -f keep", result: "passes_already", exit_code: 0, failing: [] },
  { command: "test -f keep", result: "fails_now", exit_code: 1, failing: [] },
  { command: red, result: "fails_now", exit_code: 2, failing: ["a.ts:<line> error one"] },
  { command: "no-such-program", result: "cannot_run", exit_code: 127 },
  { command: "test -f b", result: "fails_now", exit_code: 1, failing: [] },
  { command: "sleep 300 & sleep 300", result: "timed_out", exit_code: null, failing: null },
];
const take = ["validate", planPath, "--baseline", "--baseline-timeout", "1s"];

const validated = async (project: Project, ...words: string[]) =>
  commandLine(project, [...take, ...words], { env: { MAESTRO_STATE_DIR: ".gemini" } });
const createdOf = (project: Project) => journalOf(project).find(({ type }) => type === "session.created");

describe("maestro validate --baseline", () => {
  test("runs each command once on a snapshot of a git project, kills what takes too long, and changes nothing (C55)", () =>
    withIsolated({ keep: "k\n" }, phases, async (project) => {
      project.write("untracked", "u\n");
      const before = project.git("status", "--porcelain");
      const run = await validated(project, "--yes", "--json");
      expect(run.code, run.stderr).toBe(0);
      const { baseline, warnings } = JSON.parse(run.stdout);
      expect(baseline).toMatchObject(results);
      expect(warnings.map(({ code, phase }: Record<string, string>) => `${code} ${phase}`)).toEqual([
        "baseline_red 1",
        "baseline_red 2",
        "baseline_red 2",
      ]);
      expect(project.git("status", "--porcelain")).toBe(before);
      expect([project.exists("made"), project.worktrees(), project.refs()]).toEqual([false, [], []]);
      await allGone(project);

      await commandLine(project, ["session", "create", planPath]);
      expect(createdOf(project)).toMatchObject({ baseline: results });
    }));

  test("runs on a copy outside git, which is deleted, and never in the project (C55)", () =>
    withProcesses(async (project) => {
      project.write(planPath, planText(phases));
      project.write("keep", "k\n");
      project.write("node_modules/x/index.js", "");
      const run = await validated(project, "--yes", "--json");
      expect(run.code, run.stderr).toBe(0);
      expect(JSON.parse(run.stdout).baseline).toMatchObject(results);
      expect([project.exists("made"), project.exists("keep")]).toEqual([false, true]);
      await allGone(project);

      project.write("keep", "changed\n");
      await commandLine(project, ["session", "create", planPath]);
      expect(createdOf(project)).not.toHaveProperty("baseline");
    }));

  test("shows the commands and asks; without a terminal and without --yes it runs nothing (C55)", () =>
    withProcesses(async (project) => {
      project.write(planPath, planText([{ id: 1, validation: ["touch /tmp/never-$$; touch ../ran"] }]));
      const run = await validated(project);
      expect([run.code, run.stdout]).toEqual([4, ""]);
      expect(run.stderr).toContain("  touch /tmp/never-$$; touch ../ran\n");
      expect(run.stderr).toContain("pass --yes");
      expect(project.exists("../ran")).toBe(false);
      expect(project.exists(".gemini/state/baseline.json")).toBe(false);
    }));

  test("writes profile, cost and baseline into the plan, which a session then follows as it is (C55)", () =>
    withIsolated(
      { keep: "k\n" },
      [{ id: 1, files_modified: ["a"], validation: ["true", "false"] }],
      async (project) => {
        const run = await validated(project, "--yes", "--write");
        expect(run.code, run.stderr).toBe(0);
        expect(run.stdout).toContain("  fails now (exit code 1): false\n");
        expect(run.stdout).toContain("warning baseline_red: Phase 1:");
        const written = project.read(planPath);
        expect(written).toContain("## Execution Profile\n\n- Total phases: 1\n");
        expect(written).toContain("| `false` | fails now (exit code 1) | must pass |");
        expect((await commandLine(project, ["session", "create", planPath])).code).toBe(0);
        // The plan was written after its baseline was taken, which does not make the baseline outdated.
        expect(createdOf(project)).toMatchObject({ baseline: [{ result: "passes_already" }, { result: "fails_now" }] });
        const again = await validated(project, "--yes", "--write");
        expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("follows it")]);
        expect(project.read(planPath)).toBe(written);
      },
    ));

  test("is answered by maestro_validate_plan in at most 1,500 characters (C55)", () =>
    withIsolated({ keep: "k\n" }, [], async (project) => {
      const commands = Array.from({ length: 30 }, (_, at) => `echo ${"error ".repeat(40)}${at}; exit 3`);
      project.plan([{ id: 1, files_modified: ["a"], validation: ["true", ...commands] }]);
      await withServer(project, async (server) => {
        const { body, bytes, isError } = await server.call("maestro_validate_plan", {
          ...{ plan_path: planPath, baseline: ["true", ...commands], write: true },
        });
        expect(isError).toBe(false);
        expect(body).toMatchObject({ valid: true, written: planPath, baseline: { passes_already: 1, red: 30 } });
        expect(body.baseline.commands[0]).toMatchObject({ result: "fails now (exit code 3)" });
        expect(bytes).toBeLessThanOrEqual(1500);
        expect(project.read(planPath)).toContain("## Baseline");
      });
    }));

  test("runs only the commands that a list names, which a hook gives the user's confirmation (C55)", () =>
    withIsolated({ keep: "k\n" }, [], async (project) => {
      project.plan([{ id: 1, files_modified: ["a"], validation: [`touch ${project.path}/ran`, "true"] }]);
      const commands = ["touch ../prepared", `touch ${project.path}/ran`, "true"];
      const asked = (baseline: unknown) => ({ plan_path: planPath, baseline });
      await withServer(
        project,
        async (server) => {
          for (const listed of [[], commands.slice(1), [...commands, "ls"], ["touch ../prepared", "true", "ls"]]) {
            const refused = await server.refused("maestro_validate_plan", asked(listed));
            expect(refused).toMatchObject({ error: "usage", commands });
          }
          expect(await server.ok("maestro_validate_plan", asked(false))).not.toHaveProperty("baseline");
          expect([project.exists("ran"), project.exists(".gemini/state/baseline.json")]).toEqual([false, false]);
          const taken = await server.ok("maestro_validate_plan", asked([...commands].reverse()));
          expect(taken).toMatchObject({ baseline: { passes_already: 2, red: 0 } });
          expect(project.exists("ran")).toBe(true);
          expect(await server.ok("maestro_validate_plan", asked(true))).toMatchObject({ baseline: { red: 0 } });
        },
        { MAESTRO_WORKTREE_SETUP: "touch ../prepared" },
      );
      const call = (tool_input: object) =>
        hook(project, "BeforeTool", { tool_name: "mcp_maestro_maestro_validate_plan", tool_input }, setup).reply;
      const setup = { MAESTRO_WORKTREE_SETUP: "touch ../prepared" };
      expect(call({ ...asked(true), write: true })).toMatchObject({
        decision: "allow",
        hookSpecificOutput: { tool_input: { ...asked(commands), write: true } },
      });
      for (const other of [
        asked(false),
        asked(["ls"]),
        { plan_path: planPath },
        { plan_path: "none.md", baseline: true },
      ]) {
        expect(call(other)).toEqual({ decision: "allow" });
      }
    }));
});

describe("a baseline that is killed", () => {
  const slow = (project: Project) => planText([{ id: 1, validation: [`touch ${project.path}/begun; sleep 300`] }]);
  const killed = async (project: Project, env: Record<string, string> = {}) => {
    project.write("slow.md", slow(project));
    const taking = background(project, ["validate", "slow.md", "--baseline", "--yes"], env);
    await until("the command runs", () => project.exists("begun"));
    taking.child.kill("SIGKILL");
    await taking.ended;
    await allGone(project);
    rmSync(join(project.path, "begun"));
  };
  const batches = (project: Project) => project.list(".gemini/parallel").filter((name) => name.startsWith("baseline-"));

  test.each([
    ["doctor --fix", ["doctor", "--fix"]],
    ["the next baseline", ["validate", planPath, "--baseline", "--yes"]],
    ["the next run", ["run", planPath, "--keep-open", "--grace", "300ms"]],
  ])("leaves nothing in a git project after %s", (_, words) =>
    withIsolated({ keep: "k\n" }, [played(1, [], { validation: ["true"] })], async (project) => {
      await killed(project);
      expect([batches(project).length, project.worktrees().length > 0]).toEqual([1, true]);
      project.maestro(words, { env: project.agents.env() });
      expect([batches(project), project.worktrees()]).toEqual([[], []]);
      expect(project.refs().filter((ref) => ref.includes("/baseline"))).toEqual([]);
    }),
  );

  test("leaves nothing outside git either, and a living one is left alone", () =>
    withProcesses(async (project) => {
      const TMPDIR = realpathSync(mkdtempSync(join(tmpdir(), "maestro-test-tmp-")));
      const copies = () => readdirSync(TMPDIR).filter((name) => name.startsWith("maestro-baseline-"));
      try {
        await killed(project, { TMPDIR });
        expect([batches(project).length, copies().length]).toEqual([1, 1]);
        const living = background(project, ["validate", "slow.md", "--baseline", "--yes"], { TMPDIR });
        await until("the command runs", () => project.exists("begun"));
        expect([batches(project).length, copies().length]).toEqual([1, 1]);
        project.maestro(["doctor", "--fix"], { env: { TMPDIR } });
        expect([batches(project).length, copies().length]).toEqual([1, 1]);
        living.child.kill("SIGTERM");
        await living.ended;
        expect([batches(project), copies()]).toEqual([[], []]);
      } finally {
        rmSync(TMPDIR, { recursive: true, force: true });
      }
    }));
});

describe("a command that may stay red", () => {
  const script = 'cat "$1.log"; exit "$(cat "$1.code")"\n';
  const files = (name: string, code: number, ...lines: string[]) => ({
    [`${name}.log`]: lines.map((line) => `${line}\n`).join(""),
    [`${name}.code`]: `${code}\n`,
  });
  const command = (name: string) => `sh check.sh ${name}`;
  const phase = (id: string, steps: Steps, more: Partial<PhaseSpec> = {}): PhaseSpec =>
    scripted(
      id,
      { "*": steps },
      {
        files_modified: [`${id}.log`, `${id}.code`],
        validation: [{ run: command(id), expect: "not_worse" }],
        ...more,
      },
    );

  test("completes its phase only when it fails as before, is never proof, and its baseline is taken by the run (C55, C42)", () =>
    withIsolated(
      {
        "check.sh": script,
        ...files("same", 1, "x.ts:1:1 error one", "Found 1 error"),
        ...files("worse", 1, "x.ts:1:1 error one"),
        ...files("other", 1, "error one"),
        ...files("green", 0),
        ...files("lazy", 1, "error one"),
      },
      [
        phase("same", [
          ["write", ["same.log", "x.ts:9:9 error one\nFound 1 error in 2 files\n"]],
          ["report", { modified: "same.log" }],
        ]),
        phase("worse", [
          ["write", ["worse.log", "x.ts:1:1 error one\nx.ts:2:1 error two\n"]],
          ["report", { modified: "worse.log" }],
        ]),
        phase("other", [
          ["write", ["other.code", "2\n"]],
          ["report", { modified: "other.code" }],
        ]),
        phase("green", [
          ["write", ["green.code", "1\n"]],
          ["report", { modified: "green.code" }],
        ]),
        phase("lazy", [], { files_created: ["lazy.txt"] }),
      ],
      async (project) => {
        const env = project.agents.env({ MAESTRO_MAX_RETRIES: "0" });
        const run = project.maestro(["run", planPath, "--keep-going", "--grace", "300ms"], { env });
        expect(run.code, run.stderr).toBe(4);
        const [taken] = project.events("session.baseline_taken");
        expect(taken?.baseline).toMatchObject(
          ["same", "worse", "other", "green", "lazy"].map((name) => ({
            command: command(name),
            result: name === "green" ? "passes_already" : "fails_now",
          })),
        );
        expect(project.events().findIndex(({ type }) => type === "session.baseline_taken")).toBeLessThan(
          project.events().findIndex(({ type }) => type === "attempt.started"),
        );
        const report = JSON.parse((await commandLine(project, ["report", "--json"])).stdout);
        expect(report.phases.map(({ id, status }: Record<string, string>) => `${id} ${status}`)).toEqual([
          "same completed",
          "worse failed",
          "other failed",
          "green failed",
          "lazy failed",
        ]);
        expect(report.phases[0].evidence.commands).toMatchObject([{ exit_code: 1, not_worse: true }]);
        expect(report.phases[0].claim?.proof ?? null).toBeNull();
        expect(project.errorsOf("worse")).toContain(
          "failing lines that it did not have before the work:\\n  x.ts:<line> error two",
        );
        expect(project.errorsOf("other")).toContain("its exit code was 1 before the work");
        expect(project.errorsOf("green")).toContain("it passed before the work");
        expect(project.errorsOf("lazy")).toContain("declared but missing: lazy.txt");
        const text = (await commandLine(project, ["report"])).stdout;
        expect(text).toContain("- phase same: nothing proved, 1 command not worse than before on tree");
      },
    ));

  test("has its baseline taken on a copy outside git, where agents work in the project itself (C55)", () =>
    withProcesses(async (project) => {
      const run = "touch made; echo 'error one'; exit 3";
      const work = played(
        1,
        [
          ["write", ["a", "1\n"]],
          ["report", { created: "a" }],
        ],
        {
          ...{ files_created: ["a"], validation: [{ run: `test ! -f a && touch copy; ${run}`, expect: "not_worse" }] },
        },
      );
      const { run: ended } = await runPlan(project, [work], { words: ["--mode", "sequential"] });
      expect(ended.code, ended.stderr).toBe(0);
      // Only the validation of the phase ran in the project, after the agent.
      expect([project.exists("made"), project.exists("copy")]).toEqual([true, false]);
      const report = await reportOf(project);
      expect(report).toMatchObject({ phases: [{ evidence: { commands: [{ exit_code: 3, not_worse: true }] } }] });
    }));

  test("is compared with the project before the first attempt when a revision allows it to stay red (C55)", () =>
    withIsolated({ "check.sh": script, ...files("one", 1, "error one") }, [], async (project) => {
      const steps: Steps = [
        ["write", ["one.log", "error one\nerror two\n"]],
        ["report", { modified: "one.log" }],
      ];
      project.plan([phase("one", steps, { validation: [command("one")] }), played("two", [])]);
      const env = project.agents.env({ MAESTRO_MAX_RETRIES: "0" });
      expect(project.maestro(["run", planPath, "--phases", "one"], { env }).code).toBe(4);
      project.write("revised.md", planText([phase("one", steps), played("two", [])]));
      expect(project.maestro(["session", "revise", "revised.md"]).code).toBe(0);
      const again = project.maestro(["resume", "--yes", "--phases", "one"], { env });
      expect(again.code, again.stderr).toBe(4);
      expect(project.events("session.baseline_taken")).toMatchObject([{ baseline: [{ failing: ["error one"] }] }]);
      expect(project.errorsOf("one")).toContain("before the work:\\n  error two");
    }));
});

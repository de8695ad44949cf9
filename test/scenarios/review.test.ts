// Reviews during a run: after each batch, or before the work of a phase is applied; and phases that the user reopens.

import { renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { contextOf, delegated, hook } from "../support/hooks.ts";
import { again, agent, type IsolatedProject, withIsolated } from "../support/isolated.ts";
import { withServer } from "../support/mcp.ts";
import { hasTerminal, onTerminal } from "../support/on-terminal.ts";
import { maestro, TEST_TIMEOUT_MS, until, withProcesses } from "../support/processes.ts";
import { planPath } from "../support/project.ts";
import { played, prepare, type Steps } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const files = { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "mine.txt": "mine\n" };
const promptOf = (project: IsolatedProject, name: string) =>
  project.read(`.gemini/parallel/2026-02-14-task-api/prompts/${name}.txt`);
const said = (project: IsolatedProject, ...words: string[]) => commandLine(project, words);
const startsOf = (project: IsolatedProject) => project.notes("start").map((note) => `${note.phase}.${note.attempt}`);

describe("a reviewer", () => {
  const lock = `${"x".repeat(60)}\n`.repeat(50);
  const written: Steps = [
    ["write", ["a.txt", "reviewed\n"]],
    ["write", ["package-lock.json", lock]],
  ];
  const phases = [
    {
      ...agent("1", ["a.txt", "package-lock.json"], ...written),
      validation: ["grep -q reviewed a.txt"],
    },
    { ...agent("2", []), agent: "code-reviewer", blocked_by: ["1"] },
  ];
  const command =
    /package-lock\.json \(phase 1, generated\): (git diff --no-ext-diff \w{12} \w{12} -- ':\/package-lock\.json')/;

  test("gets changed files, diff and proofs from the record, as a phase of the engine and as a native delegation (C41)", () =>
    withIsolated(files, phases, async (project) => {
      expect(project.runPlan().code).toBe(0);
      const native = delegated(project, "code-reviewer", "Phase: none\nIs the text good?");
      expect(native).toContain("# Task\n\nPhase: none\nIs the text good?");
      for (const prompt of [promptOf(project, "code-reviewer.p2-1"), native]) {
        expect(prompt).toContain("# What the session changed\n");
        expect(prompt).toContain("modified a.txt (phase 1)\ncreated package-lock.json (phase 1)\n");
        expect(prompt).toMatch(
          /Phase 1, Phase 1 \(coder\): claimed: .* \/ proof: grep -q reviewed a\.txt exit 0 on tree /,
        );
        expect(prompt).toContain("\n-a\n+reviewed\n");
        expect(prompt).not.toContain("x".repeat(60));
        const shown = project.run("sh", ["-c", command.exec(prompt)?.[1] ?? "false"]);
        expect(shown.stdout).toContain(`+${"x".repeat(60)}\n`);
      }
      expect(promptOf(project, "coder.p1-1")).not.toContain("# What the session changed");
    }));

  test("gets the files and the commands where the content is not kept, outside git (C41)", () =>
    withProcesses(async (project) => {
      const steps: Steps = [
        ["write", ["a.txt", "x\n"]],
        ["report", { created: "a.txt" }],
      ];
      const agents = prepare(project, [played(1, steps, { files_created: ["a.txt"] })]);
      expect((await maestro(project, ["run", planPath, "--keep-open"], agents.env())).code).toBe(0);
      const prompt = delegated(project, "code-reviewer", "Review it.");
      expect(prompt).toContain("created a.txt (phase 1)\n");
      expect(prompt).toMatch(
        /Phase 1, attempt 1 \(its content is not kept: .*\): node ".*maestro\.js" diff 1 --attempt 1\n/,
      );
    }));

  test("gets nothing of a session that has changed nothing (C41)", () =>
    withProcesses(async (project) => {
      prepare(project, [played(1, [])]);
      expect((await maestro(project, ["session", "create", planPath])).code).toBe(0);
      const prompt = delegated(project, "code-reviewer", "Phase: none\nReview the last commit.");
      expect(prompt).not.toContain("What the session changed");
    }));
});

describe("a run with --review phase", () => {
  const phases = () => [
    again("1", ["a.txt"], [["write", ["a.txt", "first\n"]]], ["shell", "cat a.txt"], ["write", ["a.txt", "second\n"]]),
    { ...agent("2", ["b.txt"], ["write", ["b.txt", "done\n"]]), blocked_by: ["1"] },
  ];

  test("applies nothing before the approval, and a rejected phase is attempted again with the guidance (C41)", () =>
    withIsolated(
      files,
      [{ ...phases()[0], id: "1", validation: ["grep -q . a.txt"] }, ...phases().slice(1)],
      async (project) => {
        const run = project.runPlan("--review", "phase", "--yes");
        expect([run.code, run.stderr]).toEqual([4, expect.not.stringContaining("WARNING")]);
        expect(run.stdout).toContain("Review: phase 1 Phase 1\n");
        expect(run.stdout).toContain("- 1 Phase 1 (coder): 1 file (+1 -1), validation passed\n");
        expect(run.stdout).toMatch(
          / {4}1\. .*maestro.* approve 1 --tree [0-9a-f]{12}\n {4}2\. .* reject 1 --guidance "/,
        );
        expect(project.read("a.txt")).toBe("a\n");
        expect(status(project)).toMatchObject({
          review: "phase",
          status: "interrupted",
          phases: [{ status: "in_progress" }, { status: "pending" }],
        });

        const shown = await said(project, "status");
        expect(shown.stdout).toContain("agent done, waits for your review");
        expect(shown.stdout).toContain("Review: phase 1 Phase 1\n");
        expect((await said(project, "report")).stdout).toContain("Review: phase 1 Phase 1\n");
        const again = project.resume("--yes");
        expect([again.code, again.stdout]).toEqual([4, expect.stringContaining("Review: phase 1")]);
        expect(startsOf(project)).toEqual(["1.1"]);

        expect(await said(project, "reject", "1")).toMatchObject({
          code: 2,
          stderr: expect.stringContaining("--guidance is missing"),
        });
        expect(await said(project, "reject", "2", "--guidance", "x")).toMatchObject({ code: 1 });
        expect(await said(project, "reject", "1", "--guidance", "Write the second text.")).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(
            /^Phase 1 is rejected and will be attempted again; continue with `node ".*" resume`\n$/,
          ),
        });
        const second = project.resume();
        expect([second.code, second.stdout]).toEqual([4, expect.stringContaining("Review: phase 1")]);
        const prompt = promptOf(project, "coder.p1-2");
        expect(prompt).toContain("# Guidance from the user\n\nThe user reviewed the finished work");
        expect(prompt).toContain("\n\nWrite the second text.\n");
        expect(project.notes("shell")).toMatchObject([{ stdout: "first\n" }]);
        expect(prompt).toContain("The work of this phase was finished. The user reviewed it");
        expect(project.read("a.txt")).toBe("a\n");

        const approved = await said(project, "approve", "1", "--json");
        expect(JSON.parse(approved.stdout)).toMatchObject({ review: "1", approved: true, engine_running: false });
        const validations = project.eventsOf("1", "phase.validated").length;
        const third = project.resume();
        expect([third.code, third.stdout]).toEqual([4, expect.stringContaining("Review: phase 2")]);
        expect(project.read("a.txt")).toBe("second\n");
        expect(project.eventsOf("1", "phase.validated")).toHaveLength(validations);
        expect(project.eventsOf("1", "phase.integrated")).toMatchObject([{ attempt: 2 }]);

        expect((await said(project, "approve", "2")).code).toBe(0);
        expect(project.resume().code).toBe(0);
        expect(project.read("b.txt")).toBe("done\n");
        expect(startsOf(project)).toEqual(["1.1", "1.2", "2.1"]);
        const report = await said(project, "report");
        expect(report.stdout).toContain("Reopened:\n- phase 1, reopened: Write the second text.");
        expect(project.objects().dangling).toBe("");
      },
    ));

  test("refuses an approval whose tree has moved on, and shows the new one (C41)", () =>
    withIsolated(files, phases(), async (project) => {
      expect(project.runPlan("--review", "phase").code).toBe(4);
      const [first] = project.events("review.opened");
      project.write("mine.txt", "changed since\n");
      const refused = await said(project, "approve", "1");
      expect(refused).toMatchObject({
        code: 4,
        stderr: expect.stringContaining("Cannot approve phase 1: the work has changed since it was shown to you"),
      });
      const [, second] = project.events("review.opened");
      expect(second).toMatchObject({
        phases: ["1"],
        attempt: 1,
        tree: expect.not.stringContaining(String(first?.tree)),
      });
      expect(refused.stdout).toContain(` approve 1 --tree ${String(second?.tree).slice(0, 12)}\n`);
      expect(await said(project, "approve", "1", "--tree", String(first?.tree))).toMatchObject({ code: 4 });

      expect((await said(project, "approve", "1", "--tree", String(second?.tree).slice(0, 12))).code).toBe(0);
      project.write("mine.txt", "changed once more\n");
      const resumed = project.resume();
      expect([resumed.code, resumed.stdout]).toEqual([4, expect.stringContaining("Review: phase 1")]);
      expect(project.read("a.txt")).toBe("a\n");

      project.write("a.txt", "mine too\n");
      expect(await said(project, "approve", "1")).toMatchObject({
        code: 4,
        stderr: expect.stringContaining("no longer merges with the project (a.txt)"),
      });
      project.write("a.txt", "a\n");
      expect((await said(project, "approve", "1")).code).toBe(0);
      expect(project.resume("--phases", "1").code).toBe(0);
      expect([project.read("a.txt"), project.read("mine.txt")]).toEqual(["first\n", "changed once more\n"]);
      expect(project.objects().dangling).toBe("");
    }));

  test("shows one phase at a time while others work, and is answered through the tools (C41, C43)", () =>
    withIsolated(
      files,
      [
        agent("1", ["a.txt"], ["write", ["a.txt", "1\n"]]),
        agent("2", ["b.txt"], ["signal", "go"], ["write", ["b.txt", "2\n"]]),
      ],
      async (project) => {
        const engine = project.begin("--review", "phase");
        await until("phase 1 waits for a review", () => project.events("review.opened").length === 1);
        await withServer(project, async (client) => {
          const { metadata } = (await client.ok("maestro_session_read", {})) as { metadata: Record<string, unknown> };
          expect(metadata).toMatchObject({
            review: "phase",
            open_decisions: [
              {
                phase: "1",
                kind: "review",
                phases: ["1"],
                block: expect.stringContaining("The running engine acts on it"),
              },
            ],
          });
          expect((await client.refused("maestro_decide", { action: "approve", phase_id: "1" })).error).toBe(
            "illegal_transition",
          );
          const approve = { action: "approve", phase_id: 1, user_decision: true };
          const tree = String(project.events("review.opened")[0]?.tree);
          const again = await client.ok("maestro_decide", { ...approve, tree: `0${tree.slice(1, 12)}f` });
          expect(again).toMatchObject({ approved: false, block: expect.stringContaining(tree.slice(0, 12)) });
          const approved = await client.ok("maestro_decide", { ...approve, tree: tree.slice(0, 12) });
          expect(approved).toMatchObject({ phase_status: "approved", engine_running: true });
          await until("phase 1 is brought in", () => project.read("a.txt") === "1\n");
          project.signal("go");
          await until("phase 2 waits for a review", () => project.events("review.opened").length === 2);
          expect((await engine.ended).code).toBe(4);
          const done = { action: "update_phase", phase_id: 2, phase_status: "completed", user_decision: true };
          expect((await client.refused("maestro_session_write", done)).message).toContain(
            "waits for the user's review",
          );
          await client.ok("maestro_decide", { action: "reject", phase_id: 2, guidance: "Again.", user_decision: true });
        });
        expect(project.resume().code).toBe(4);
        expect(promptOf(project, "coder.p2-2")).toContain("\n\nAgain.\n");
      },
    ));

  const apart = [
    agent("1", ["a.txt"], ["write", ["a.txt", "1\n"]]),
    agent("2", ["b.txt"], ["signal", "go"], ["write", ["b.txt", "2\n"]]),
  ];
  const question = "[1-3, q decide later] ";
  const isOpen = (project: IsolatedProject) =>
    project.events("attempt.started").length === 2 && project.events("attempt.finished").length === 1;

  test.runIf(hasTerminal)("asks at a terminal while another agent works, which continues (C41)", () =>
    withIsolated(files, apart, async (project) => {
      const words = ["run", planPath, "--review", "phase", "--keep-open", "--grace", "500ms"];
      const { answer, ended } = onTerminal(project, words, project.agents.env());
      await answer(question, "1\n");
      await until("phase 1 is brought in", () => project.read("a.txt") === "1\n");
      expect([isOpen(project), project.read("b.txt")]).toEqual([true, "b\n"]);
      project.signal("go");
      await answer(question, "1\n");
      const { code, shown } = await ended;
      expect([code, project.read("b.txt")], shown).toEqual([0, "2\n"]);
    }),
  );

  test.runIf(hasTerminal)("takes the question back when another process answers (C41)", () =>
    withIsolated(files, apart, async (project) => {
      const words = ["run", planPath, "--review", "phase", "--keep-open", "--grace", "500ms"];
      const { answer, ended } = onTerminal(project, words, project.agents.env());
      await answer(question, "");
      expect((await said(project, "approve", "1")).code).toBe(0);
      await until("phase 1 is brought in", () => project.read("a.txt") === "1\n");
      project.signal("go");
      await answer(question, "q\n");
      const { code, shown } = await ended;
      expect([code, project.read("b.txt")], shown).toEqual([4, "b\n"]);
    }),
  );

  test.runIf(hasTerminal)("is stopped by Ctrl-C at the question, with its agents (C41)", () =>
    withIsolated(files, apart, async (project) => {
      const words = ["run", planPath, "--review", "phase", "--keep-open", "--grace", "500ms"];
      const { answer, ended } = onTerminal(project, words, project.agents.env());
      await answer(question, "\u0003");
      const { code, shown } = await ended;
      expect(code, shown).toBe(130);
      expect(status(project)).toMatchObject({ status: "interrupted" });
      expect(project.read("a.txt")).toBe("a\n");
    }),
  );

  test("loses nothing when the engine is killed while a review is open, and resume shows it again (C41, P4)", () =>
    withIsolated(
      files,
      [
        agent("1", ["a.txt"], ["write", ["a.txt", "1\n"]]),
        agent("2", ["b.txt"], ["signal", "go"], ["write", ["b.txt", "2\n"]]),
      ],
      async (project) => {
        const engine = project.begin("--review", "phase");
        await until("phase 1 waits for a review", () => project.events("review.opened").length === 1);
        engine.child.kill("SIGKILL");
        await engine.ended;
        project.signal("go");
        const resumed = project.resume();
        expect([resumed.code, resumed.stdout]).toEqual([4, expect.stringContaining("Review: phase 1")]);
        expect(project.events("review.opened")).toHaveLength(1);
        expect(startsOf(project).filter((start) => start.startsWith("1."))).toEqual(["1.1"]);
        expect((await said(project, "approve", "1")).code).toBe(0);
        expect(project.resume().code).toBe(4);
        expect((await said(project, "approve", "2")).code).toBe(0);
        expect(project.resume().code).toBe(0);
        expect([project.read("a.txt"), project.read("b.txt")]).toEqual(["1\n", "2\n"]);
      },
    ));

  test("needs a worktree for each attempt, also in sequential mode and for a single phase", () =>
    withIsolated(files, [agent("1", ["a.txt"], ["write", ["a.txt", "1\n"]])], async (project) => {
      expect(project.runPlan("--review", "phase", "--isolation", "none")).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("--review phase cannot be used with --isolation none"),
      });
      expect(project.runPlan("--review", "phase", "--mode", "sequential").code).toBe(4);
      expect(project.read("a.txt")).toBe("a\n");
      // The mode may be changed: the work is then applied without a review.
      expect(project.resume("--review", "end").code).toBe(0);
      expect(project.read("a.txt")).toBe("1\n");
    }));

  test.skipIf(!hasTerminal)("asks at a terminal, and again when the tree has moved on (C41)", () =>
    withIsolated(files, phases().slice(0, 1), async (project) => {
      const { answer, ended } = onTerminal(
        project,
        ["run", planPath, "--keep-open", "--review", "phase"],
        project.agents.env(),
      );
      await answer("[1-3, q decide later]", "2\r");
      await answer("What should the next attempt change?", "The second text.\r");
      await until("it waits again", () => project.events("review.opened").length === 2);
      project.write("mine.txt", "changed since\n");
      await answer("[1-3, q decide later]", "1\r");
      await answer("[1-3, q decide later]", "1\r");
      const { code, shown } = await ended;
      expect(code, shown).toBe(0);
      expect(shown).toContain("the work has changed since it was shown to you");
      expect(project.read("a.txt")).toBe("second\n");
    }),
  );
});

describe("record A14: a run with --review batch", () => {
  const plan = () => [
    agent("1", ["a.txt"], ["write", ["a.txt", "1\n"]]),
    agent("2", ["b.txt"], ["write", ["b.txt", "2\n"]]),
    { ...agent("3", ["c.txt"], ["write", ["c.txt", "3\n"]]), blocked_by: ["1"] },
    { ...agent("4", [], ["report", {}]), blocked_by: ["3"] },
  ];

  test("stops after every batch but the last, and a rejected phase runs again (C41)", () =>
    withIsolated(files, plan(), async (project) => {
      const run = project.runPlan("--review", "batch");
      expect(run.code, run.stderr).toBe(4);
      expect(run.stdout).toContain("Review: batch 1\n");
      expect(run.stdout).toContain("  2 takes each of 1, 2\n");
      expect(startsOf(project).sort()).toEqual(["1.1", "2.1"]);
      expect(project.read("a.txt")).toBe("1\n");
      expect(status(project).open_decisions).toMatchObject([{ phase: "batch-1", kind: "review", phases: ["1", "2"] }]);
      expect(hook(project, "SessionStart").reply.systemMessage).toContain("Your review is open: batch-1.");
      expect(contextOf(hook(project, "BeforeAgent", { prompt: "go on" }).reply)).toContain("approve batch-1 --tree ");
      expect(project.resume("--yes").code).toBe(4);

      project.write("mine.txt", "changed since\n");
      expect((await said(project, "approve", "batch-1")).code).toBe(4);
      expect((await said(project, "reject", "2", "--guidance", "Better.")).code).toBe(0);
      const second = project.resume();
      expect([second.code, second.stdout]).toEqual([4, expect.stringContaining("Review: batch 1\n")]);
      expect(startsOf(project).sort()).toEqual(["1.1", "2.1", "2.2"]);
      expect(promptOf(project, "coder.p2-2")).toContain("\n\nBetter.\n");

      expect(await said(project, "approve", "batch-1")).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("batch-1 is approved"),
      });
      const third = project.resume();
      expect([third.code, third.stdout]).toEqual([4, expect.stringContaining("Review: batch 2\n")]);
      expect((await said(project, "approve", "3")).code).toBe(0);
      expect(project.resume().code).toBe(0);
      expect(startsOf(project)).toContain("4.1");
      expect(project.events("review.approved")).toMatchObject([{ batch: 1 }, { batch: 2 }]);
    }));

  test("binds the approval to the recorded files outside git (C41)", () =>
    withProcesses(async (project) => {
      const agents = prepare(project, [
        played(
          1,
          [
            ["write", ["a.txt", "1\n"]],
            ["report", { created: "a.txt" }],
          ],
          { files_created: ["a.txt"] },
        ),
        played(2, [], { blocked_by: [1] }),
      ]);
      const run = await maestro(project, ["run", planPath, "--review", "batch"], agents.env());
      expect([run.code, run.stdout]).toEqual([4, expect.stringContaining("Review: batch 1\n")]);
      project.write("a.txt", "mine\n");
      expect((await maestro(project, ["approve", "batch"], agents.env())).code).toBe(4);
      expect((await maestro(project, ["approve", "1"], agents.env())).code).toBe(0);
      expect((await maestro(project, ["resume"], agents.env())).code).toBe(0);
      expect(agents.notes("start")).toHaveLength(2);
    }));
});

describe("a phase that the user reopens", () => {
  test("runs again with the guidance, is verified, and its dependants stay completed (C41)", () =>
    withIsolated(
      files,
      [
        {
          ...again("1", ["a.txt"], [["write", ["a.txt", "first\n"]]], ["write", ["a.txt", "fixed\n"]]),
          validation: ["grep -q . a.txt"],
        },
        { ...agent("2", ["b.txt"], ["write", ["b.txt", "2\n"]]), blocked_by: ["1"] },
      ],
      async (project) => {
        expect(project.runPlan().code).toBe(0);
        expect(status(project).status).toBe("completed");
        expect(await said(project, "reopen", "9")).toMatchObject({ code: 1 });
        const reopened = await said(project, "reopen", "1", "--guidance", "The text is wrong.");
        expect(reopened).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^Phase 1 is reopened; continue with `node ".*maestro\.js" resume`\n$/),
        });
        expect(await said(project, "reopen", "1")).toMatchObject({
          code: 1,
          stderr: expect.stringContaining("Cannot reopen phase 1: it is in progress, not completed"),
        });
        expect(status(project)).toMatchObject({
          status: "in_progress",
          phases: [{ status: "in_progress", reopened: 1 }, { status: "completed" }],
        });
        expect((await said(project, "status")).stdout).toMatch(/Phase 1 +coder +.*reopened/);
        const run = project.resume();
        expect(run.code, run.stderr).toBe(0);
        expect(run.stderr).toContain("phase 1 coder  started (attempt 2)");
        expect(startsOf(project)).toEqual(["1.1", "2.1", "1.2"]);
        expect(promptOf(project, "coder.p1-2")).toContain("\n\nThe text is wrong.\n");
        expect(project.read("a.txt")).toBe("fixed\n");
        expect(project.eventsOf("1", "phase.validated").map(({ result }) => result)).toEqual(["pass", "pass"]);
        const whole = (await said(project, "diff")).stdout;
        expect(whole.match(/^(# .*|[+-]\w.*)$/gm)).toEqual([
          "# Phase 1, Phase 1, attempt 1",
          "-a",
          "+first",
          "# Phase 2, Phase 2, attempt 1",
          "-b",
          "+2",
          "# Phase 1, Phase 1, attempt 2",
          "-first",
          "+fixed",
        ]);
        const [repository, away] = [".git", "away"].map((name) => join(project.path, name)) as [string, string];
        renameSync(repository, away);
        expect(await said(project, "diff")).toMatchObject({
          ...{ code: 3, stdout: "" },
          stderr: expect.stringMatching(/See which files changed with `[^`]*maestro[^`]* diff --stat`\./),
        });
        renameSync(away, repository);
        const report = JSON.parse((await said(project, "report", "--json")).stdout);
        expect(report.phases).toMatchObject([
          {
            status: "completed",
            reopened: 1,
            guidance: "The text is wrong.",
            changes: { attempt: 2 },
            earlier_changes: [{ attempt: 1 }],
          },
          { status: "completed", reopened: 0 },
        ]);
      },
    ));
});

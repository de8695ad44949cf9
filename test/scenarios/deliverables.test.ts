// Completed means delivered: a phase whose declared files are missing, or still there, is not completed by any entry point.

import { afterEach, describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { quick, reportOf, runPlan } from "../support/engine-run.ts";
import { contextOf, delegated, handBack, phasesOf, report, Shelf, sessionProject } from "../support/hooks.ts";
import { agent, bystander, type IsolatedProject, only, withIsolated } from "../support/isolated.ts";
import { withServer } from "../support/mcp.ts";
import { journalOf, TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { type PhaseSpec, type Project, planPath, withProject } from "../support/project.ts";
import { prepare, type Steps, scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const lie = "declared but missing: src/lie.txt";
const once = { MAESTRO_MAX_RETRIES: "1" };

/** A phase whose agent claims the file without writing it. */
const liar = (more: Partial<PhaseSpec> = {}, others: Steps = []): PhaseSpec =>
  scripted(
    1,
    { 1: [["prompt"], ["report", { created: "src/lie.txt" }]], "*": [["prompt"], ...others] },
    { files_created: ["src/lie.txt"], ...more },
  );

const errorsOf = (project: Project) =>
  journalOf(project)
    .filter(({ type }) => type === "phase.error_added")
    .map(({ error }) => error);
const warnedOf = (project: Project) =>
  journalOf(project).flatMap(({ type, code, message }) => (type === "phase.warned" ? [`${code}: ${message}`] : []));

describe("record A1: an agent that claims a file it did not create, in a project outside git (K143, C42)", () => {
  test.concurrent("is retried with the missing path in its prompt, and then the user decides", () =>
    withProcesses(async (project) => {
      const { agent: standIn, run } = await runPlan(project, [liar()], { env: once });
      expect(run.code, run.stderr).toBe(4);
      expect(errorsOf(project)).toMatchObject([1, 2].map(() => ({ type: "validation", message: lie })));
      const [first = "", second = ""] = standIn.notes("prompt").map(({ prompt }) => prompt);
      expect(first).not.toContain(lie);
      expect(second).toContain(lie);
      expect(second).toContain("Deliver every file that is listed below");
      expect(run.stdout).toContain(`Error Type: validation\n\nError Message:\n${lie}\n`);
      expect(status(project)).toMatchObject({ status: "failed", phases: [{ status: "failed" }] });
    }));

  test.concurrent("is completed by the retry that creates it", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(project, [liar({}, [["write", ["src/lie.txt", "true\n"]]])]);
      expect(run.code, run.stderr).toBe(0);
      expect((await reportOf(project)).phases).toMatchObject([{ status: "completed", retries: 1 }]);
    }));

  test.concurrent("and whose validation commands pass is not completed either", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(project, [liar({ validation: ["true"] })], { env: { MAESTRO_MAX_RETRIES: "0" } });
      expect(run.code, run.stderr).toBe(4);
      expect(errorsOf(project)).toMatchObject([{ type: "validation", message: lie }]);
    }));

  test.concurrent("is not completed when a validation command deletes the file", () =>
    withProcesses(async (project) => {
      const phase = scripted(
        1,
        { "*": [["write", ["src/lie.txt", "x\n"]]] },
        { files_created: ["src/lie.txt"], validation: ["rm src/lie.txt"] },
      );
      const { run } = await runPlan(project, [phase], { env: { MAESTRO_MAX_RETRIES: "0" } });
      expect(run.code, run.stderr).toBe(4);
      expect(errorsOf(project)).toMatchObject([{ type: "validation", message: lie }]);
    }));
});

describe("declared globs, deletions, links and modifications outside git (C42)", () => {
  const all: [what: string, steps: Steps, declared: Partial<PhaseSpec>, message: string | null][] = [
    ["a glob without a match", [], { files_created: ["docs/*.md"] }, "declared but missing: docs/*.md"],
    ["a glob with one match", [["write", ["docs/a.md", "a\n"]]], { files_created: ["docs/*.md"] }, null],
    ["a glob that only a dependency matches", [], { files_created: ["**/*.css"] }, "declared but missing: **/*.css"],
    ["a file that is still there", [], { files_deleted: ["old.txt"] }, "declared as deleted but still there: old.txt"],
    ["a file that is gone", [["remove", "old.txt"]], { files_deleted: ["old.txt"] }, null],
    ["a link to nowhere", [["symlink", ["/nonexistent", "link"]]], { files_created: ["link"] }, null],
    [
      "a directory in place of a file",
      [["shell", "mkdir made.txt"]],
      { files_created: ["made.txt"] },
      "declared but missing: made.txt",
    ],
    [
      "a file that was there before and is not reported",
      [],
      { files_created: ["old.txt"] },
      "declared but unchanged since before the phase, and not in its report: old.txt",
    ],
    [
      "a file that was there before and is reported",
      [["report", { modified: "old.txt" }]],
      { files_created: ["old.txt"] },
      null,
    ],
  ];

  test.concurrent.each(all)("%s", (_, steps, declared, message) =>
    withProcesses(async (project) => {
      project.write("old.txt", "old\n");
      project.write("node_modules/x/x.css", "x\n");
      const phase = scripted(1, { "*": steps }, declared);
      const { run } = await runPlan(project, [phase], { env: { MAESTRO_MAX_RETRIES: "0" } });
      expect(run.code, run.stderr).toBe(message === null ? 0 : 4);
      expect(run.stdout).not.toContain("Declared but missing");
      expect(errorsOf(project)).toMatchObject(message === null ? [] : [{ type: "validation", message }]);
    }),
  );

  test.concurrent("a file that is declared as modified and untouched is a warning", () =>
    withProcesses(async (project) => {
      project.write("old.txt", "old\n");
      const { run } = await runPlan(project, [scripted(1, {}, { files_modified: ["old.txt"] })]);
      expect(run.code, run.stderr).toBe(0);
      expect(warnedOf(project)).toContain("not_modified: Declared as modified but untouched: old.txt");
    }));
});

describe("record A1: an agent in a worktree (K143, C42)", () => {
  const files = { "a.txt": "a\n", "old.txt": "old\n" };
  const errors = (project: IsolatedProject) => project.eventsOf("1", "phase.error_added").map(({ error }) => error);

  test.concurrent("that claims a file it did not create applies nothing, and is retried with the missing path", () =>
    withIsolated(
      files,
      [
        scripted(
          1,
          {
            1: [
              ["write", ["src/a.txt", "a\n"]],
              ["report", { created: "src/a.txt, src/lie.txt" }],
            ],
            "*": [["prompt"], ["shell", "cat src/a.txt"], ["exit", 1]],
          },
          { files_created: ["src/a.txt", "src/lie.txt"] },
        ),
        bystander,
      ],
      async (project) => {
        const run = await project.beginWith(once, ...only("1")).ended;
        expect(run.code, run.stderr).toBe(4);
        expect(errors(project)[0]).toMatchObject({ type: "validation", message: lie });
        expect(project.notes("prompt")[0]?.prompt).toContain(lie);
        // The retry starts from the work that is kept.
        expect(project.notes("shell")[0]?.stdout).toBe("a\n");
        expect(project.exists("src")).toBe(false);
      },
    ));

  test.concurrent("that delivers files, a glob and a deletion is completed", () =>
    withIsolated(
      files,
      [
        scripted(
          1,
          {
            "*": [
              ["write", ["docs/deep/a.md", "a\n"]],
              ["remove", "old.txt"],
              ["write", ["new.txt", "n\n"]],
            ],
          },
          { files_created: ["docs/**/*.md", "new.txt"], files_deleted: ["old.txt"] },
        ),
        bystander,
      ],
      async (project) => {
        const run = await project.begin(...only("1")).ended;
        expect(run.code, run.stderr).toBe(0);
        expect([project.exists("docs/deep/a.md"), project.exists("old.txt"), errors(project)]).toEqual([
          true,
          false,
          [],
        ]);
      },
    ));

  test.concurrent.each([
    ["a glob without a match", { files_created: ["docs/*.md"] }, "declared but missing: docs/*.md"],
    ["a deletion that is not done", { files_deleted: ["old.txt"] }, "declared as deleted but still there: old.txt"],
    [
      "a file that was there before",
      { files_created: ["a.txt"] },
      "declared but unchanged since before the phase, and not in its report: a.txt",
    ],
  ])("is not completed with %s, also not by retries that change nothing", (_, declared, message) =>
    withIsolated(files, [scripted(1, {}, declared), bystander], async (project) => {
      const run = await project.beginWith(once, ...only("1")).ended;
      expect(run.code, run.stderr).toBe(4);
      expect(errors(project)).toMatchObject([1, 2].map(() => ({ type: "validation", message })));
    }),
  );

  test.concurrent("that writes only files which git ignores is told which names count, for globs and directories", () =>
    withIsolated(
      { ...files, ".gitignore": "dist/\nout/\n" },
      [
        scripted(
          1,
          {
            "*": [
              ["write", ["dist/deep/a.js", "a\n"]],
              ["write", ["dist/named.js", "a\n"]],
              ["write", ["out/b.js", "b\n"]],
            ],
          },
          { files_created: ["dist/**/*.js", "dist/deep/", "out/", "dist/named.js", "dist/*.map"] },
        ),
        bystander,
      ],
      async (project) => {
        const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, ...only("1")).ended;
        expect(run.code, run.stderr).toBe(4);
        const message = [
          "declared but missing: dist/*.map",
          "declared but ignored by git, so not part of the work (declare each of these files by its name): dist/deep/, out/",
        ].join("\n");
        expect(errors(project)).toMatchObject([{ type: "validation", message }]);
      },
    ));

  test.concurrent("whose file the user deletes before integration is not completed: the merged tree decides", () =>
    withIsolated(
      files,
      [
        scripted(
          1,
          {
            "*": [
              ["signal", "go"],
              ["report", { modified: "a.txt" }],
            ],
          },
          { files_created: ["a.txt"], files_modified: ["other.txt"] },
        ),
        bystander,
      ],
      async (project) => {
        const engine = project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, ...only("1"));
        await vi.waitFor(() => expect(project.notes("start")).toHaveLength(1), { timeout: 20_000, interval: 50 });
        project.git("rm", "-q", "a.txt");
        project.signal("go");
        const run = await engine.ended;
        expect(run.code, run.stderr).toBe(4);
        expect(errors(project)).toMatchObject([
          { type: "validation", code: "not_delivered", message: "declared but missing: a.txt" },
        ]);
      },
    ));

  test.concurrent("whose work a person applies is completed by that decision", () =>
    withIsolated(
      files,
      [agent("1", ["made.txt"], ["write", ["made.txt", "m\n"]]), bystander].map((phase) =>
        phase.id === "1" ? { ...phase, files_created: ["never.txt"] } : phase,
      ),
      async (project) => {
        const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, ...only("1")).ended;
        expect(run.code, run.stderr).toBe(4);
        expect(project.maestro(["apply", "1"])).toMatchObject({ code: 0 });
        expect(status(project).phases[0]).toMatchObject({ status: "completed" });
        expect(project.read("made.txt")).toBe("m\n");
      },
    ));
});

describe("record A1: a delegated agent that claims a file it did not create (K143, C42)", () => {
  const shelf = new Shelf();
  afterEach(() => shelf.clear());
  const phases = (more: Partial<PhaseSpec> = {}): PhaseSpec[] => [
    { id: 1, files_created: ["src/lie.txt"], ...more },
    { id: 2, agent: "tester", blocked_by: [1] },
  ];

  test("has failed its validation, and the answer to the lead names the missing file", () => {
    const project = shelf.keep(sessionProject(phases()));
    const prompt = delegated(project, "coder", "Phase: 1");
    const reply = handBack(project, "coder", prompt, report({ created: "src/lie.txt" }));
    expect(contextOf(reply)).toContain(lie);
    expect(phasesOf(project)[0]).toMatchObject({
      status: "failed",
      errors: [{ type: "validation", message: lie, code: "not_delivered", resolved: false }],
      files_created: [],
    });
    const again = delegated(project, "coder", "Phase: 1");
    project.write("src/lie.txt", "true\n");
    handBack(project, "coder", again, report({ created: "src/lie.txt" }));
    expect(phasesOf(project)[0]).toMatchObject({
      ...{ status: "completed", errors: [{ resolved: true }] },
      files_created: ["src/lie.txt"],
    });
  });

  test("is not completed by maestro verify when its commands delete the file", async () => {
    const project = shelf.keep(sessionProject(phases({ validation: ["rm -f src/lie.txt"] })));
    const prompt = delegated(project, "coder", "Phase: 1");
    project.write("src/lie.txt", "true\n");
    handBack(project, "coder", prompt, report({ created: "src/lie.txt" }));
    expect(phasesOf(project)[0]).toMatchObject({ status: "in_progress" });
    const run = await commandLine(project, ["verify", "1"]);
    expect([run.code, run.stdout]).toEqual([1, `${lie}\nPhase 1 is failed\n`]);
    expect(phasesOf(project)[0]).toMatchObject({ status: "failed", errors: [{ type: "validation", message: lie }] });
  });

  test("is warned about a declared modification that it did not make", () => {
    const project = shelf.keep(sessionProject([{ id: 1, files_modified: ["old.txt"] }, { id: 2 }]));
    project.write("old.txt", "old\n");
    const prompt = delegated(project, "coder", "Phase: 1");
    handBack(project, "coder", prompt, report());
    expect(phasesOf(project)[0]).toMatchObject({ status: "completed", warnings: [{ code: "not_modified" }] });
  });
});

describe("record A1: a phase that is completed by hand without its files (K143, C42)", () => {
  const phases: PhaseSpec[] = [
    { id: 1, files_created: ["src/lie.txt"] },
    { id: 2, blocked_by: [1] },
  ];
  const refusal = `Cannot complete phase 1: ${lie}`;

  test("at the command line is refused, unless a person decides it and says why", () =>
    withProject(async (project) => {
      prepare(project, phases);
      const maestroHere = (...args: string[]) => commandLine(project, args);
      expect((await maestroHere("session", "create", planPath)).code).toBe(0);
      expect((await maestroHere("session", "transition", "1", "in_progress")).code).toBe(0);
      const complete = ["session", "transition", "1", "completed"];
      const refused = await maestroHere(...complete);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(refusal);
      expect(refused.stderr).toContain("--user-decision and --reason");
      expect((await maestroHere(...complete, "--user-decision")).stderr).toContain(refusal);
      expect(status(project).phases[0]).toMatchObject({ status: "in_progress" });
      expect((await maestroHere(...complete, "--user-decision", "--reason", "made elsewhere")).code).toBe(0);
      expect(status(project).phases[0]).toMatchObject({ status: "completed", verified: false });
      const moved = journalOf(project).findLast(({ type }) => type === "phase.moved");
      expect(moved).toMatchObject({ to: "completed", user_decision: true, reason: "made elsewhere" });
      expect((await maestroHere("status")).stdout).toContain("unverified");
    }));

  test("at the command line is completed when the files are there", () =>
    withProject(async (project) => {
      prepare(project, phases);
      for (const args of [
        ["session", "create", planPath],
        ["session", "transition", "1", "in_progress"],
      ]) {
        expect((await commandLine(project, args)).code).toBe(0);
      }
      project.write("src/lie.txt", "true\n");
      expect((await commandLine(project, ["session", "transition", "1", "completed"])).code).toBe(0);
    }));

  test("by maestro_session_write is refused, unless the user decides it", () =>
    withProject((project) =>
      withServer(project, async (client) => {
        prepare(project, phases);
        const write = "maestro_session_write";
        await client.ok(write, { action: "create", plan_path: planPath, task: "x" });
        const move = { action: "update_phase", phase_id: "1" };
        await client.ok(write, { ...move, phase_status: "in_progress" });
        const handoff = report({ created: "src/lie.txt" });
        const refused = await client.refused(write, { ...move, phase_status: "completed", handoff });
        expect([refused.error, refused.message]).toEqual(["illegal_transition", refusal]);
        const done = await client.ok(write, { ...move, phase_status: "completed", handoff, user_decision: true });
        expect(done).toMatchObject({ phase_status: "completed", verified: false });
      }),
    ));
});

describe("record A2: the validation that an agent claims (H109)", () => {
  test.concurrent("is recorded and shown beside the proof, or as not proved", () =>
    withProcesses(async (project) => {
      const says = (validation: string): Steps => [["report", { validation }]];
      prepare(project, []);
      const { run } = await runPlan(
        project,
        [
          scripted(1, { "*": says("pass: npm test, 12 checks") }, { validation: ["echo tested"] }),
          scripted(2, { "*": says("pass, by hand") }),
        ],
        { words: ["--keep-open"] },
      );
      expect(run.code, run.stderr).toBe(0);
      const proof = "echo tested exit 0 on the project as it was";
      const [proved, unproved] = [
        `claimed: pass: npm test, 12 checks / proof: ${proof}`,
        "claimed: pass, by hand / not proved",
      ];
      const shown = async (...args: string[]) => (await commandLine(project, args)).stdout;
      for (const text of [await shown("status"), await shown("report")]) {
        expect(text).toContain(proved);
        expect(text).toContain(unproved);
      }
      const claims = [
        { claimed: "pass: npm test, 12 checks", proof },
        { claimed: "pass, by hand", proof: null },
      ];
      expect(status(project).phases).toMatchObject(claims.map((claim) => ({ claim })));
      expect((await reportOf(project)).phases).toMatchObject(claims.map((claim) => ({ claim })));
      await withServer(project, async (client) => {
        const { phases } = await client.ok("maestro_progress", { action: "summary" });
        expect(phases).toMatchObject(claims);
        const result = { action: "agent_result", batch_id: "2026-02-14-task-api", agent: "coder.p1" };
        expect((await client.ok("maestro_dispatch_status", result)).report).toMatchObject(claims[0] as object);
      });
    }));
});

describe("record A8: an attempt that cannot sign in (K158, C45)", () => {
  test.concurrent("is recorded as runtime with its reason, and not retried", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(project, [scripted(1, { "*": [["error", [401, "UNAUTHENTICATED", 41]]] })]);
      expect(run.code, run.stderr).toBe(4);
      const ends = journalOf(project).filter(({ type }) => type === "attempt.finished");
      expect(ends).toMatchObject([{ outcome: "failure", error_type: "runtime", reason: "auth" }]);
      expect(errorsOf(project)).toMatchObject([{ type: "runtime" }]);
      const other = await commandLine(project, ["session", "error", "1", "x", "--type", "auth", ...quick.slice(2)]);
      expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("Allowed choices are validation")]);
    }));
});

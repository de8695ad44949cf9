// The engine with real processes: the order of phases, consent, failures and conflicts.

import { describe, expect, test, vi } from "vitest";
import { mostAtOnce, quick, reportOf, runPlan, type Span, spansOf } from "../support/engine-run.ts";
import { background, maestro, processesOf, TEST_TIMEOUT_MS, until, withProcesses } from "../support/processes.ts";
import { planPath } from "../support/project.ts";
import { played, prepare, type Steps } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

describe("the order in which phases run", () => {
  test.concurrent("follows the graph of the plan, and the session is reported and archived (C41, L160, L162, L163)", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(project, [
        played(
          1,
          [
            ["write", ["src/a.ts", "a"]],
            ["report", { created: "src/a.ts" }],
          ],
          { files_created: ["src/a.ts"] },
        ),
        played(2, [], { blocked_by: [1], agent: "tester" }),
        played(3, [], { blocked_by: [1] }),
        played(4, [], { blocked_by: [2, 3] }),
      ]);
      expect(run.code, run.stderr).toBe(0);
      const started = agent.notes("start").map((note) => note.phase);
      expect([started[0], new Set(started.slice(1, 3)), started[3]]).toEqual(["1", new Set(["2", "3"]), "4"]);
      expect(project.exists(".gemini/state/active-session.md")).toBe(false);
      expect(project.exists(".gemini/state/.engine")).toBe(false);
      expect(project.list(".gemini/state/archive")).toEqual(["2026-02-14-task-api.jsonl", "2026-02-14-task-api.md"]);
      expect(project.list(".gemini/plans/archive")).toEqual(["2026-02-14-task-api-impl-plan.md"]);
      expect(run.stdout).toContain("Archived: .gemini/state/archive/2026-02-14-task-api.md");
      expect(await reportOf(project)).toMatchObject({ status: "completed", done: 4, execution_mode: "parallel" });
      expect(processesOf(project)).toEqual([]);
    }));

  test.concurrent("starts a phase when its own blockers are done, though another phase of the same depth still runs (H110)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [["await", ".bin/go"]]),
        played(2, []),
        played(3, [], { blocked_by: [1] }),
        played(4, [], { blocked_by: [2] }),
        played(5, [], { blocked_by: [4] }),
      ]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("phase 5 has ended", () => agent.notes("end").some((note) => note.phase === "5"));
      expect(agent.notes("end").map((note) => note.phase)).toEqual(["2", "4", "5"]);
      project.write(".bin/go", "");
      expect((await engine.ended).code).toBe(0);
      expect(agent.notes("end").map((note) => note.phase)).toEqual(["2", "4", "5", "1", "3"]);
    }));

  const six = [1, 2, 3, 4, 5, 6].map((id) => played(id, [["sleep", 250]]));

  test.concurrent("has exactly --max-concurrent phases at a time when enough are ready", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(project, six, { words: ["--max-concurrent", "2"] });
      expect(run.code, run.stderr).toBe(0);
      expect(mostAtOnce(spansOf(agent))).toBe(2);
    }));

  test.concurrent("has all ready phases at a time without a limit", () =>
    withProcesses(async (project) => {
      const long = [1, 2, 3, 4].map((id) => played(id, [["sleep", 1200]]));
      const { agent, run } = await runPlan(project, long);
      expect(run.code, run.stderr).toBe(0);
      expect(mostAtOnce(spansOf(agent))).toBe(4);
    }));

  test.concurrent("is the order of the plan in sequential mode, one at a time, though another phase is on the critical path", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(
        project,
        [
          played(1, [["sleep", 50]]),
          played(2, [], { estimate: { minutes: 90 } }),
          played(3, [], { blocked_by: [2] }),
          played(4, []),
        ],
        { words: ["--mode", "sequential"] },
      );
      expect(run.code, run.stderr).toBe(0);
      expect(agent.notes("start").map((note) => note.phase)).toEqual(["1", "2", "3", "4"]);
      expect(mostAtOnce(spansOf(agent))).toBe(1);
    }));

  test.concurrent("leaves a phase with parallel: false alone", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(project, [
        played(1, [["sleep", 300]]),
        played(2, [["sleep", 300]], { parallel: false }),
        played(3, [["sleep", 300]]),
      ]);
      expect(run.code, run.stderr).toBe(0);
      const spans = spansOf(agent);
      const alone = spans.find((span) => span.phase === "2") as Span;
      const overlapping = spans.filter((span) => span.from < alone.to && alone.from < span.to);
      expect(overlapping.map((span) => span.phase)).toEqual(["2"]);
    }));

  test.concurrent("spaces launches by --stagger", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(project, [played(1, []), played(2, []), played(3, [])], {
        words: ["--stagger", "600ms"],
      });
      expect(run.code, run.stderr).toBe(0);
      const times = agent.notes("start").map((note) => note.at);
      // The clocks of two processes, one of which may have been slow to start.
      expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(800);
    }));
});

describe("the consent to a run", () => {
  const phases = [played(1, []), played(2, [])];

  test.concurrent("is required in mode ask without a terminal: exit 4 with both options and the setting, and no session", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(project, phases, { env: { MAESTRO_EXECUTION_MODE: "ask" } });
      expect(run.code).toBe(4);
      expect(run.stderr).toContain("MAESTRO_EXECUTION_MODE");
      expect(run.stderr).toContain("Option 1: Parallel Dispatch (faster)");
      expect(run.stderr).toContain("Option 2: Sequential Delegation (safer)");
      expect(agent.notes()).toEqual([]);
      expect(project.exists(".gemini/state/progress.jsonl")).toBe(false);
      expect(status(project)).toMatchObject({ exists: false });
    }));

  test.concurrent("is given by --yes for parallel mode, and the choice is recorded", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(project, phases, { env: { MAESTRO_EXECUTION_MODE: "ask" }, words: ["--yes"] });
      expect(run.code, run.stderr).toBe(0);
      expect(run.stderr).toContain("Option 2: Sequential Delegation (safer)");
      expect(await reportOf(project)).toMatchObject({ execution_mode: "parallel" });
    }));

  test.concurrent("is not needed for --dry-run, which starts nothing and writes nothing", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, phases);
      const files = () => project.run("find", ["."]).stdout.split("\n").sort();
      const before = files();
      const run = await maestro(project, ["run", planPath, "--dry-run"], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(run.stdout).toContain("--approval-mode=yolo --output-format stream-json");
      expect(run.stdout).toContain("Nothing was started.");
      expect(files()).toEqual(before);
    }));
});

describe("a phase that fails (K150, K157, M172, M177)", () => {
  test.concurrent("is retried with the failure in its prompt, and its errors are resolved when it succeeds", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(
        project,
        [
          played(
            1,
            [
              ["stderr", "TypeError: the flux is not a capacitor"],
              ["exit", 1],
            ],
            {},
            [["prompt"]],
          ),
        ],
        { env: { MAESTRO_AUTO_ARCHIVE: "false" } },
      );
      expect(run.code, run.stderr).toBe(0);
      const prompt = agent.notes("prompt")[0]?.prompt ?? "";
      expect(prompt).toContain("TypeError: the flux is not a capacitor");
      expect(prompt).toContain("This is retry 1 of 2.");
      expect(status(project)).toMatchObject({
        status: "completed",
        phases: [{ id: "1", status: "completed", retry_count: 1, verified: true }],
        errors: [
          {
            phase: "1",
            agent: "coder",
            type: "runtime",
            message: expect.stringContaining("the flux is not a capacitor"),
            resolved: true,
            timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          },
        ],
      });
      expect(status(project).errors[0].resolution).not.toBe("pending");
    }));

  test.concurrent("because of its validation gets the output of the command in its prompt", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(
        project,
        [
          played(
            1,
            [],
            { validation: ["echo checked", "cat proof || { echo 'no proof, 7 of 9 tests pass'; exit 3; }"] },
            [["prompt"], ["write", ["proof", "it works"]]],
          ),
        ],
        { env: { MAESTRO_AUTO_ARCHIVE: "false" } },
      );
      expect(run.code, run.stderr).toBe(0);
      const prompt = agent.notes("prompt")[0]?.prompt ?? "";
      expect(prompt).toContain("no proof, 7 of 9 tests pass");
      expect(prompt).toContain("exit code 3");
      expect(status(project)).toMatchObject({
        phases: [{ status: "completed", retry_count: 1 }],
        errors: [{ type: "validation", resolved: true }],
      });
    }));

  test.concurrent("has its validation commands run in the project, one after the other, until one fails or takes too long", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(
        project,
        [
          played(1, [], { validation: ["pwd >where", "exit 7", "touch never"] }),
          played(2, [], { validation: ["sleep 60", "touch never"] }),
        ],
        { env: { MAESTRO_MAX_RETRIES: "0" }, words: ["--validation-timeout", "2500ms"] },
      );
      expect(run.code).toBe(4);
      expect(project.read("where").trim()).toBe(project.path);
      expect(project.exists("never")).toBe(false);
      expect(status(project).errors).toMatchObject([
        { phase: "1", type: "validation", message: expect.stringContaining("$ exit 7\nexit code 7") },
        {
          phase: "2",
          type: "validation",
          message: expect.stringContaining("stopped after 2.5 s (--validation-timeout)"),
        },
      ]);
      expect(processesOf(project)).toEqual([]);
    }));

  test.concurrent("for good is escalated: the block of design document S2, exit 4, the session failed, the errors pending", () =>
    withProcesses(async (project) => {
      const failing: Steps = [
        ["stderr", "boom"],
        ["exit", 1],
      ];
      const { agent, run } = await runPlan(project, [
        played(1, failing, { files_created: ["src/a.ts"] }, failing),
        played(2, [], { blocked_by: [1] }),
      ]);
      expect(run.code).toBe(4);
      expect(agent.notes("start").map((note) => [note.phase, note.attempt])).toEqual([
        ["1", 1],
        ["1", 2],
        ["1", 3],
      ]);
      expect(run.stdout).toMatch(
        /^Phase Execution Failed: Phase 1\n\nAgent: coder\nAttempt: 2 of 2\nError Type: runtime\n\nError Message:\n/,
      );
      expect(run.stdout).toMatch(/boom[\s\S]*\nContext:\nWork on 1\.[\s\S]*\nFiles: src\/a\.ts\n/);
      expect(run.stdout).toMatch(
        /\nPrevious Retry Attempts:\nRetry 1: .*boom.*\nRetry 2: .*boom.*\n\nOptions:\n1\. Manually fix/,
      );
      expect(run.stdout).toContain(
        "4. Adjust delegation parameters and retry (interactive)\n\nWhat would you like to do?",
      );
      expect(status(project)).toMatchObject({
        status: "failed",
        phases: [
          { status: "failed", retry_count: 2 },
          { status: "pending", retry_count: 0 },
        ],
        errors: Array(3).fill({ resolution: "pending", resolved: false }),
      });
    }));

  test.concurrent("lets running phases finish, and no other phase starts", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(
        project,
        [
          played(1, [["exit", 1]]),
          played(2, [["sleep", 1200]]),
          played(3, [], { blocked_by: [2] }),
          played(4, [], { blocked_by: [1] }),
        ],
        { env: { MAESTRO_MAX_RETRIES: "0" } },
      );
      expect(run.code).toBe(4);
      expect(run.stdout).toContain("Attempt: 0 of 0");
      expect(agent.notes("end").map((note) => note.phase)).toEqual(["2"]);
      const phases = status(project).phases.map((phase: { status: string }) => phase.status);
      expect(phases).toEqual(["failed", "completed", "pending", "pending"]);
    }));

  test.concurrent("stops only the phases that depend on it with --keep-going; exit 4", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(
        project,
        [
          played(1, [["exit", 1]]),
          played(2, [["sleep", 600]]),
          played(3, [], { blocked_by: [2] }),
          played(4, [], { blocked_by: [1, 3] }),
        ],
        { env: { MAESTRO_MAX_RETRIES: "0" }, words: ["--keep-going"] },
      );
      expect(run.code).toBe(4);
      const { status: session, phases } = status(project);
      expect(session).toBe("failed");
      expect(phases.map((phase: { status: string }) => phase.status)).toEqual([
        "failed",
        "completed",
        "completed",
        "pending",
      ]);
    }));

  test.concurrent("together with all others leaves a note: the fallback of the design documents (H111)", () =>
    withProcesses(async (project) => {
      const { run } = await runPlan(project, [played(1, [["exit", 1]]), played(2, [["exit", 1]])], {
        env: { MAESTRO_MAX_RETRIES: "0" },
      });
      expect(run.code).toBe(4);
      expect(run.stdout.match(/^Phase Execution Failed: /gm)).toHaveLength(2);
      const notes = status(project).notes.map((note: { text: string }) => note.text);
      expect(notes).toEqual([expect.stringMatching(/All agents failed.*sequential delegation/)]);
    }));
});

describe("two phases that claim the same file (M175, M176)", () => {
  test.concurrent("stop the run at once, without a retry, with the File Conflict block", () =>
    withProcesses(async (project) => {
      const { agent, run } = await runPlan(project, [
        played(1, [
          ["sleep", 300],
          ["report", { modified: "src/shared.ts" }],
        ]),
        played(
          2,
          [
            ["await", ".bin/go"],
            ["report", { modified: "src/shared.ts" }],
          ],
          { agent: "tester" },
        ),
        played(3, [["write", [".bin/go", ""]]], { blocked_by: [1] }),
        played(4, [], { blocked_by: [2] }),
      ]);
      expect(run.code, run.stderr).toBe(4);
      expect(run.stdout).toMatch(
        /^File Conflict Detected\n\nPhase: Phase 2\nAgent: tester\n\nConflicting Files:\n- src\/shared\.ts \(modified by coder and tester\)\n\nOrchestration has been paused to prevent data loss\.\n\nOptions:\n1\. Manually resolve/,
      );
      expect(agent.notes("start").filter((note) => note.phase === "2")).toHaveLength(1);
      expect(status(project)).toMatchObject({
        status: "failed",
        phases: [
          { status: "completed" },
          { status: "failed", retry_count: 0 },
          { status: "completed" },
          { status: "pending" },
        ],
        errors: [{ phase: "2", type: "file_conflict", resolution: "pending" }],
      });
    }));

  test.concurrent("do not conflict when they run one after the other", () =>
    withProcesses(async (project) => {
      const claim: Steps = [["report", { modified: "src/shared.ts" }]];
      const { run } = await runPlan(project, [played(1, claim), played(2, claim, { blocked_by: [1] })]);
      expect(run.code, run.stdout).toBe(0);
    }));
});

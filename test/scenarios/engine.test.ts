// The engine with real processes: a stand-in for gemini on the PATH, the built command, real results.

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  allGone,
  background,
  maestro,
  processesOf,
  spawned,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
} from "../support/processes.ts";
import { maestroPath, type PhaseSpec, type Project, planPath, planText } from "../support/project.ts";
import { played, prepare, type StandIn, type Steps, scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const results = ".gemini/parallel/2026-02-14-task-api/results";
const quick = ["--grace", "300ms"];

/** A plan carried out to its end. */
async function carriedOut(
  project: Project,
  phases: PhaseSpec[],
  { words = [] as string[], env = {} as Record<string, string> } = {},
) {
  const agent = prepare(project, phases);
  const run = await maestro(project, ["run", planPath, ...quick, ...words], agent.env(env));
  return { agent, run };
}

interface Report {
  status: string;
  phases: { id: string; status: string; retries: number; tokens: number | null }[];
  [key: string]: unknown;
}

async function reportOf(project: Project): Promise<Report> {
  return JSON.parse((await maestro(project, ["report", "--json"])).stdout);
}

interface Span {
  phase: string;
  from: number;
  to: number;
}

/** From when to when each attempt ran, by its own clock. */
function spansOf(agent: StandIn): Span[] {
  const ends = agent.notes("end");
  return agent.notes("start").map(({ phase, attempt, at }) => ({
    phase,
    from: at,
    to: ends.find((end) => end.phase === phase && end.attempt === attempt)?.at ?? Number.POSITIVE_INFINITY,
  }));
}

function mostAtOnce(spans: readonly Span[]): number {
  return Math.max(...spans.map(({ from }) => spans.filter((other) => other.from <= from && from < other.to).length));
}

describe("the order of things", () => {
  test.concurrent("a plan is carried out along its graph, reported and archived (C41, L160, L162, L163)", () =>
    withProcesses(async (project) => {
      const { agent, run } = await carriedOut(project, [
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

  test.concurrent("a phase starts when its own blockers are done, though another of the same depth still runs (H110)", () =>
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

  test.concurrent("no more than --max-concurrent run at a time, and no fewer", () =>
    withProcesses(async (project) => {
      const { agent, run } = await carriedOut(project, six, { words: ["--max-concurrent", "2"] });
      expect(run.code, run.stderr).toBe(0);
      expect(mostAtOnce(spansOf(agent))).toBe(2);
    }));

  test.concurrent("without a limit all that are ready run at a time", () =>
    withProcesses(async (project) => {
      const long = [1, 2, 3, 4].map((id) => played(id, [["sleep", 1200]]));
      const { agent, run } = await carriedOut(project, long);
      expect(run.code, run.stderr).toBe(0);
      expect(mostAtOnce(spansOf(agent))).toBe(4);
    }));

  test.concurrent("sequential mode: one at a time, in the order of the plan, though another one is on the critical path", () =>
    withProcesses(async (project) => {
      const { agent, run } = await carriedOut(
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

  test.concurrent("a phase with parallel: false runs alone", () =>
    withProcesses(async (project) => {
      const { agent, run } = await carriedOut(project, [
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

  test.concurrent("launches are spaced by --stagger", () =>
    withProcesses(async (project) => {
      const { agent, run } = await carriedOut(project, [played(1, []), played(2, []), played(3, [])], {
        words: ["--stagger", "600ms"],
      });
      expect(run.code, run.stderr).toBe(0);
      const times = agent.notes("start").map((note) => note.at);
      // The clocks of two processes, one of which may have been slow to start.
      expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(800);
    }));
});

describe("consent", () => {
  const phases = [played(1, []), played(2, [])];

  test.concurrent("mode ask without a terminal: both options are shown, the setting is named, nothing starts and there is no session; exit 4", () =>
    withProcesses(async (project) => {
      const { agent, run } = await carriedOut(project, phases, { env: { MAESTRO_EXECUTION_MODE: "ask" } });
      expect(run.code).toBe(4);
      expect(run.stderr).toContain("MAESTRO_EXECUTION_MODE");
      expect(run.stderr).toContain("Option 1: Parallel Dispatch (faster)");
      expect(run.stderr).toContain("Option 2: Sequential Delegation (safer)");
      expect(agent.notes()).toEqual([]);
      expect(project.exists(".gemini/state/progress.jsonl")).toBe(false);
      expect(status(project)).toMatchObject({ exists: false });
    }));

  test.concurrent("--yes consents to parallel dispatch, and the choice is recorded", () =>
    withProcesses(async (project) => {
      const { run } = await carriedOut(project, phases, { env: { MAESTRO_EXECUTION_MODE: "ask" }, words: ["--yes"] });
      expect(run.code, run.stderr).toBe(0);
      expect(run.stderr).toContain("Option 2: Sequential Delegation (safer)");
      expect(await reportOf(project)).toMatchObject({ execution_mode: "parallel" });
    }));

  test.concurrent("--dry-run says what would be done, starts nothing and writes nothing", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, phases);
      const files = () => project.run("find", ["."]).stdout.split("\n").sort();
      const before = files();
      const run = await maestro(project, ["run", planPath, "--dry-run"], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(run.stdout).toContain("--approval-mode=yolo --output-format json");
      expect(run.stdout).toContain("Nothing was started.");
      expect(files()).toEqual(before);
    }));
});

describe("a phase that fails (K150, K157, M172, M177)", () => {
  test.concurrent("is tried again with what failed in its prompt, and its errors are resolved when it succeeds", () =>
    withProcesses(async (project) => {
      const { agent, run } = await carriedOut(
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

  test.concurrent("because of its validation is told the output of the command", () =>
    withProcesses(async (project) => {
      const { agent, run } = await carriedOut(
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

  test.concurrent("validation commands run in the project, one after the other, until one fails or takes too long", () =>
    withProcesses(async (project) => {
      const { run } = await carriedOut(
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

  test.concurrent("for good is put to a person: the block of design document S2, exit 4, the session failed, the errors pending", () =>
    withProcesses(async (project) => {
      const failing: Steps = [
        ["stderr", "boom"],
        ["exit", 1],
      ];
      const { agent, run } = await carriedOut(project, [
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

  test.concurrent("lets what runs finish, and nothing new starts", () =>
    withProcesses(async (project) => {
      const { agent, run } = await carriedOut(
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

  test.concurrent("with --keep-going everything that does not depend on it is done; exit 4", () =>
    withProcesses(async (project) => {
      const { run } = await carriedOut(
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

  test.concurrent("like all others leaves a note: the fallback of the design documents (H111)", () =>
    withProcesses(async (project) => {
      const { run } = await carriedOut(project, [played(1, [["exit", 1]]), played(2, [["exit", 1]])], {
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
      const { agent, run } = await carriedOut(project, [
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

  test.concurrent("one after the other are no conflict", () =>
    withProcesses(async (project) => {
      const claim: Steps = [["report", { modified: "src/shared.ts" }]];
      const { run } = await carriedOut(project, [played(1, claim), played(2, claim, { blocked_by: [1] })]);
      expect(run.code, run.stdout).toBe(0);
    }));
});

describe("what an agent hands over is judged (P9, K143)", () => {
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
      /cut off/,
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

  test.concurrent("a failure each, with the reason, and a retry; the others go on (F3, F18)", () =>
    withProcesses(async (project) => {
      const last = cases.length + 1;
      const { run } = await carriedOut(
        project,
        [
          ...cases.map(([, steps], index) => played(index + 1, steps)),
          // So that somebody waits for all of them.
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

  test.concurrent("an agent that ends without reading its prompt has failed, and nothing else has (EPIPE)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [{ id: 1, description: "x".repeat(60_000) }, { id: 2 }]);
      writeFileSync(join(project.path, ".bin/gemini"), "#!/bin/sh\nexit 1\n");
      const run = await maestro(project, ["run", planPath, ...quick], agent.env({ MAESTRO_MAX_RETRIES: "0" }));
      expect(run.code, run.stderr).toBe(4);
      expect(status(project).phases).toMatchObject([{ status: "failed" }, { status: "failed" }]);
    }));

  test.concurrent("an agent that cannot be executed has failed", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [{ id: 1 }]);
      writeFileSync(join(project.path, ".bin/gemini"), "#!/no/such/interpreter\n");
      const run = await maestro(project, ["run", planPath, ...quick], agent.env({ MAESTRO_MAX_RETRIES: "0" }));
      expect(run.code, run.stderr).toBe(4);
      expect(project.read(`${results}/coder.p1-1.exit`)).toMatch(/^12[67]\n$/);
    }));

  test.concurrent("a file that was declared and never appears is a warning in the report", () =>
    withProcesses(async (project) => {
      const { run } = await carriedOut(project, [played(1, [], { files_created: ["src/ghost.ts"] })]);
      expect(run.code, run.stderr).toBe(0);
      expect(run.stdout).toContain("src/ghost.ts");
      expect(await reportOf(project)).toMatchObject({ missing_files: [{ phase: "1", file: "src/ghost.ts" }] });
    }));
});

describe("an agent that prints 100 MB (F15, P7)", () => {
  const much = 100 * 1024 * 1024;

  /** The plan carried out, and the most memory that its engine had, in kB. */
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

  test.concurrent("on stderr has only its log cut, with a mark; the engine stays small", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [
          ["stderr", "first words"],
          ["spew", [2, much]],
          // What is written while the log is being cut may be lost with it.
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
      const { run } = await carriedOut(
        project,
        [played(1, [], { validation: ["head -c 60000000 /dev/zero & wait"] })],
        {
          env: { MAESTRO_MAX_RETRIES: "0" },
        },
      );
      expect(run.code === 0 || run.stdout.includes("its output has no end"), run.stdout).toBe(true);
      expect(sizeOf(project, `${results}/coder.p1-1.validation.log`)).toBeLessThanOrEqual(11 * 1024 * 1024);
    }));

  test.concurrent("in a validation command fails the validation", () =>
    withProcesses(async (project) => {
      const endless = "while :; do head -c 1000000 /dev/zero; sleep 0.01; done";
      const { run } = await carriedOut(project, [played(1, [], { validation: [endless] })], {
        env: { MAESTRO_MAX_RETRIES: "0" },
      });
      expect(run.code, run.stderr).toBe(4);
      expect(run.stdout).toContain("stopped: its output has no end");
      expect(processesOf(project)).toEqual([]);
    }));
});

describe("what an agent is given and what it gives away (T9, T10, P12)", () => {
  test.concurrent("it gets an allow-listed environment, what --pass-env names, and the name of its attempt", () =>
    withProcesses(async (project) => {
      const env = { CANARY_SECRET: "no", GITHUB_TOKEN: "no", NODE_OPTIONS: "", EXTRA_ONE: "1", LC_ALL: "C" };
      const { agent, run } = await carriedOut(project, [played(1, [["environment"]], { validation: ["env >seen"] })], {
        env,
        words: ["--pass-env", "EXTRA_ONE"],
      });
      expect(run.code, run.stderr).toBe(0);
      const names = agent.notes("environment")[0]?.names ?? [];
      for (const name of ["PATH", "HOME", "LC_ALL", "EXTRA_ONE", "MAESTRO_SESSION", "MAESTRO_PHASE", "MAESTRO_AGENT"]) {
        expect(names).toContain(name);
      }
      expect(names).toContain("MAESTRO_ATTEMPT");
      expect(names.filter((name) => ["CANARY_SECRET", "GITHUB_TOKEN", "NODE_OPTIONS"].includes(name))).toEqual([]);
      const seen = project.read("seen");
      expect(seen).toMatch(/^EXTRA_ONE=1$/m);
      expect(seen).not.toContain("CANARY_SECRET");
    }));

  test.concurrent("its prompt is on no command line", () =>
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

  test.concurrent("a secret that it prints is in nothing that Maestro writes or shows", () =>
    withProcesses(async (project) => {
      const secret = `AIza${"Sy0123456789abcdefghij_-KLMNOPQRSTU"}`;
      const leaking: Steps = [
        ["leak", "GEMINI_API_KEY"],
        ["exit", 1],
      ];
      const { run } = await carriedOut(project, [played(1, leaking, {}, leaking)], {
        env: { GEMINI_API_KEY: secret, MAESTRO_MAX_RETRIES: "1" },
      });
      expect(run.code).toBe(4);
      expect(project.read(`${results}/coder.p1-1.log`)).toContain("key=[redacted]");
      const shown = [
        project.read(`${results}/coder.p1-1.log`),
        run.stdout,
        run.stderr,
        (await maestro(project, ["report"], { GEMINI_API_KEY: secret })).stdout,
        (await maestro(project, ["status", "--json"])).stdout,
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

  test.concurrent("an engine that it starts refuses (T13)", () =>
    withProcesses(async (project) => {
      const nested = (...words: string[]): Steps[number] => ["command", [process.execPath, maestroPath, ...words]];
      const { agent, run } = await carriedOut(project, [
        played(1, [nested("run", planPath, "--yes"), nested("resume", "--yes"), nested("rehearse", planPath)]),
      ]);
      expect(run.code, run.stderr).toBe(0);
      const tried = agent.notes("command");
      expect(tried.slice(0, 2).map(({ code }) => code)).toEqual([3, 3]);
      expect(tried[0]?.stderr).toContain("Cannot start an engine inside an attempt of Maestro");
      expect(agent.notes("start")).toHaveLength(1);
    }));
});

describe("without what it needs", () => {
  test.concurrent("no runtime on PATH: exit 3 with how to install it, a note in the session, and it goes on when there is one", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [])]);
      const env = agent.env();
      const run = await maestro(project, ["run", planPath], { ...env, PATH: "/usr/bin-that-is-not" });
      expect(run.code).toBe(3);
      expect(run.stderr).toContain("gemini was not found on PATH");
      expect(run.stderr).toContain("npm install -g @google/gemini-cli");
      expect(run.stderr).toContain("maestro rehearse");
      const { status: session, notes, phases } = status(project);
      expect([session, phases[0].status]).toEqual(["in_progress", "pending"]);
      expect(notes[0].text).toMatch(/gemini was not found on PATH/);
      const again = await maestro(project, ["resume"], { ...env, PATH: "/usr/bin-that-is-not" });
      expect(again.code).toBe(3);
      const resumed = await maestro(project, ["resume"], env);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(agent.notes("start")).toHaveLength(1);
    }));

  test.concurrent.each([
    ["MAESTRO_GEMINI_EXTRA_ARGS", "'abc", 3],
    ["MAESTRO_MAX_RETRIES", "many", 3],
    ["MAESTRO_AGENT_TIMEOUT", "0", 3],
    ["MAESTRO_QUOTA_DELAY", "soon", 3],
  ])("a bad %s is refused before there is a session", (name, value, code) =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [])]);
      const engine = background(project, ["run", planPath], agent.env({ [name]: value }));
      await until("it ends", () => engine.child.exitCode !== null, 10_000);
      const run = await engine.ended;
      expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(name)]);
      expect(project.exists(".gemini/state/progress.jsonl")).toBe(false);
    }),
  );

  test.concurrent("a plan that is not valid, an unknown option or runtime: exit 2, no session", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [], { blocked_by: [7] })]);
      expect((await maestro(project, ["run", planPath], agent.env())).code).toBe(2);
      project.write(planPath, planText([played(1, [])]));
      expect((await maestro(project, ["run", planPath, "--timeout", "soon"], agent.env())).code).toBe(2);
      expect((await maestro(project, ["run", planPath, "--runtime", "clippy"], agent.env())).code).toBe(2);
      expect((await maestro(project, ["run", planPath, "--mode", "both"], agent.env())).code).toBe(2);
      expect(project.exists(".gemini/state")).toBe(false);
    }));
});

describe("a plan that changed meanwhile (F19, L166, L169)", () => {
  test.concurrent("is not followed until somebody accepts it; the difference is shown; exit 4", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, []), played(2, [["hang"]], { blocked_by: [1] })]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("phase 2 runs", () => agent.notes("start").length === 2);
      engine.child.kill("SIGTERM");
      expect((await engine.ended).code).toBe(143);
      project.write(
        planPath,
        planText([played(1, []), played(2, [], { blocked_by: [1] }), played(3, [], { blocked_by: [2] })]),
      );
      const refused = await maestro(project, ["resume", "--yes", ...quick], agent.env());
      expect(refused.code, refused.stderr).toBe(4);
      expect(refused.stdout).toMatch(/~ phase 2: description\n/);
      expect(refused.stdout).toMatch(/\+ phase 3: Phase 3\n/);
      expect(refused.stdout).toContain("--accept-plan-change");
      expect(agent.notes("start")).toHaveLength(2);
      const resumed = await maestro(project, ["resume", "--yes", "--accept-plan-change", ...quick], agent.env());
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(agent.notes("start").map((note) => note.phase)).toEqual(["1", "2", "2", "3"]);
      expect(project.list(".gemini/plans/archive").filter((name) => name.endsWith(".superseded"))).toHaveLength(1);
    }));
});

describe("a plan that is gone", () => {
  test.concurrent("is said to be, and the session goes on with what it has recorded when somebody says so", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["hang"]]), played(2, [], { blocked_by: [1] })]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("phase 1 runs", () => agent.notes("start").length === 1);
      engine.child.kill("SIGTERM");
      await engine.ended;
      rmSync(join(project.path, planPath));
      const refused = await maestro(project, ["resume", "--yes", ...quick], agent.env());
      expect([refused.code, refused.stdout]).toEqual([4, expect.stringContaining("--accept-plan-change")]);
      const resumed = await maestro(project, ["resume", "--yes", "--accept-plan-change", ...quick], agent.env());
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(agent.notes("start").map((note) => note.phase)).toEqual(["1", "1", "2"]);
    }));
});

describe("a full disk (F5, P1, P11)", () => {
  const command = `timeout 30 '${process.execPath}' '${maestroPath}'`;

  test("ends the run with the path and the reason, agents gone, state intact; with space again it is resumed to its end", async (context) => {
    await withProcesses(async (project) => {
      const fill = "test -e filled || { touch filled; head -c 4000000 /dev/zero >.gemini/fill; true; }";
      const agent = prepare(project, [
        played(1, [], { validation: [fill] }),
        played(2, [["hang"]]),
        // Whose prompt does not fit any more, if not the record before it.
        played(3, [], { blocked_by: [1] }),
      ]);
      const script = `cp -r .gemini/plans .plans && mount -t tmpfs -o size=400k,mode=700 tmpfs .gemini && mv .plans .gemini/plans || exit 99
        ${command} run ${planPath} --grace 300ms; echo "code $?"
        kill -0 $(sed -n 's/.*"phase":"2".*"pid":\\([0-9]*\\).*/\\1/p' .bin/starts.jsonl) 2>/dev/null || echo "agent gone"
        rm .gemini/fill
        ${command} doctor >/dev/null; echo "doctor $?"
        ${command} skip 2 >/dev/null
        ${command} resume --yes --grace 300ms >/dev/null; echo "resumed $?"`;
      const words = ["--user", "--map-root-user", "--mount", "sh", "-c", script];
      const run = await spawned(project, "unshare", words, agent.env()).ended;
      if (/unshare:|mount:/.test(run.stderr)) context.skip("user namespaces are not available here");
      expect(run.stdout, run.stderr).toContain("code 1\n");
      expect(run.stderr).toMatch(/ERROR: .*\.gemini\/.*no space left on device \(ENOSPC\)/);
      expect(run.stderr).not.toContain("defect in Maestro");
      expect(run.stdout).toContain("agent gone\ndoctor 0\n");
      expect(run.stdout, run.stderr).toMatch(/resumed 0\n$/);
      expect(agent.notes("start").filter((note) => note.phase === "1")).toHaveLength(1);
    });
  });

  test("a limit on file sizes ends the run with the path and the reason", async (context) => {
    await withProcesses(async (project) => {
      const agent = prepare(project, [played(1, []), played(2, [], { blocked_by: [1] })]);
      const words = ["--fsize=6000", process.execPath, maestroPath, "run", planPath, ...quick];
      if (!existsSync("/usr/bin/prlimit")) context.skip("prlimit is not available here");
      const run = await spawned(project, "prlimit", words, agent.env()).ended;
      expect(run.code).toBe(1);
      expect(run.stderr).toMatch(/ERROR: .*\.gemini\/.*file size limit exceeded \(EFBIG\)/);
      await allGone(project);
      const resumed = await maestro(project, ["resume", "--yes", ...quick], agent.env());
      expect(resumed.code, resumed.stderr).toBe(0);
    });
  });
});

describe("a state directory that disappears (F20, P11)", () => {
  const words = "Attempt 1 failed with status 429. Retrying with backoff";
  test.concurrent.each<[string, Steps]>([
    ["at work", [["sleep", 500]]],
    [
      "that tells of quota trouble",
      [
        ["stderr", words],
        ["sleep", 500],
      ],
    ],
  ])("under an agent %s ends the run with an error, and is not made anew", (_, steps) =>
    withProcesses(async (project) => {
      // In one step: `rm` alone fails when the engine writes beside it.
      const remove = ["sh", "-c", "mv .gemini/state gone && rm -rf gone"];
      const { run } = await carriedOut(project, [played(1, [["command", remove], ...steps])]);
      expect(run.code).toBe(3);
      expect(run.stderr).toMatch(/^ERROR: The (?:state directory|journal) has disappeared: \.gemini\/state/m);
      expect(run.stderr).not.toMatch(/^\s+at /m);
      expect(project.exists(".gemini/state")).toBe(false);
      expect(processesOf(project)).toEqual([]);
    }),
  );
});

describe("on a terminal", () => {
  const hasScript = existsSync("/usr/bin/script");

  /** `maestro run` on a terminal of its own, from util-linux; what is typed is answered with what is shown. */
  function onTerminal(project: Project, agent: StandIn, env: Record<string, string> = {}) {
    const words = [process.execPath, maestroPath, "run", planPath, ...quick];
    const command = words.map((word) => `'${word}'`).join(" ");
    const child = project.start("script", ["-qefc", command, "/dev/null"], agent.env({ TERM: "xterm", ...env }));
    let shown = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => (shown += chunk));
    const ended = new Promise<{ code: number | null; shown: string }>((resolve) =>
      child.once("close", (code) => resolve({ code, shown })),
    );
    const answer = async (question: string, typed: string) => {
      await until(question, () => shown.includes(question));
      child.stdin.write(typed);
    };
    return { answer, ended };
  }

  /** Hidden while a table is drawn, and given back. */
  function expectCursor(shown: string): void {
    expect(shown).toContain("\u001b[?25l");
    expect(shown.lastIndexOf("\u001b[?25h")).toBeGreaterThan(shown.lastIndexOf("\u001b[?25l"));
  }

  test
    .skipIf(!hasScript)
    .concurrent("the choice is put to the user, a table is drawn, the cursor is given back, and it ends", () =>
      withProcesses(async (project) => {
        const agent = prepare(project, [played(1, [["sleep", 700]]), played(2, [], { blocked_by: [1] })]);
        const { answer, ended } = onTerminal(project, agent, { MAESTRO_EXECUTION_MODE: "ask" });
        await answer("Which mode?", "2\r");
        const { code, shown } = await ended;
        expect(code, shown).toBe(0);
        expect(shown).toContain("Option 1: Parallel Dispatch (faster)");
        expect(shown).toContain("· sequential ·");
        expect(shown).toMatch(/Archived: /);
        expectCursor(shown);
      }),
    );

  test
    .skipIf(!hasScript)
    .concurrent("Ctrl-C interrupts the session, the cursor is given back, and it exits with 130 (F4)", () =>
      withProcesses(async (project) => {
        const agent = prepare(project, [played(1, [["write", ["ready", ""]], ["hang"]])]);
        const { answer, ended } = onTerminal(project, agent);
        await until("the agent runs", () => project.exists("ready"));
        await answer("Phase 1", "\u0003");
        const { code, shown } = await ended;
        expect(code, shown).toBe(130);
        expectCursor(shown);
        expect(status(project).status).toBe("interrupted");
        expect(processesOf(project)).toEqual([]);
      }),
    );

  test.skipIf(!hasScript).concurrent.each([
    ["1", 0, { status: "completed", phases: [{ retries: 1 }] }],
    ["2", 0, { status: "completed", phases: [{ status: "skipped" }] }],
    ["3", 1, { status: "failed", aborted: true }],
    ["q", 4, { status: "failed", aborted: false, unresolved_errors: [{ resolution: "pending" }] }],
  ])("a phase that failed for good is put to the user: answer %s, exit %i (L168, M177)", (typed, exit, expected) =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["exit", 1]])]);
      const { answer, ended } = onTerminal(project, agent, { MAESTRO_MAX_RETRIES: "0" });
      await answer("What would you like to do?", `${typed}\r`);
      const { code, shown } = await ended;
      expect(code, shown).toBe(exit);
      expect(shown).toContain("Phase Execution Failed: Phase 1");
      expectCursor(shown);
      expect(await reportOf(project)).toMatchObject(expected);
    }),
  );
});

describe("standard output that cannot be written (P11)", () => {
  test.concurrent("is an error, and the plan is carried out all the same", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [])]);
      const script = '"$0" "$1" run "$2" --json >/dev/full';
      const run = await spawned(project, "sh", ["-c", script, process.execPath, maestroPath, planPath], agent.env())
        .ended;
      expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("(ENOSPC)")]);
      expect(await reportOf(project)).toMatchObject({ status: "completed" });
    }));
});

describe("--json", () => {
  test.concurrent("is one JSON object a line, and ends with run.finished", () =>
    withProcesses(async (project) => {
      const { run } = await carriedOut(project, [played(1, [["exit", 1]]), played(2, [], { blocked_by: [1] })], {
        words: ["--json"],
      });
      expect(run.code, run.stderr).toBe(0);
      const events = run.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(events.every((event) => typeof event === "object" && typeof event.type === "string")).toBe(true);
      expect(events.at(-1)).toEqual({
        type: "run.finished",
        session_id: "2026-02-14-task-api",
        status: "completed",
        end: "completed",
        exit_code: 0,
        archived: ".gemini/state/archive/2026-02-14-task-api.md",
      });
      const started = events.filter((event) => event.type === "attempt.started").map((event) => event.phase);
      expect(started).toEqual(["1", "1", "2"]);
      expect(events.some((event) => "crc" in event)).toBe(false);
      const sequence = events.slice(0, -1).flatMap((event) => event.seq ?? []);
      expect(sequence).toEqual([...sequence].sort((a, b) => a - b));
    }));

  test.concurrent("tells of a failure too", () =>
    withProcesses(async (project) => {
      const { run } = await carriedOut(project, [played(1, [["exit", 1]])], {
        words: ["--json"],
        env: { MAESTRO_MAX_RETRIES: "0" },
      });
      expect(run.code).toBe(4);
      const last = JSON.parse(run.stdout.trim().split("\n").at(-1) ?? "");
      expect(last).toMatchObject({
        type: "run.finished",
        status: "failed",
        end: "failed",
        failed: ["1"],
        exit_code: 4,
      });
    }));

  test.concurrent("`status --json` has the shape that others rely on", () =>
    withProcesses(async (project) => {
      await carriedOut(
        project,
        [played(1, [["report", { created: "src/a.ts" }]]), played(2, [["exit", 1]], { agent: "tester" })],
        {
          env: { MAESTRO_MAX_RETRIES: "0", MAESTRO_AUTO_ARCHIVE: "false" },
        },
      );
      const state = status(project);
      expect(state).toMatchObject({
        exists: true,
        session_id: "2026-02-14-task-api",
        status: "failed",
        execution_mode: "parallel",
        total_phases: 2,
        token_usage: {
          total_input: 100,
          total_output: 20,
          total_cached: 40,
          by_agent: { coder: { input: 100, output: 20, cached: 40 } },
        },
        phases: [
          {
            id: "1",
            name: "Phase 1",
            status: "completed",
            agents: ["coder"],
            retry_count: 0,
            files_created: ["src/a.ts"],
          },
          { id: "2", name: "Phase 2", status: "failed", agents: ["tester"], retry_count: 0 },
        ],
        errors: [{ phase: "2", agent: "tester", type: "runtime", resolution: "pending", resolved: false }],
      });
      expect(state).toHaveProperty("current_phase");
      expect(state.token_usage.by_agent).not.toHaveProperty("tester");
    }));
});

describe("tokens (K156, M178)", () => {
  test.concurrent("are summed by agent and phase; unknown is null and never 0; no price, no cost", () =>
    withProcesses(async (project) => {
      const silent = JSON.stringify({ response: "nothing", stats: {} });
      const { run } = await carriedOut(project, [
        scripted(1, {
          1: [["report", { status: "partial", tokens: { prompt: 1000, candidates: 200, cached: 300, thoughts: 50 } }]],
          "*": [["report", { tokens: { prompt: 2000, candidates: 400, cached: 600, thoughts: 70 } }]],
        }),
        played(2, [["answer", silent]], { agent: "tester" }, [["exit", 1]]),
        played(3, [["report", { tokens: { prompt: 10, candidates: 20, cached: 0, thoughts: 0 } }]], {
          agent: "tester",
        }),
      ]);
      expect(run.code).toBe(4);
      const report = await reportOf(project);
      expect(report.phases.map(({ tokens }) => tokens)).toEqual([3600, null, 30]);
      expect(report.tokens).toMatchObject({ input: 3010, output: 620, cached: 900, thoughts: 120 });
      expect(report.tokens).toMatchObject({ attempts: 6, unreported: 3 });
      const shown = (await maestro(project, ["report"])).stdout;
      expect(shown).toContain("3,010");
      expect(shown).toMatch(/3 of 6 attempts/);
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

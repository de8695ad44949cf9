// What a user decides about a session, with and without an engine that runs it; and the views of it.

import { describe, expect, test, vi } from "vitest";
import {
  allGone,
  background,
  isAlive,
  journalOf,
  maestro,
  processesOf,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
} from "../support/processes.ts";
import { type Project, planPath } from "../support/project.ts";
import { played, prepare, type StandIn, scripted } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const quick = ["--grace", "300ms"];

/** A session in which phase 1 has failed for good, and the agent that fails no more. */
async function failed(project: Project) {
  const agent = prepare(project, [
    played(1, [
      ["stderr", "boom"],
      ["exit", 1],
    ]),
    played(2, [], { blocked_by: [1] }),
  ]);
  const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
  const run = await maestro(project, ["run", planPath, ...quick], env);
  expect(run.code, run.stderr).toBe(4);
  return { agent, env };
}

const phasesOf = (project: Project) => status(project).phases.map((phase: { status: string }) => phase.status);
const startsOf = (agent: StandIn) => agent.notes("start").map((note) => `${note.phase}.${note.attempt}`);

describe("a phase that failed (K147, K150, L168)", () => {
  test.concurrent("waits for a decision: `resume` shows it and exits with 4, `resume --yes` tries it again (L167, L170)", () =>
    withProcesses(async (project) => {
      const { agent, env } = await failed(project);
      const asked = await maestro(project, ["resume", ...quick], env);
      expect(asked.code).toBe(4);
      expect(asked.stdout).toMatch(/^Session Resume: 2026-02-14-task-api\n/);
      expect(asked.stdout).toMatch(
        /Unresolved Errors Detected:\n\n1\. Phase 1: Phase 1\n {3}Agent: coder\n {3}Error: .*boom/,
      );
      expect(asked.stdout).toContain("[Yes - retry phase] [No - show options] [Skip phase]");
      expect(startsOf(agent)).toEqual(["1.1"]);
      const run = await maestro(project, ["resume", "--yes", ...quick], env);
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent)).toEqual(["1.1", "1.2", "2.1"]);
      const report = JSON.parse((await maestro(project, ["report", "--json"])).stdout);
      expect(report).toMatchObject({
        status: "completed",
        unresolved_errors: [],
        phases: [{ retries: 1 }, { retries: 0 }],
      });
    }));

  test.concurrent("is put back by `retry` with a longer --timeout, and `resume` runs it (K145, M173)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [scripted(1, { 1: [["hang"]], "*": [["sleep", 1200]] })]);
      const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
      const words = ["--timeout", "600ms", ...quick];
      expect((await maestro(project, ["run", planPath, ...words], env)).code).toBe(4);
      const retry = await maestro(project, ["retry", "1", "--timeout", "20s", "--reason", "it was nearly done"], env);
      expect([retry.code, retry.stdout]).toEqual([0, expect.stringContaining('maestro.js" resume')]);
      expect(status(project)).toMatchObject({
        status: "in_progress",
        phases: [{ status: "in_progress", retry_count: 1 }],
      });
      const run = await maestro(project, ["resume", ...words], env);
      expect(run.code, run.stderr).toBe(0);
      const move = journalOf(project).find((record) => record.type === "phase.moved" && record.user_decision === true);
      expect(move).toMatchObject({ phase: "1", to: "in_progress", reason: "it was nearly done", timeout_ms: 20_000 });
    }));

  test.concurrent("is closed by `skip`, and the phases that waited for it run (K146, K147)", () =>
    withProcesses(async (project) => {
      const { agent, env } = await failed(project);
      const skip = await maestro(project, ["skip", "1", "--json"], env);
      expect(JSON.parse(skip.stdout)).toEqual({ phase: "1", status: "skipped", engine_running: false });
      expect(status(project).status).toBe("in_progress");
      const run = await maestro(project, ["resume", ...quick], env);
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent)).toEqual(["1.1", "2.1"]);
    }));

  test.concurrent("can be aborted with its session, which can then only be archived (K148, L164)", () =>
    withProcesses(async (project) => {
      const { agent, env } = await failed(project);
      const abort = await maestro(project, ["abort", "--reason", "wrong approach"], env);
      expect(abort.code, abort.stderr).toBe(0);
      expect(status(project)).toMatchObject({ status: "failed", aborted: true });
      expect(phasesOf(project)).toEqual(["aborted", "pending"]);
      const resume = await maestro(project, ["resume", "--yes"], env);
      expect([resume.code, resume.stderr]).toEqual([3, expect.stringContaining("was aborted")]);
      expect((await maestro(project, ["retry", "1"], env)).code).toBe(1);
      expect((await maestro(project, ["skip", "2"], env)).code).toBe(1);
      expect((await maestro(project, ["abort"], env)).code).toBe(1);
      const archived = JSON.parse((await maestro(project, ["archive", "--json"], env)).stdout);
      expect(archived).toMatchObject({ status: "failed" });
      expect(startsOf(agent)).toEqual(["1.1"]);
    }));

  test.concurrent("refuses a decision that makes no sense, and changes nothing (K149)", () =>
    withProcesses(async (project) => {
      const { env } = await failed(project);
      const before = project.read(".gemini/state/progress.jsonl");
      for (const words of [
        ["retry", "2"],
        ["retry", "9"],
        ["skip", "9"],
        ["retry", "1", "--timeout", "soon"],
      ]) {
        const run = await maestro(project, words, env);
        expect(run.code, words.join(" ")).toBeGreaterThan(0);
        expect(run.stderr).toMatch(/^ERROR: /);
      }
      expect(project.read(".gemini/state/progress.jsonl")).toBe(before);
    }));

  test.concurrent("that was fixed by hand is shown as fixed on resume (L171)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["exit", 1]], { files_created: ["src/a.ts"] })]);
      const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
      expect((await maestro(project, ["run", planPath, ...quick], env)).code).toBe(4);
      expect((await maestro(project, ["resume"], env)).stdout).toContain("It does not look fixed");
      project.write("src/a.ts", "mended");
      expect((await maestro(project, ["resume"], env)).stdout).toContain("It looks fixed");
    }));
});

/** A session that runs: phase 1 waits for `.bin/go`, phase 2 hangs, phase 3 waits for phase 2. */
async function running(project: Project) {
  const agent = prepare(project, [
    played(1, [
      ["stderr", "thinking about it"],
      ["await", ".bin/go"],
    ]),
    played(2, [["hang"]], { agent: "tester" }),
    played(3, [], { blocked_by: [2] }),
  ]);
  const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
  const engine = background(project, ["run", planPath, ...quick], env);
  await until("both agents run", () => agent.notes("start").length === 2);
  return { agent, env, engine };
}

describe("a session that is running", () => {
  test.concurrent("stops the agent of a phase that is skipped, and starts the phases that waited for it", () =>
    withProcesses(async (project) => {
      const { agent, env, engine } = await running(project);
      const pid = agent.notes("start").find((note) => note.phase === "2")?.pid ?? 0;
      const skip = await maestro(project, ["skip", "2"], env);
      expect([skip.code, skip.stdout]).toEqual([0, expect.stringContaining("the running engine applies this")]);
      await until("phase 3 has ended", () => agent.notes("end").some((note) => note.phase === "3"));
      expect(isAlive(pid)).toBe(false);
      project.write(".bin/go", "");
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      const report = JSON.parse((await maestro(project, ["report", "--json"])).stdout);
      expect(report.phases.map((phase: { status: string }) => phase.status)).toEqual([
        "completed",
        "skipped",
        "completed",
      ]);
    }));

  test.concurrent("stops the validation command of a phase that is skipped", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [], { validation: ["touch validating; sleep 60"] }),
        played(2, [], { blocked_by: [1] }),
      ]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("it is being validated", () => project.exists("validating"));
      expect((await maestro(project, ["skip", "1"], agent.env())).code).toBe(0);
      const run = await engine.ended;
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent)).toEqual(["1.1", "2.1"]);
      expect(processesOf(project)).toEqual([]);
    }));

  test.concurrent("applies the `retry` of a phase that failed during the run", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["await", ".bin/go"]]), played(2, [["exit", 1]])]);
      const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
      const engine = background(project, ["run", planPath, ...quick], env);
      await until("phase 2 has failed", () => engine.stderr().includes("failed:"));
      const retry = JSON.parse((await maestro(project, ["retry", "2", "--json"], env)).stdout);
      expect(retry).toEqual({ phase: "2", status: "in_progress", engine_running: true });
      await until("it is tried again", () =>
        agent.notes("end").some((note) => note.phase === "2" && note.attempt === 2),
      );
      project.write(".bin/go", "");
      const run = await engine.ended;
      expect(run.code, run.stdout).toBe(0);
    }));

  test.concurrent("stops its agents and its engine on `abort`; the engine exits with 1", () =>
    withProcesses(async (project) => {
      const { env, engine } = await running(project);
      const abort = await maestro(project, ["abort", "--json"], env);
      expect(JSON.parse(abort.stdout)).toEqual({ session_id: "2026-02-14-task-api", status: "failed", aborted: true });
      // When the command returns, no agent works on the phase any more.
      expect(processesOf(project).filter(({ command }) => !command.includes("maestro.js"))).toEqual([]);
      const run = await engine.ended;
      expect([run.code, run.stdout]).toEqual([1, expect.stringContaining("was aborted")]);
      expect(phasesOf(project)).toEqual(["aborted", "aborted", "pending"]);
      expect(processesOf(project)).toEqual([]);
    }));

  test.concurrent("is interrupted by `stop`: the engine exits with 143, and the session can be resumed", () =>
    withProcesses(async (project) => {
      const { agent, env, engine } = await running(project);
      const stop = await maestro(project, ["stop", "--json"], env);
      expect(JSON.parse(stop.stdout)).toEqual({ stopped: true, pid: engine.pid });
      expect((await engine.ended).code).toBe(143);
      expect(processesOf(project)).toEqual([]);
      expect(status(project).status).toBe("interrupted");
      const nothing = await maestro(project, ["stop"], env);
      expect([nothing.code, nothing.stderr]).toEqual([3, expect.stringContaining("Nothing to stop")]);
      expect((await maestro(project, ["skip", "2"], env)).code).toBe(0);
      project.write(".bin/go", "");
      const run = await maestro(project, ["resume", ...quick], env);
      expect(run.code, run.stderr).toBe(0);
      expect(startsOf(agent).slice(2).sort()).toEqual(["1.2", "3.1"]);
    }));

  test.concurrent("is killed by `stop --force` with its agents, also when its engine is frozen, and can be resumed", () =>
    withProcesses(async (project) => {
      const { env, engine } = await running(project);
      engine.child.kill("SIGSTOP");
      const stop = await maestro(project, ["stop", "--force"], env);
      expect([stop.code, stop.stdout]).toEqual([0, expect.stringContaining(`process ${engine.pid}`)]);
      expect((await engine.ended).signal).toBe("SIGKILL");
      await allGone(project, 5000);
      expect((await maestro(project, ["skip", "2"], env)).code).toBe(0);
      project.write(".bin/go", "");
      const run = await maestro(project, ["resume", ...quick], env);
      expect(run.code, run.stderr).toBe(0);
    }));

  test.concurrent("cannot be archived, and `doctor`, `status` and notes do not disturb it", () =>
    withProcesses(async (project) => {
      const { env, engine } = await running(project);
      const archive = await maestro(project, ["archive"], env);
      expect([archive.code, archive.stderr]).toEqual([3, expect.stringContaining(`process ${engine.pid}`)]);
      expect((await maestro(project, ["doctor"], env)).code).toBe(0);
      expect((await maestro(project, ["session", "note", "another writer"], env)).code).toBe(0);
      expect(phasesOf(project)).toEqual(["in_progress", "in_progress", "pending"]);
      const view = project.read(".gemini/state/active-session.md");
      expect(view).toContain(`status: "in_progress"`);
      expect((await maestro(project, ["skip", "2"], env)).code).toBe(0);
      project.write(".bin/go", "");
      expect((await engine.ended).code).toBe(0);
    }));
});

describe("commands that show a session", () => {
  test.concurrent("`watch` from another process shows what happens until the engine has ended, and leaves it alone when it is interrupted", () =>
    withProcesses(async (project) => {
      const { env, engine } = await running(project);
      const watcher = background(project, ["watch"], env);
      const machine = background(project, ["watch", "--json"], env);
      for (let note = 0; !watcher.stderr().includes("hello") || !machine.stdout().includes("hello"); note++) {
        expect(note).toBeLessThan(50);
        await maestro(project, ["session", "note", "hello"], env);
      }
      const leaving = background(project, ["watch"], env);
      for (let note = 0; !leaving.stderr().includes("goodbye"); note++) {
        expect(note).toBeLessThan(50);
        await maestro(project, ["session", "note", "goodbye"], env);
      }
      leaving.child.kill("SIGINT");
      expect((await leaving.ended).signal).toBe(null);
      expect(engine.child.exitCode).toBe(null);
      expect((await maestro(project, ["skip", "2"], env)).code).toBe(0);
      project.write(".bin/go", "");
      expect((await engine.ended).code).toBe(0);
      const seen = await watcher.ended;
      expect(seen.code).toBe(0);
      expect(seen.stderr).toMatch(/phase 2 tester {2}skipped by user decision/);
      // Also what happened last, though the session is in the archive by then.
      expect(seen.stderr).toMatch(/session {2}completed/);
      expect(seen.stdout).toBe("Session 2026-02-14-task-api: completed\n");
      const events = (await machine.ended).stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(events.some((event) => event.type === "phase.moved" && event.to === "skipped")).toBe(true);
      expect(events.some((event) => event.type === "session.status_set" && event.status === "completed")).toBe(true);
      const late = await maestro(project, ["watch", "--wait", "0"], env);
      expect([late.code, late.stderr]).toEqual([3, expect.stringContaining("Nothing to watch")]);
    }));

  test.concurrent("`watch` of a session without an engine says so and exits with 0", () =>
    withProcesses(async (project) => {
      const { env } = await failed(project);
      const watch = await maestro(project, ["watch", "--wait", "0"], env);
      expect([watch.code, watch.stdout]).toEqual([0, expect.stringContaining("No engine is running session")]);
    }));

  test.concurrent("`logs` prints what an agent said and answered, of any attempt, also with the escapes taken out (T7)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(
          1,
          [
            ["stderr", "red \u001b[31malert\u001b[0m"],
            ["exit", 1],
          ],
          { validation: ["echo validated by hand"] },
          [
            ["stderr", "second thoughts"],
            ["report", { summary: "All is well now." }],
          ],
        ),
      ]);
      const env = agent.env();
      expect((await maestro(project, ["run", planPath, ...quick], env)).code).toBe(0);
      const last = await maestro(project, ["logs", "1"], env);
      expect(last.code, last.stderr).toBe(0);
      expect(last.stdout).toContain("second thoughts");
      expect(last.stdout).toContain("- Summary: All is well now.");
      expect(last.stdout).toContain("validated by hand");
      const first = await maestro(project, ["logs", "1", "--attempt", "1"], env);
      expect(first.stdout).toContain("red alert");
      expect(first.stdout).not.toContain("\u001b");
      const json = JSON.parse((await maestro(project, ["logs", "1", "--attempt", "1", "--json"], env)).stdout);
      expect(json).toMatchObject({ phase: "1", attempt: 1, result: { outcome: "failure", exit_code: 1 } });
      expect((await maestro(project, ["logs", "1", "--attempt", "7"], env)).code).toBe(1);
      expect((await maestro(project, ["logs", "9"], env)).code).toBe(1);
    }));

  test.concurrent("`logs -f` prints as it is said, until the attempt has ended", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [
        played(1, [
          ["stderr", "one"],
          ["await", ".bin/go"],
          ["stderr", "two"],
        ]),
        played(2, [["await", ".bin/end"]]),
      ]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("the agent runs", () => agent.notes("start").length === 2);
      const follower = background(project, ["logs", "1", "-f"], agent.env());
      await until("the first word is there", () => follower.stdout().includes("one\n"));
      expect(follower.stdout()).not.toContain("two");
      project.write(".bin/go", "");
      const followed = await follower.ended;
      expect(followed.code).toBe(0);
      expect(followed.stdout).toMatch(/^one\ntwo\n## Task Report/);
      expect(engine.child.exitCode).toBe(null);
      project.write(".bin/end", "");
      expect((await engine.ended).code).toBe(0);
    }));

  test.concurrent("`report` shows the active session, and an archived one by its name or as the latest (M178)", () =>
    withProcesses(async (project) => {
      const { env } = await failed(project);
      const active = JSON.parse((await maestro(project, ["report", "--json"], env)).stdout);
      expect(active).toMatchObject({
        status: "failed",
        done: 0,
        unresolved_errors: [{ phase: "1", resolution: "pending" }],
      });
      expect((await maestro(project, ["resume", "--yes", ...quick], env)).code).toBe(0);
      for (const words of [
        ["report", "--json"],
        ["report", "2026-02-14-task-api", "--json"],
      ]) {
        const report = JSON.parse((await maestro(project, words, env)).stdout);
        expect(report).toMatchObject({
          session_id: "2026-02-14-task-api",
          status: "completed",
          done: 2,
          phases: [
            { id: "1", agent: "coder", status: "completed", retries: 1, tokens: 120 },
            { id: "2", agent: "coder", status: "completed", retries: 0, tokens: 120 },
          ],
          tokens: { input: 200, output: 40, cached: 80, thoughts: 14, attempts: 3, unreported: 1 },
          unresolved_errors: [],
        });
        expect(report.phases[0].attempts).toHaveLength(2);
        expect(report.wall_ms).toBeGreaterThan(0);
      }
      const people = await maestro(project, ["report"], env);
      expect(people.code).toBe(0);
      expect(people.stdout).toContain("Phase 1");
      const missing = await maestro(project, ["report", "2020-01-01-nothing"], env);
      expect([missing.code, missing.stderr]).toEqual([
        1,
        "ERROR: Session 2020-01-01-nothing does not exist\n  The latest sessions are 2026-02-14-task-api.\n",
      ]);
      const late = await maestro(project, ["retry", "1"], env);
      expect([late.code, late.stderr]).toEqual([
        1,
        expect.stringMatching(/^ERROR: No session is active\n {2}Start one with /),
      ]);
    }));
});

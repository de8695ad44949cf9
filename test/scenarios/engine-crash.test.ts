// The engine is killed, frozen and started twice: no work is lost, no work is done twice, no process is left running.
// MAESTRO_CHAOS_ROUNDS raises the number of rounds, MAESTRO_CHAOS_SEED repeats a run.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { chaosRounds as chaos } from "../support/crash-points.ts";
import { initRepository } from "../support/empty-repository.ts";
import {
  allGone,
  type Background,
  background,
  isAlive,
  journalOf,
  maestro,
  TEST_TIMEOUT_MS,
  until,
  withProcesses,
} from "../support/processes.ts";
import { type PhaseSpec, type Project, planPath, planText } from "../support/project.ts";
import { played, prepare, type StandIn } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const seed = Number(process.env.MAESTRO_CHAOS_SEED ?? Date.now() % 1_000_000);
const quick = ["--grace", "300ms"];
const results = ".gemini/parallel/2026-02-14-task-api/results";

/** The part of a report about the phases that does not depend on when they ran. */
async function outcomeOf(project: Project) {
  const report = JSON.parse((await commandLine(project, ["report", "--json"])).stdout);
  return {
    status: report.status,
    done: report.done,
    unresolved: report.unresolved_errors,
    phases: report.phases.map(({ id, agent, status: state, retries }: Record<string, unknown>) => ({
      id,
      agent,
      state,
      retries,
    })),
  };
}

const startsOf = (agent: StandIn, phase: string) => agent.notes("start").filter((note) => note.phase === phase).length;

/** Phases whose agent must not start again: recorded as completed, or with a result that reached its files. */
function finishedPhases(project: Project, agent: StandIn): string[] {
  const completed = journalOf(project).flatMap((record) =>
    record.type === "phase.moved" && record.to === "completed" ? [String(record.phase)] : [],
  );
  const written = agent.notes("start").flatMap(({ phase, attempt }) => {
    const file = `${results}/coder.p${phase}-${attempt}.exit`;
    return project.exists(file) && project.read(file) === "0\n" ? [phase] : [];
  });
  return [...new Set([...completed, ...written])];
}

const isArchived = (project: Project) => project.exists(".gemini/state/archive/2026-02-14-task-api.jsonl");

/** The command that continues: a crash may have been too early for a session. */
function nextWords(project: Project): string[] {
  return status(project).exists ? ["resume", "--yes"] : ["run", planPath];
}

/** After a crash: no process runs, the session is sound, and a resume completes it without doing anything twice. */
async function recover(project: Project, agent: StandIn, what: string): Promise<void> {
  await allGone(project);
  const doctor = await commandLine(project, ["doctor"], { env: agent.env() });
  expect(doctor.code, `${what}: ${doctor.stdout}`).toBe(0);
  const before = finishedPhases(project, agent);
  const starts = new Map(before.map((phase) => [phase, startsOf(agent, phase)]));
  if (!isArchived(project)) {
    const words = nextWords(project);
    const run = await maestro(project, [...words, ...quick], agent.env());
    expect(run.code, `${what}: ${run.stdout}${run.stderr}`).toBe(0);
  }
  for (const [phase, count] of starts) {
    expect(startsOf(agent, phase), `${what}: phase ${phase} was done and is not started again`).toBe(count);
  }
  await allGone(project);
}

/** Runs `work` for every item, a few at a time: most of a round is waiting. */
async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>, atOnce = 3): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

describe("an engine that is killed at its write points (F1, F22, P1, P3, P4, P6)", () => {
  const phases = [played(1, []), played(2, [], { blocked_by: [1], validation: ["true"] }), played(3, [])];
  const stride = chaos > 0 ? 1 : 16;

  test(`${stride === 1 ? "each of them" : `every ${stride}th`}: the resumed session reaches the same end, repeats no finished phase, and leaves nothing running`, async () => {
    const undisturbed = await withProcesses(async (project) => {
      const agent = prepare(project, phases);
      expect((await maestro(project, ["run", planPath, ...quick], agent.env())).code).toBe(0);
      return outcomeOf(project);
    });
    expect(undisturbed).toMatchObject({ status: "completed", done: 3, unresolved: [] });

    let ranToItsEnd = 0;
    let killed = 0;
    const points = Array.from({ length: 60 * 10 }, (_, index) => index + 3).filter((point) => point % stride === 0);
    await eachOf(points, async (point) => {
      if (ranToItsEnd > 0) return;
      await withProcesses(async (project) => {
        const agent = prepare(project, phases);
        const env = agent.env({ NODE_ENV: "test", MAESTRO_CRASH_AT: `any:${point}` });
        const run = await maestro(project, ["run", planPath, ...quick], env);
        if (run.signal !== "SIGKILL") {
          expect(run.code, run.stderr).toBe(0);
          ranToItsEnd += 1;
          return;
        }
        killed += 1;
        await recover(project, agent, `killed at point ${point}`);
        expect(await outcomeOf(project), `killed at point ${point}`).toEqual(undisturbed);
        for (const { id } of phases) expect(startsOf(agent, String(id))).toBeLessThanOrEqual(2);
      });
    });
    expect(ranToItsEnd, "the loop ends").toBeGreaterThan(0);
    expect(killed).toBeGreaterThan(chaos > 0 ? 150 : 9);
  }, 900_000);
});

describe("an engine that is killed at random times (F2, F21, P1-P4)", () => {
  const rounds = chaos || 4;
  const random = generator(seed);
  const delay = () => 200 + random() * 1200;
  const plans = Array.from({ length: rounds }, (_, round) => ({
    what: `seed ${seed}, round ${round}`,
    delays: [delay(), delay()],
    phases: Array.from({ length: 10 }, (__, index) =>
      played(index + 1, [["sleep", Math.round(20 + random() * 180)]], {
        blocked_by: index === 0 ? [] : [Math.ceil(random() * index)],
      }),
    ),
  }));

  async function killedTwice({ what, delays, phases }: (typeof plans)[number], project: Project): Promise<void> {
    const agent = prepare(project, phases);
    const done = new Map<string, number>();
    for (const milliseconds of delays) {
      const words = [...nextWords(project), "--max-concurrent", "4", ...quick];
      const engine = background(project, words, agent.env());
      const timer = setTimeout(() => engine.child.kill("SIGKILL"), milliseconds);
      await engine.ended;
      clearTimeout(timer);
      await allGone(project);
      for (const phase of finishedPhases(project, agent)) done.set(phase, done.get(phase) ?? startsOf(agent, phase));
      if (isArchived(project)) break;
    }
    await recover(project, agent, what);
    for (const [phase, starts] of done) {
      expect(startsOf(agent, phase), `${what}: phase ${phase} was done and is not started again`).toBe(starts);
    }
    const outcome = await outcomeOf(project);
    expect(outcome, what).toMatchObject({ status: "completed", done: 10, unresolved: [] });
    expect(outcome.phases, what).toEqual(outcome.phases.map((phase: object) => ({ ...phase, retries: 0 })));
    const litter = project.run("find", [".gemini", "-name", "*.tmp", "-o", "-name", ".lock*"]).stdout;
    expect(litter, what).toBe("");
  }

  test(
    `in ${rounds} rounds, seed ${seed}: is resumed to the end, with nothing done again, no retry used and no litter`,
    () => eachOf(plans, (plan) => withProcesses((project) => killedTwice(plan, project)), 2),
    60_000 + rounds * 30_000,
  );
});

/** Runs a plan whose first agent waits for the test; returns the engine when that agent runs. */
async function waiting(project: Project, phases?: PhaseSpec[]): Promise<{ agent: StandIn; engine: Background }> {
  const agent = prepare(project, phases ?? [played(1, [["await", ".bin/go"]]), played(2, [], { blocked_by: [1] })]);
  const engine = background(project, ["run", planPath, ...quick], agent.env());
  await until("the first agent runs", () => agent.notes("start").length > 0);
  return { agent, engine };
}

describe("an engine that is killed while agents work", () => {
  test("is missed by `watch`, and `apply` claims nothing about work that is not recorded yet", () =>
    withProcesses(async (project) => {
      initRepository(project.path);
      const { agent, engine } = await waiting(project, [played(1, [["hang"]]), played(2, [["hang"]])]);
      const watcher = background(project, ["watch"], agent.env());
      for (let note = 0; !watcher.stderr().includes("is it watching"); note++) {
        expect(note).toBeLessThan(50);
        await maestro(project, ["session", "note", "is it watching?"]);
      }
      engine.child.kill("SIGKILL");
      expect((await watcher.ended).stdout).toMatch(
        /^Session 2026-02-14-task-api: nothing runs it any more\. Interrupted: phase 1, 2\. Resume it with .* resume`\.\n$/,
      );
      await allGone(project);
      const applied = await commandLine(project, ["apply", "1"]);
      expect(applied.stdout).toMatch(
        /^No recorded changes .* yet; attempt 1 has no recorded end: .* records its changes\n$/,
      );
    }));
});

describe("a result that reached its files before the engine died (F22, P4, P9)", () => {
  /** Freezes the engine, then kills it, so that it does not notice the end of the agent. */
  async function missedEnd(project: Project, phases?: PhaseSpec[]) {
    const { agent, engine } = await waiting(project, phases);
    engine.child.kill("SIGSTOP");
    project.write(".bin/go", "");
    const exitFile = `${results}/coder.p1-1.exit`;
    await until("the agent's exit code is written", () => project.exists(exitFile) && project.read(exitFile) !== "");
    engine.child.kill("SIGKILL");
    await engine.ended;
    await allGone(project);
    return agent;
  }

  test.concurrent("is adopted: the phase is not started again", () =>
    withProcesses(async (project) => {
      const agent = await missedEnd(project);
      const run = await maestro(project, ["resume", ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(run.stderr).toContain("result of attempt 1 found and recorded (success)");
      expect(agent.notes("start").map((note) => note.phase)).toEqual(["1", "2"]);
      const ends = journalOf(project).filter((record) => record.type === "attempt.finished");
      expect(ends.map((end) => [end.phase, end.outcome, end.adopted ?? false])).toEqual([
        ["1", "success", true],
        ["2", "success", false],
      ]);
      const warned = journalOf(project).filter(({ type, phase }) => type === "phase.warned" && phase === "1");
      const unseen = "Its changes are not recorded: the state before it was lost with its engine";
      expect(warned).toMatchObject([{ code: "unjudged", message: unseen }]);
    }));

  test.concurrent("is adopted as a failure when it is one: it uses a retry, and the next prompt describes it", () =>
    withProcesses(async (project) => {
      const agent = await missedEnd(project, [
        played(
          1,
          [
            ["await", ".bin/go"],
            ["stderr", "the compiler is on fire"],
            ["exit", 1],
          ],
          {},
          [["prompt"]],
        ),
      ]);
      const run = await maestro(project, ["resume", ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(agent.notes("start").map((note) => note.attempt)).toEqual([1, 2]);
      expect(agent.notes("prompt")[0]?.prompt).toContain("the compiler is on fire");
      expect((await outcomeOf(project)).phases).toMatchObject([{ id: "1", state: "completed", retries: 1 }]);
    }));

  test.concurrent("is not assumed when the agent was killed with its engine: the attempt is interrupted, and no retry is used (K151)", () =>
    withProcesses(async (project) => {
      const { agent, engine } = await waiting(project);
      engine.child.kill("SIGKILL");
      await engine.ended;
      await allGone(project);
      expect(status(project).phases[0]).toMatchObject({ status: "in_progress", retry_count: 0 });
      project.write(".bin/go", "");
      const run = await maestro(project, ["resume", ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(run.stderr).toContain("interrupted");
      expect(agent.notes("start").map((note) => [note.phase, note.attempt])).toEqual([
        ["1", 1],
        ["1", 2],
        ["2", 1],
      ]);
      expect((await outcomeOf(project)).phases).toMatchObject([{ retries: 0 }, { retries: 0 }]);
    }));

  test.concurrent("is not a report when the agent was killed before it ended: the phase is run again", () =>
    withProcesses(async (project) => {
      const phase = played(1, [["print"], ["write", ["printed", ""]], ["hang"]], { validation: ["true"] });
      const agent = prepare(project, [phase]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("it has said all it had to say", () => project.exists("printed"));
      engine.child.kill("SIGKILL");
      await engine.ended;
      await allGone(project);
      const run = await maestro(project, ["resume", ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(agent.notes("start").map((note) => note.attempt)).toEqual([1, 2]);
      const told = journalOf(project).filter(({ type }) => type === "attempt.finished" || type === "phase.validated");
      expect(told.map(({ outcome, result }) => outcome ?? result)).toEqual(["interrupted", "success", "pass"]);
      expect((await outcomeOf(project)).phases).toMatchObject([{ state: "completed", retries: 0 }]);
    }));

  test.concurrent("is validated by the next engine, without another attempt, when the engine died during the validation", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [], { validation: ["test -e go || exec sleep 60"] })]);
      const engine = background(project, ["run", planPath, ...quick], agent.env());
      await until("the agent is done", () => /agent done after .*, validating/.test(engine.stderr()));
      engine.child.kill("SIGKILL");
      await engine.ended;
      await allGone(project);
      project.write("go", "");
      const run = await maestro(project, ["resume", ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(agent.notes("start")).toHaveLength(1);
    }));
});

describe("a result that an earlier session of the same name left", () => {
  test.concurrent("is not adopted when the engine dies after recording the attempt and before the agent exists (P9)", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [])]);
      expect((await maestro(project, ["run", planPath, ...quick], agent.env())).code).toBe(0);
      expect(project.read(`${results}/coder.p1-1.exit`)).toBe("0\n");
      // As a user does to start again: the session and its archive are deleted, the batch is not.
      rmSync(join(project.path, ".gemini/state"), { recursive: true });
      project.write(planPath, planText([played(1, [])]));
      // The second durable append is the intention of the first attempt.
      const env = agent.env({ NODE_ENV: "test", MAESTRO_CRASH_AT: "append-synced:2" });
      expect((await maestro(project, ["run", planPath, ...quick], env)).signal).toBe("SIGKILL");
      expect(journalOf(project).map((record) => record.type)).toContain("attempt.started");
      expect(agent.notes("start")).toHaveLength(1);
      await allGone(project);
      const run = await maestro(project, ["resume", ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
      expect(agent.notes("start")).toHaveLength(2);
    }));
});

describe("one engine per session (F12, P5)", () => {
  const sixteen = Array.from({ length: 16 }, (_, index) => index);

  test.concurrent("of sixteen resumes at once, one runs and fifteen exit with 3 and name its process; after a kill the next one takes over", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["await", ".bin/go"]])]);
      expect((await maestro(project, ["session", "create", planPath], agent.env())).code).toBe(0);
      const engines = sixteen.map(() => background(project, ["resume", ...quick], agent.env()));
      const losers = await firstToEnd(engines, 15);
      const winner = engines.find((engine) => isAlive(engine.pid)) as Background;
      for (const { code, stderr } of losers) {
        expect(code, stderr).toBe(3);
        expect(stderr).toMatch(new RegExp(`process ${winner.pid} since \\d{4}-`));
      }
      await until("its agent runs", () => agent.notes("start").length > 0);
      expect(agent.notes("start")).toHaveLength(1);
      winner.child.kill("SIGKILL");
      await winner.ended;
      await allGone(project);
      project.write(".bin/go", "");
      const next = await maestro(project, ["resume", ...quick], agent.env());
      expect(next.code, next.stderr).toBe(0);
    }));

  test.concurrent("of sixteen runs at once, one runs and fifteen exit with 3 and name the process or the session", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["await", ".bin/go"]])]);
      const engines = sixteen.map(() => background(project, ["run", planPath, ...quick], agent.env()));
      const losers = await firstToEnd(engines, 15);
      for (const { code, stderr } of losers) {
        expect(stderr).toMatch(/process \d+ since|2026-02-14-task-api/);
        expect(code, stderr).toBe(3);
      }
      project.write(".bin/go", "");
      const ends = await Promise.all(engines.map((engine) => engine.ended));
      expect(ends.filter((end) => end.code === 0)).toHaveLength(1);
      expect(agent.notes("start")).toHaveLength(1);
    }));

  test.concurrent("a frozen engine keeps its session: other engines are refused until it continues", () =>
    withProcesses(async (project) => {
      const { agent, engine } = await waiting(project);
      engine.child.kill("SIGSTOP");
      project.write(".bin/go", "");
      const second = await maestro(project, ["resume", "--yes"], agent.env());
      expect(second.code).toBe(3);
      expect(second.stderr).toContain(`process ${engine.pid} since`);
      const third = await maestro(project, ["run", planPath], agent.env());
      expect([third.code, third.stderr]).toEqual([3, expect.stringContaining(`process ${engine.pid} since`)]);
      engine.child.kill("SIGCONT");
      expect((await engine.ended).code).toBe(0);
      expect(agent.notes("start").map((note) => note.phase)).toEqual(["1", "2"]);
    }));

  test.concurrent("a lock of a dead process whose pid another process has now does not count as an engine", () =>
    withProcesses(async (project) => {
      const { agent, engine } = await waiting(project);
      const lock = JSON.parse(project.read(".gemini/state/.engine"));
      engine.child.kill("SIGKILL");
      await engine.ended;
      await allGone(project);
      project.write(".gemini/state/.engine", JSON.stringify({ ...lock, pid: process.pid }));
      project.write(".bin/go", "");
      const run = await maestro(project, ["resume", ...quick], agent.env());
      expect(run.code, run.stderr).toBe(0);
    }));
});

describe("a session that cannot be run", () => {
  test.concurrent("makes `run` exit with 3 when it is unfinished, and `resume` when it does not exist", () =>
    withProcesses(async (project) => {
      const { agent, engine } = await waiting(project);
      engine.child.kill("SIGKILL");
      await engine.ended;
      await allGone(project);
      const again = await maestro(project, ["run", planPath, "--yes"], agent.env());
      expect([again.code, again.stderr]).toEqual([3, expect.stringContaining("2026-02-14-task-api is not finished")]);
      expect(again.stderr).toContain('maestro.js" resume');
      project.write(".bin/go", "");
      expect((await maestro(project, ["resume", ...quick], agent.env())).code).toBe(0);
      const nothing = await maestro(project, ["resume"], agent.env());
      expect([nothing.code, nothing.stderr]).toEqual([3, expect.stringContaining("Nothing to resume")]);
    }));

  test.concurrent("makes `resume` say so and exit with 0 when it is completed", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [])]);
      const env = agent.env({ MAESTRO_AUTO_ARCHIVE: "false" });
      const run = await maestro(project, ["run", planPath], env);
      expect([run.code, run.stdout]).toEqual([
        0,
        expect.stringContaining("Session complete. Auto-archive is disabled. Would you like to archive this session?"),
      ]);
      const again = await maestro(project, ["resume"], env);
      expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("is completed")]);
      expect(agent.notes("start")).toHaveLength(1);
    }));
});

/** The first `count` of them that end. */
function firstToEnd(engines: readonly Background[], count: number) {
  type Ended = Awaited<Background["ended"]>;
  return new Promise<Ended[]>((resolve) => {
    const ended: Ended[] = [];
    for (const engine of engines) {
      void engine.ended.then((end) => {
        ended.push(end);
        if (ended.length === count) resolve([...ended]);
      });
    }
  });
}

/** Mulberry32: the same numbers for the same seed. */
function generator(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

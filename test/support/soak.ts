// One round of the soak: a plan on two workers, while workers, the engine and Redis are killed at random; and what must hold afterwards.

import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "vitest";
import { ledgerOf } from "../../src/session/budget/ledger.ts";
import { applyEvent, type TimedEvent } from "../../src/session/fold.ts";
import type { Session } from "../../src/session/session.ts";
import { type Background, until } from "./processes.ts";
import type { PhaseSpec } from "./project.ts";
import type { TestRedis } from "./redis.ts";
import { scripted } from "./stand-in.ts";
import { RemoteProject, shortLease } from "./workers.ts";

export interface SoakPlan {
  phases: number;
  kills: number;
  /** From 0 to 1, as Math.random. */
  random: () => number;
}

const LANES = 4;
const BUDGET = 2_000_000;
const SPENT_ONCE = 700;
/** The longest that an engine may need after the last kill. */
const QUIET_MS = 120_000;

/** Each phase writes two files, so that half of its work would be seen. */
const files = (id: number) => [`one/${id}.txt`, `two/${id}.txt`];

function phasesOf({ phases, random }: SoakPlan): PhaseSpec[] {
  return Array.from({ length: phases }, (_, at) => {
    const id = at + 1;
    const [one, two] = files(id);
    const work = `mkdir -p one two; echo ${id} > ${one}; sleep ${(0.1 + random() * 0.4).toFixed(2)}; echo ${id} > ${two}`;
    const steps = [
      ["spend", [SPENT_ONCE - 100, 100]],
      ["shell", work],
    ] as [string, unknown][];
    // What an attempt reports is less than what its transcript says, so the usual amount would be too small.
    const over = { budget: "2ktok", files_created: files(id), blocked_by: id > LANES ? [id - LANES] : [] };
    return scripted(id, { "*": steps }, over);
  });
}

export async function soakRound(redis: TestRedis, plan: SoakPlan): Promise<{ killed: string[]; attempts: number }> {
  await redis.send("FLUSHALL");
  const project = new RemoteProject(redis, { "README.md": "hello\n" }, phasesOf(plan));
  // Most kills leave an attempt that counts as lost only after its lease.
  project.lease = { ...shortLease, MAESTRO_WORKER_LEASE: "5s" };
  const killed: string[] = [];
  const workers = [
    await project.worker({ name: "one", words: ["--slots", "2"] }),
    await project.worker({ name: "two", words: ["--slots", "2"] }),
  ];
  try {
    // An engine that was killed early has no session to resume.
    const again = () =>
      project.events().length > 0 ? project.resumed() : project.engine(["--budget", `${BUDGET}tok`]);
    let engine = again();
    const end = performance.now() + plan.kills * 2000 + QUIET_MS;
    for (let left = plan.kills; ; ) {
      const isOver = await within(engine, left > 0 ? 300 + plan.random() * 1200 : end - performance.now());
      if (isOver) {
        const run = await engine.ended;
        if (run.code === 0) break;
        // Redis was down when it began.
        if (run.code !== 3 || !run.stderr.includes("queue") || performance.now() > end)
          throw new Error(`the engine ended with ${run.code}: ${run.stderr.slice(-2000)}`);
        engine = again();
        continue;
      }
      if (left === 0) throw new Error(`the engine does not end: ${engine.stderr().slice(-2000)}`);
      left -= 1;
      const target = Math.floor(plan.random() * 4);
      killed.push(["worker one", "worker two", "engine", "redis"][target] ?? "");
      if (target === 3) {
        await redis.kill();
        await new Promise((resolve) => setTimeout(resolve, plan.random() * 1500));
        await redis.start();
      } else if (target === 2) {
        engine.child.kill("SIGKILL");
        await engine.ended;
        projectIsWhole(project);
        engine = again();
      } else {
        const old = workers[target];
        old?.child.kill("SIGKILL");
        await old?.ended;
        workers[target] = await project.worker({
          name: old?.name ?? "",
          words: ["--slots", "2"],
          ...(old === undefined ? {} : { home: old.home }),
        });
      }
    }
    const attempts = recordHolds(project, plan.phases);
    for (const worker of workers) worker.child.kill("SIGTERM");
    await Promise.all(workers.map((worker) => worker.ended));
    await until("no process is left", () => processesNear(project).length === 0);
    return { killed, attempts };
  } finally {
    for (const worker of workers) worker.child.kill("SIGKILL");
    for (const { pid } of processesNear(project)) kill(pid);
    project.remove();
  }
}

async function within(engine: Background, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  const isOver = await Promise.race([engine.ended.then(() => true as const), late]);
  clearTimeout(timer);
  return isOver;
}

/** Every phase completed and integrated once, its files written once, and the budget never exceeded by what was started. */
function recordHolds(project: RemoteProject, phases: number): number {
  const events = project.events() as unknown as TimedEvent[];
  let session: Session | undefined;
  let spent = 0;
  for (const event of events) {
    session = applyEvent(session, event);
    const ledger = ledgerOf(session);
    if (ledger === null) continue;
    expect(ledger.spent.tok ?? 0, "nothing that was spent comes back").toBeGreaterThanOrEqual(spent);
    spent = ledger.spent.tok ?? 0;
    if (event.type === "attempt.started") expect(spent + (ledger.reserved.tok ?? 0)).toBeLessThanOrEqual(BUDGET);
  }
  const count = (type: string, id: number) =>
    events.filter((event) => event.type === type && "phase" in event && event.phase === String(id)).length;
  const completed = events.flatMap((event) =>
    event.type === "phase.moved" && event.to === "completed" ? [event.phase] : [],
  );
  for (let id = 1; id <= phases; id++) {
    expect([id, completed.filter((one) => one === String(id)).length, count("phase.integrated", id)]).toEqual([
      id,
      1,
      1,
    ]);
    for (const path of files(id)) expect([path, project.read(path)]).toEqual([path, `${id}\n`]);
  }
  expect(project.git("status", "--porcelain", "--", "README.md")).toBe("");
  return events.filter(({ type }) => type === "attempt.started").length;
}

/** With no change in progress, the project has both files of a phase or neither. */
function projectIsWhole(project: RemoteProject): void {
  if (project.exists(".gemini/state/integration.json")) return;
  const integrated = new Set(project.events("phase.integrated").map(({ phase }) => phase));
  const ids = project.exists("one") ? project.list("one").map((name) => Number.parseInt(name, 10)) : [];
  for (const id of new Set([...ids, ...[...integrated].map(Number)])) {
    const present = files(id).map((path) => project.exists(path));
    // What is integrated is there; what is there and not recorded yet is there as a whole.
    expect([id, ...present]).toEqual([id, present[1], present[0]]);
    if (integrated.has(String(id))) expect([id, ...present]).toEqual([id, true, true]);
  }
}

/** Living processes of the project, of its workers and of their agents. */
function processesNear(project: RemoteProject): { pid: number; command: string }[] {
  const places = [project.path, dirname(project.exchange)];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const [command, environment] = [readProc(name, "cmdline"), readProc(name, "environ")];
      const isNear = places.some((place) => command.includes(place) || environment.includes(place));
      return isNear ? [{ pid: Number(name), command: command.replaceAll("\0", " ") }] : [];
    });
}

function readProc(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    // It has ended, or belongs to another user.
    return "";
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited in between.
  }
}

/** The same numbers for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

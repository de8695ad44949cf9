// Measures the cost of isolating an attempt with the engine's own functions: placing (snapshot, worktree), examining (tree, commit,
// reference), integrating (snapshot, merge, apply) and removing; compared with `git worktree add` and `remove` in the same repository of
// 5,000 files, in interleaved rounds. Then one pass over 50,000 files. Last, whole runs of phases that change nothing, each in a worktree,
// in a small project; compared with `git worktree add` and `remove` there.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeLastWorktree } from "../src/engine/attempt/attempt-run.ts";
import { examine } from "../src/engine/attempt/examine.ts";
import { type Control, placeAttempt, worktreeName } from "../src/engine/attempt/place.ts";
import { startIntegration } from "../src/engine/integrate/integrate.ts";
import { Isolation } from "../src/engine/isolation.ts";
import { Stopping } from "../src/engine/process/stopping.ts";
import type { RunContext } from "../src/engine/run-context.ts";
import { openRepository } from "../src/git/open.ts";
import { decideEnd, decideStart, type Rules } from "../src/session/decide/attempt.ts";
import { requirePhase, requireSession } from "../src/session/decide/operation.ts";
import type { SessionEvent } from "../src/session/events.ts";
import type { Session } from "../src/session/session.ts";
import { locateState } from "../src/store/location.ts";
import { createSession } from "../src/store/operations.ts";
import { SessionStore } from "../src/store/session-store.ts";
import { median, report } from "./support/measure.ts";
import { makeProject as makePlan, runPlan } from "./support/workload.ts";

const ROUNDS = 9;
const CHANGED = 20;
const root = mkdtempSync(join(tmpdir(), "maestro-bench-isolation-"));
process.env.HOME = root;
process.env.GIT_CONFIG_NOSYSTEM = "1";

const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, stdio: "pipe" });

/** A realistic project: packed, clean except for a few files, with its index up to date. */
async function makeProject(count: number): Promise<string> {
  const project = join(root, `project-${count}`);
  for (let at = 0; at < count; at++) {
    const directory = join(project, "src", `part-${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file-${at}.ts`), `export const value = ${at};\n`.repeat(20 + (at % 100)));
  }
  git(project, "-c", "init.defaultBranch=main", "init", "-q");
  git(project, "config", "gc.auto", "0");
  git(project, "add", "-A");
  git(project, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x");
  git(project, "gc", "-q");
  // Git reads files again that are younger than about a second.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  git(project, "status");
  for (let at = 0; at < CHANGED; at++) writeFileSync(join(project, `new-${at}.ts`), `${at}\n`);
  return project;
}

const rules: Rules = { maxRetries: 2, now: new Date(), hashes: () => ({}) };

/** The file-related part of a run context, for a session with one phase per round. */
async function open(project: string, rounds: number): Promise<RunContext> {
  const opening = await openRepository(project, join(root, "cache"));
  if (opening.kind !== "open") throw new Error(opening.reason);
  const isolation = new Isolation({
    projectRoot: project,
    prefix: "w",
    worktrees: "all",
    repository: opening.repository,
    ownership: "strict",
    isShared: false,
    exclude: [".gemini"],
    include: [],
    setup: "",
    sandbox: null,
  });
  const parts = {
    run: "bench",
    store: newSession(project, rounds),
    isolation,
    projectRoot: project,
    agents: new Map(),
    callsModel: true,
  };
  const limits = { timeoutMs: 1, validationTimeoutMs: 1, maxRetries: rules.maxRetries, graceMs: 1 };
  // The benchmark starts no agent, so the rest of the run context is not used.
  return { ...parts, limits, warn: console.error, now: () => new Date() } as Partial<RunContext> as RunContext;
}

function newSession(project: string, rounds: number): SessionStore {
  const store = new SessionStore(locateState(project, ".gemini"), { now: () => new Date(), warn: console.error });
  const phases = Array.from({ length: rounds }, (_, round) => ({
    id: `p${round}`,
    title: `Phase ${round}`,
    agent: "coder",
    description: "Work.",
    validation_criteria: ["it works"],
    validation: [],
    parallel: true,
    blocked_by: [],
    files_created: [],
    files_modified: ["src/part-3/**"],
    files_deleted: [],
  }));
  const plan = { title: "Bench", design_ref: null, created: null, status: null, phases };
  const about = { bytes: Buffer.from(""), path: "plan.md", task: null, executionMode: "parallel" as const };
  createSession(store, { plan, ...about, now: new Date() });
  return store;
}

async function timed<T>(into: number[], work: () => Promise<T> | T): Promise<T> {
  const before = performance.now();
  const result = await work();
  into.push(performance.now() - before);
  return result;
}

const stages = ["placing", "examining", "integrating", "removing"] as const;
type Times = Record<(typeof stages)[number], number[]>;
const newTimes = (): Times => ({ placing: [], examining: [], integrating: [], removing: [] });

async function isolate(context: RunContext, times: Times, round: number): Promise<void> {
  const { store, projectRoot } = context;
  const [phase, attempt] = [`p${round}`, 1];
  const record = (decide: (session: Session) => SessionEvent[]) =>
    store.update((session) => ({ events: decide(requireSession(session)), result: undefined }));
  const start = { run: "bench", runtime: "gemini", model: null, batch: "bench", prompt_bytes: 1, timeout_ms: 1 };
  record((session) => decideStart(session, phase, start, rules));
  const session = requireSession(store.session);
  const worktree = worktreeName(context, session, requirePhase(session, phase));
  const control: Control = { write: async (events) => record(() => events), stopping: new Stopping() };
  const placed = { phase, attempt, name: `coder.${phase}-${attempt}`, worktree };

  const ground = await timed(times.placing, () => placeAttempt(context, placed, control));
  const work = (directory: string, at: number) => join(directory, "src/part-3", `file-${300 + at}.ts`);
  for (let at = 0; at < CHANGED; at++) writeFileSync(work(ground.root, at), `${round}\n`);
  const found = await timed(times.examining, () => examine(context, { phase, attempt }, ground));
  if (found?.files.length !== CHANGED) throw new Error(`found ${found?.files.length} changed files, not ${CHANGED}`);
  const finished = { attempt, outcome: "success", exit_code: 0, signal: null, duration_ms: 1, usage: null } as const;
  const end = { finished, evidence: null, changes: found.changes, warnings: [], isApart: true };
  record((current) => decideEnd(current, phase, end, rules));
  // The user changes another file before the integration.
  writeFileSync(join(projectRoot, "src/part-7/file-700.ts"), `user ${round}\n`);
  const result = await timed(times.integrating, () => startIntegration(context, phase, control.write).done);
  if (result.kind !== "done") throw new Error(`not integrated: ${JSON.stringify(result)}`);
  if (readFileSync(work(projectRoot, 0), "utf8") !== `${round}\n`) throw new Error("the change is not in the project");
  await timed(times.removing, () => removeLastWorktree(context, phase));
}

const small = await makeProject(5000);
const context = await open(small, ROUNDS);
const ours = newTimes();
const plain: number[] = [];
const spread: number[] = [];
const addAndRemove = (...settings: string[]) => {
  const path = join(root, "plain");
  git(small, ...settings, "worktree", "add", "-q", "--detach", path, "HEAD");
  git(small, "worktree", "remove", path);
};
for (let round = 0; round < ROUNDS; round++) {
  await timed(plain, () => addAndRemove());
  await isolate(context, ours, round);
  await timed(spread, () => addAndRemove("-c", "checkout.workers=0"));
}
context.store.close();
const totals = plain.map((_, round) => stages.reduce((sum, stage) => sum + (ours[stage][round] ?? 0), 0));
report("5,000 files: git worktree add and remove (median)", median(plain), "ms");
report("5,000 files: the same, with parallel checkout", median(spread), "ms");
for (const stage of stages) report(`5,000 files: ${stage} (median)`, median(ours[stage]), "ms");
report("5,000 files: an isolated attempt, total (median)", median(totals), "ms");
report("ratio of the medians", median(totals) / median(plain), "x", 3);
report("ratio of the medians, to parallel checkout", median(totals) / median(spread), "x");

const large = newTimes();
const many = await open(await makeProject(50_000), 1);
await isolate(many, large, 0);
many.store.close();
for (const stage of stages) report(`50,000 files: ${stage}`, large[stage][0] ?? Number.NaN, "ms");

const PHASES = 40;
const bare: number[] = [];
const whole: number[] = [];
for (let round = 0; round < 3; round++) {
  const phases = Array.from({ length: PHASES }, (_, at) => ({ id: `p${at}`, blocked_by: [], seconds: 1 }));
  const project = makePlan(phases, "cat >/dev/null");
  writeFileSync(join(project, ".gitignore"), "bin/\n.gemini/\n.cache/\n");
  for (let at = 0; at < 50; at++) writeFileSync(join(project, `file-${at}.ts`), `${at}\n`);
  git(project, "init", "-q");
  git(project, "add", "-A");
  git(project, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x");
  for (let at = 0; at < 5; at++) {
    await timed(bare, () => {
      git(project, "worktree", "add", "-q", "--detach", join(root, "plain"), "HEAD");
      git(project, "worktree", "remove", join(root, "plain"));
    });
  }
  const run = runPlan(project, ["--isolation", "worktree", "--max-concurrent", "8"]);
  if (run.status !== 0) throw new Error(run.stderr);
  whole.push((run.seconds * 1000) / PHASES);
  rmSync(project, { recursive: true });
}
report("git worktree add and remove, 50 files (median)", median(bare), "ms");
report("a phase that changes nothing, in a worktree", median(whole), "ms");
report("ratio of the medians", median(whole) / median(bare), "x");
rmSync(root, { recursive: true });

// Measures attempts on workers, with a real Redis and a bare repository on this machine: what a phase that changes one file costs through a
// worker against a local worktree and against git by hand; how soon a killed worker's attempt runs elsewhere; how soon a stopped run has
// stopped its agent; what 1,000 waiting phases cost; and that a local run loads none of it.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { startRedis } from "../test/support/redis.ts";
import { median, report } from "./support/measure.ts";
import { addFiles, commitAll, makeProject, type WorkPhase } from "./support/workload.ts";

const PHASES = 12;
const ROUNDS = 3;
const FILES = 500;
const QUEUED = 1000;
const LEASE_MS = 3000;
const SWEEP_MS = 500;
const GRACE_MS = 500;
/** At most so many times what git takes by hand for the same way there and back. */
const MOST_OF_GIT = 3;

const root = mkdtempSync(join(tmpdir(), "maestro-bench-workers-"));
const maestro = join(process.cwd(), "dist", "maestro.js");
const redis = await startRedis({
  skip: (why?: unknown): never => {
    console.log(`  skipped: ${why}`);
    process.exit(0);
  },
});
const shared = {
  MAESTRO_WORKER_KEY: "0123456789abcdef0123456789abcdef",
  MAESTRO_WORKER_LEASE: `${LEASE_MS}ms`,
  MAESTRO_WORKER_RENEWAL: "500ms",
  MAESTRO_WORKER_SWEEP: `${SWEEP_MS}ms`,
  MAESTRO_STAGGER_DELAY: "0",
  GIT_CONFIG_NOSYSTEM: "1",
};
let homes = 0;
const running: ChildProcess[] = [];

try {
  await overhead();
  await takeover();
  await cancel();
  await queued();
  loaded();
} finally {
  for (const child of running) child.kill("SIGKILL");
  await redis.close();
  rmSync(root, { recursive: true, force: true });
}

interface Setting {
  project: string;
  exchange: string;
}

function chain(count: number): WorkPhase[] {
  return Array.from({ length: count }, (_, at) => {
    return { id: `p${at}`, blocked_by: at === 0 ? [] : [`p${at - 1}`], seconds: 1 };
  });
}

/** A committed project whose agents write one file, and an exchange. */
function setting(
  phases: readonly WorkPhase[],
  body = "cat >/dev/null\necho $MAESTRO_PHASE > $MAESTRO_PHASE.txt",
): Setting {
  const project = makeProject(phases, body);
  writeFileSync(join(project, ".gitignore"), "bin\n.gemini\nplan.md\n");
  addFiles(project, FILES);
  commitAll(project);
  const exchange = join(root, `exchange-${homes++}.git`);
  execFileSync(process.execPath, [maestro, "exchange", "init", exchange], {
    env: { PATH: process.env.PATH, HOME: root },
  });
  return { project, exchange };
}

function environment(home: string, bin: string): Record<string, string> {
  return { ...shared, HOME: home, PATH: [bin, process.env.PATH].join(delimiter) };
}

async function worker({ project, exchange }: Setting, name: string, slots = 1): Promise<ChildProcess> {
  const home = join(root, `home-${homes++}`);
  mkdirSync(home);
  const args = ["worker", "--queue", redis.url, "--exchange", exchange, "--name", name, "--slots", String(slots)];
  const child = spawn(process.execPath, [maestro, ...args, "--runtimes", "gemini", "--grace", `${GRACE_MS}ms`], {
    cwd: home,
    env: environment(home, join(project, "bin")),
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.push(child);
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (said) => String(said).includes("is ready") && resolve());
    child.once("exit", (code) => reject(new Error(`the worker ended with ${code}`)));
  });
  child.removeAllListeners("exit");
  return child;
}

function remoteWords({ exchange }: Setting): string[] {
  return ["--workers", redis.url, "--exchange", exchange];
}

function engine({ project }: Setting, words: readonly string[]): ChildProcess {
  const args = [
    "run",
    "plan.md",
    "--mode",
    "parallel",
    "--keep-open",
    "--ownership",
    "warn",
    "--grace",
    `${GRACE_MS}ms`,
    ...words,
  ];
  const child = spawn(process.execPath, [maestro, ...args], {
    cwd: project,
    env: environment(project, join(project, "bin")),
    stdio: "ignore",
  });
  running.push(child);
  return child;
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
    else child.once("exit", (code) => resolve(code));
  });
}

async function timed(place: Setting, words: readonly string[]): Promise<number> {
  const before = performance.now();
  const code = await ended(engine(place, words));
  if (code !== 0) throw new Error(`the run ended with ${code}`);
  return performance.now() - before;
}

function events({
  project,
}: Setting): { type: string; ts: string; worker?: string; attempt?: number; remote?: boolean }[] {
  const path = join(project, ".gemini/state/progress.jsonl");
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

async function until<T>(what: string, look: () => T | undefined | false, withinMs = 60_000): Promise<T> {
  for (const end = performance.now() + withinMs; performance.now() < end; ) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`not within ${withinMs} ms: ${what}`);
}

/** One phase after another, so that nothing is hidden by what runs beside it. The first phase of each run also clones; it counts. */
async function overhead(): Promise<void> {
  const [local, remote, hand] = [[] as number[], [] as number[], [] as number[]];
  for (let round = 0; round < ROUNDS; round++) {
    const here = setting(chain(PHASES));
    local.push((await timed(here, ["--isolation", "worktree"])) / PHASES);
    const there = setting(chain(PHASES));
    const child = await worker(there, "bench");
    remote.push((await timed(there, remoteWords(there))) / PHASES);
    child.kill();
    await ended(child);
    hand.push(byHand(there));
    for (const { project } of [here, there]) rmSync(project, { recursive: true, force: true });
  }
  const over = median(remote) - median(local);
  report("a phase in a local worktree", median(local), "ms");
  report("a phase through a worker", median(remote), "ms");
  report("git by hand: push and fetch there, push and fetch back", median(hand), "ms");
  report("overhead of the worker: ratio to git by hand", over / median(hand), "x", MOST_OF_GIT);
}

/** What the same change costs with git alone: an order there, a result back, with one file changed each time. */
function byHand({ project, exchange }: Setting): number {
  const other = join(root, `other-${homes++}.git`);
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, encoding: "utf8", stdio: "pipe" }).trim();
  git(root, "init", "-q", "--bare", other);
  const made = (cwd: string, parent: string, text: string) => {
    const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], { cwd, input: text, encoding: "utf8" }).trim();
    const tree = execFileSync("git", ["mktree"], {
      cwd,
      input: `100644 blob ${blob}\tfile\n`,
      encoding: "utf8",
    }).trim();
    return git(cwd, "-c", "user.name=x", "-c", "user.email=x", "commit-tree", tree, "-p", parent, "-m", "x");
  };
  const head = git(project, "rev-parse", "HEAD");
  const times = Array.from({ length: PHASES }, (_, at) => {
    const key = `${String(at).padStart(16, "0")}-0123456789ab-1`;
    const [inRef, outRef] = ["in", "out"].map((side) => `refs/maestro-exchange/${side}/${key}`);
    const order = made(project, head, `order ${at}`);
    const before = performance.now();
    git(project, "push", "-q", exchange, `${order}:${inRef}`);
    git(other, "fetch", "-q", exchange, `${inRef}:${inRef}`);
    const between = performance.now();
    const result = made(other, order, `result ${at}`);
    const after = performance.now();
    git(other, "push", "-q", exchange, `${result}:${outRef}`);
    git(project, "fetch", "-q", exchange, `${outRef}:${outRef}`);
    return between - before + (performance.now() - after);
  });
  return median(times);
}

async function takeover(): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const place = setting(chain(1), "cat >/dev/null\n[ -e ../go ] || [ -e $HOME/../go ] || sleep 30");
    const first = await worker(place, "first");
    const run = engine(place, remoteWords(place));
    await until("it is claimed", () => events(place).some(({ type }) => type === "attempt.claimed"));
    const second = await worker(place, "second");
    const killedAt = performance.now();
    first.kill("SIGKILL");
    await until("another worker has it", () =>
      events(place).some(({ type, attempt }) => type === "attempt.claimed" && attempt === 2),
    );
    times.push(performance.now() - killedAt);
    for (const child of [run, second]) child.kill("SIGKILL");
    await Promise.all([run, second].map(ended));
    rmSync(place.project, { recursive: true, force: true });
  }
  report("kill -9 of a worker until another runs its phase", Math.max(...times), "ms", LEASE_MS + 2 * SWEEP_MS);
}

async function cancel(): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const place = setting(chain(1), `cat >/dev/null\necho $$ > ${join(root, "agent")}\nexec sleep 60`);
    rmSync(join(root, "agent"), { force: true });
    const child = await worker(place, "bench");
    const run = engine(place, remoteWords(place));
    const pid = await until("the agent runs", () => {
      const text = existsSync(join(root, "agent")) ? readFileSync(join(root, "agent"), "utf8") : "";
      return text.endsWith("\n") && Number(text);
    });
    if (!existsSync(`/proc/${pid}`)) throw new Error("the agent ended by itself");
    const stoppedAt = performance.now();
    run.kill("SIGTERM");
    await until("the agent is gone", () => !existsSync(`/proc/${pid}`));
    times.push(performance.now() - stoppedAt);
    await ended(run);
    child.kill("SIGKILL");
    await ended(child);
    rmSync(place.project, { recursive: true, force: true });
  }
  report("stopping a run until its agent on a worker is gone", Math.max(...times), "ms", 1000 + GRACE_MS);
}

async function queued(): Promise<void> {
  const phases = Array.from({ length: QUEUED }, (_, at) => ({ id: `p${at}`, blocked_by: [], seconds: 1 }));
  const place = setting(phases);
  const before = performance.now();
  const run = engine(place, remoteWords(place));
  const inQueue = async () => {
    const names = (
      await redis.send(
        "EVAL",
        "local n=0 for _,k in ipairs(redis.call('keys','maestro:*:prioritized')) do n=n+redis.call('zcard',k) end for _,k in ipairs(redis.call('keys','maestro:*:wait')) do n=n+redis.call('llen',k) end return n",
        "0",
      )
    ).trim();
    return Number(names.replace(":", ""));
  };
  let count = 0;
  while (count < QUEUED && performance.now() - before < 300_000) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    count = await inQueue();
    if (run.exitCode !== null) throw new Error(`the engine ended with ${run.exitCode}`);
  }
  report(`${QUEUED} phases are in the queue after`, (performance.now() - before) / 1000, "s");
  const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${run.pid}/status`, "utf8"))?.[1];
  report("memory of the engine then", Number(memory) / 1024, "MB");
  const stoppedAt = performance.now();
  run.kill("SIGTERM");
  await ended(run);
  report("stopping it", (performance.now() - stoppedAt) / 1000, "s");
  rmSync(place.project, { recursive: true, force: true });
}

/** The files of dist/ that a local run loads. */
function loaded(): void {
  const place = setting(chain(1));
  const list = join(root, "loaded.json");
  const hook = join(root, "loaded.cjs");
  writeFileSync(
    hook,
    `process.on("exit", () => require("fs").writeFileSync(${JSON.stringify(list)}, JSON.stringify(Object.keys(require.cache))));\n`,
  );
  const words = ["--require", hook, maestro, "run", "plan.md", "--mode", "parallel", "--ownership", "warn"];
  const { status, stderr } = spawnSync(process.execPath, words, {
    cwd: place.project,
    env: environment(place.project, join(place.project, "bin")),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  const dist = join(process.cwd(), "dist");
  const remote = readdirSync(dist).filter(
    (name) => name.startsWith("maestro") && /BullMQ|ioredis/.test(readFileSync(join(dist, name), "utf8")),
  );
  if (remote.length === 0) throw new Error("no file of dist/ has the client of the queue");
  const files: string[] = JSON.parse(readFileSync(list, "utf8"));
  if (!files.some((path) => path.startsWith(dist))) throw new Error("the list of loaded files is empty");
  report(
    "files of the queue's client that a local run loads",
    files.filter((path) => remote.some((name) => path.endsWith(name))).length,
    "",
    0,
  );
  rmSync(place.project, { recursive: true, force: true });
}

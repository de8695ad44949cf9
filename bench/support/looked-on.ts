// Measures whether a run takes longer while a dashboard serves it and a page shows it.

import { spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Browser } from "playwright-core";
import { median, report } from "./measure.ts";
import { dice, makeProject, randomGraph } from "./workload.ts";

const maestro = join(process.cwd(), "dist", "maestro.js");
const PHASES = 60;
const SLOTS = 4;
const ROUNDS = 5;
/** Ticks of the clock that /proc counts in. */
const TICKS = 100;

interface LookedOn {
  seconds: number;
  /** CPU seconds of the dashboard and of the browser; 0 without them. */
  served: number;
  drawn: number;
}

/** Interleaved, because other programs make the machine slower and faster. */
export async function measureLookedOn(browser: Browser): Promise<void> {
  const alone: LookedOn[] = [];
  const looked: LookedOn[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = round % 2 === 0;
    for (const isLooked of [first, !first])
      (isLooked ? looked : alone).push(await run(isLooked ? browser : null, round));
  }
  const seconds = (runs: readonly LookedOn[]) => median(runs.map((one) => one.seconds));
  const ratios = looked.map((one, round) => one.seconds / (alone[round]?.seconds ?? Number.NaN));
  report(`run of ${PHASES} phases, ${SLOTS} at a time`, seconds(alone), "s");
  report("the same run with a dashboard and a page", seconds(looked), "s");
  report("CPU of the dashboard during the run", median(looked.map((one) => one.served)), "s");
  report("CPU of the browser during the run", median(looked.map((one) => one.drawn)), "s");
  report("time of a run that is looked on, median of rounds", median(ratios), "x", 1.05);
}

/** The same plan for both runs of a round. */
async function run(browser: Browser | null, round: number): Promise<LookedOn> {
  const random = dice(round + 5);
  const phases = randomGraph(PHASES, () => Math.round(100 + random() * 400) / 1000, random);
  const cases = phases.map(({ id, seconds }) => `${id}) sleep ${seconds};;`).join("\n");
  const project = makeProject(phases, `cat >/dev/null\ncase "$MAESTRO_PHASE" in\n${cases}\nesac`);
  const env = {
    HOME: project,
    PATH: [join(project, "bin"), process.env.PATH].join(delimiter),
    MAESTRO_STAGGER_DELAY: "0",
  };
  // The session is there before the run: a page finds a new one only after seconds, and would miss most of the run.
  const created = spawnSync(process.execPath, [maestro, "session", "create", "plan.md"], { cwd: project, env });
  if (created.status !== 0) throw new Error(`no session: ${created.stderr}`);
  try {
    if (browser === null) return { seconds: await runSeconds(project, env), served: 0, drawn: 0 };
    const server = spawn(process.execPath, [maestro, "dashboard", "--json"], { cwd: project, env });
    const url = await new Promise<string>((resolve) =>
      server.stdout.once("data", (text) => resolve(JSON.parse(text).url)),
    );
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    try {
      await page.goto(url);
      await page.locator(".lane-row").first().waitFor();
      const spent = async () => [cpuOf(server.pid ?? 0), await browserCpu(browser)] as const;
      const before = await spent();
      const seconds = await runSeconds(project, env);
      const after = await spent();
      await page.locator(".head .mark", { hasText: "completed" }).waitFor();
      return { seconds, served: after[0] - before[0], drawn: after[1] - before[1] };
    } finally {
      await page.close();
      server.kill();
    }
  } finally {
    rmSync(project, { recursive: true });
  }
}

async function runSeconds(project: string, env: Record<string, string>): Promise<number> {
  const started = performance.now();
  const args = [maestro, "resume", "--yes", "--mode", "parallel", "--max-concurrent", String(SLOTS)];
  const child = spawn(process.execPath, args, { cwd: project, env, stdio: "ignore" });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`the run ended with ${code}`);
  return (performance.now() - started) / 1000;
}

/** CPU seconds of the browser with all of its processes: it has no other page. */
async function browserCpu(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** User and system time of a process, in seconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

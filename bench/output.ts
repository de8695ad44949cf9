// Measures the memory of Maestro's processes when ten agents print 50 MB of garbage each: the engine, an engine that takes over their
// results after a crash, `logs`, `report` and the MCP server. And of the engine while 20 agents print 100 MB each.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { McpServer } from "./support/mcp-server.ts";
import { report } from "./support/measure.ts";
import { makeProject } from "./support/workload.ts";

const LIMIT_MB = 150;
const AGENTS = 10;
const maestro = join(process.cwd(), "dist", "maestro.js");
const garbage = (bytes: number) => `head -c ${bytes} /dev/zero | tr '\\0' x`;
const run = ["run", "plan.md", "--mode", "parallel", "--keep-going", "--max-concurrent", "20"];

// Without an answer behind it, and with one: the second half of the agents succeeds.
const mixed = `cat >/dev/null\n${garbage(50_000_000)}\ncase "$MAESTRO_PHASE" in\n*[01234]) exit 0;;\nesac\necho`;
{
  const project = projectOf(AGENTS, mixed);
  await measured(`${AGENTS} agents, 50 MB each: engine`, start(project, run), project);
  await measured("logs of such an agent", start(project, ["logs", "p7"]), project);
  await measured("report", start(project, ["report"]), project);
  const server = new McpServer(project, probed(project));
  await server.initialize();
  await server.call("maestro_dispatch_status", {
    action: "agent_result",
    batch_id: batchOf(project),
    agent: "coder.pp7-1",
  });
  await server.end();
  report("MCP server that reads its result", peakOf(project), "MB", LIMIT_MB);
  clear(project);
}
{
  const project = projectOf(AGENTS, mixed);
  const engine = start(project, run);
  await until(() => resultsOf(project, "json") === AGENTS);
  // A stopped engine cannot record what the agents leave, and its warden sees it alive.
  engine.kill("SIGSTOP");
  await until(() => resultsOf(project, "exit") === AGENTS);
  engine.kill("SIGKILL");
  await ended(engine);
  await measured("engine that takes over their results", start(project, ["resume", "--yes", "--keep-going"]), project);
  clear(project);
}
{
  // Half of the agents print to stderr, which is truncated; the others to stdout, which fails them.
  const body = `cat >/dev/null\ncase "$MAESTRO_PHASE" in\n*[02468]) ${garbage(100_000_000)} >&2;;\n*) ${garbage(100_000_000)};;\nesac`;
  const project = projectOf(2 * AGENTS, body);
  await measured(`${2 * AGENTS} agents, 100 MB each: engine`, start(project, run), project);
  clear(project);
}

function projectOf(agents: number, body: string): string {
  const phases = Array.from({ length: agents }, (_, at) => ({ id: `p${at}`, blocked_by: [], seconds: 1 }));
  const project = makeProject(phases, body);
  const probe = `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(`${project}-peak`)}, String(process.resourceUsage().maxRSS / 1024)));`;
  writeFileSync(`${project}-probe.cjs`, probe);
  return project;
}

function probed(project: string): string[] {
  return ["--require", `${project}-probe.cjs`];
}

function start(project: string, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...probed(project), maestro, ...args], {
    cwd: project,
    stdio: "ignore",
    env: {
      HOME: project,
      PATH: [join(project, "bin"), process.env.PATH].join(delimiter),
      MAESTRO_STAGGER_DELAY: "0",
      MAESTRO_MAX_RETRIES: "0",
      MAESTRO_AUTO_ARCHIVE: "false",
    },
  });
}

async function measured(what: string, child: ChildProcess, project: string): Promise<void> {
  await ended(child);
  report(what, peakOf(project), "MB", LIMIT_MB);
}

/** Megabytes; NaN, which fails the limit, when the process left no figure. */
function peakOf(project: string): number {
  const file = `${project}-peak`;
  const peak = existsSync(file) ? Number(readFileSync(file, "utf8")) : Number.NaN;
  rmSync(file, { force: true });
  return peak;
}

function ended(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once("exit", resolve));
}

/** Polls, because the files are written by other processes. */
async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function batchOf(project: string): string {
  return readdirSync(join(project, ".gemini", "parallel"))[0] ?? "";
}

function resultsOf(project: string, kind: string): number {
  const parallel = join(project, ".gemini", "parallel");
  if (!existsSync(parallel) || batchOf(project) === "") return 0;
  const results = join(parallel, batchOf(project), "results");
  return existsSync(results) ? readdirSync(results).filter((name) => name.endsWith(`.${kind}`)).length : 0;
}

function clear(project: string): void {
  for (const path of [project, `${project}-probe.cjs`]) rmSync(path, { recursive: true });
}

// Measures how long the engine's event loop is blocked while a wide plan runs: it supervises agents, reads decisions and checks limits only
// between two blocks. Counts from the start of the first agent to the end of the last one, and apart from that for the whole command.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { report } from "./support/measure.ts";
import { makeProject, runPlan } from "./support/workload.ts";

const SLOTS = 8;
const LIMIT_MS = 100;

for (const count of [300, 3000]) {
  const phases = Array.from({ length: count }, (_, at) => ({ id: `p${at}`, blocked_by: [], seconds: 1 }));
  const project = makeProject(phases, "cat >/dev/null");
  const probe = `${project}-probe.cjs`;
  const answer = `${project}-probe.json`;
  writeFileSync(probe, probeOf(answer));
  const run = runPlan(project, ["--max-concurrent", String(SLOTS)], ["--require", probe]);
  if (run.status !== 0) throw new Error(run.stderr);
  const { delay, cpu, all } = JSON.parse(readFileSync(answer, "utf8")) as Record<string, number>;
  report(`${count} phases: longest delay of a timer`, delay ?? Number.NaN, "ms");
  report(`${count} phases: longest block`, cpu ?? Number.NaN, "ms CPU", LIMIT_MS);
  report(`${count} phases: longest block of the whole command`, all ?? Number.NaN, "ms CPU");
  for (const path of [project, probe, answer]) rmSync(path, { recursive: true });
}

/** CPU time beside the delay, because another program on the machine delays the loop too. */
function probeOf(answer: string): string {
  return `if (process.argv[2] === "run") {
  const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  let isRunning = false;
  let before = { at: performance.now(), cpu: spent() };
  const longest = { delay: 0, cpu: 0, all: 0 };
  let atLastEnd = { ...longest };
  setInterval(() => {
    const now = { at: performance.now(), cpu: spent() };
    longest.all = Math.max(longest.all, now.cpu - before.cpu);
    if (isRunning) longest.delay = Math.max(longest.delay, now.at - before.at);
    if (isRunning) longest.cpu = Math.max(longest.cpu, now.cpu - before.cpu);
    before = now;
  }, 1).unref();
  require("node:diagnostics_channel").subscribe("child_process", ({ process: child }) => {
    const isAgent = () => child.spawnfile === "/bin/sh";
    child.once("spawn", () => { isRunning ||= isAgent(); });
    child.once("exit", () => { if (isAgent()) atLastEnd = { ...longest }; });
  });
  process.on("exit", () => {
    const { delay, cpu } = atLastEnd;
    require("node:fs").writeFileSync(${JSON.stringify(answer)}, JSON.stringify({ delay, cpu, all: longest.all }));
  });
}`;
}

// Measures how long the engine's event loop is blocked while a wide plan runs: it supervises agents, reads decisions and checks limits only
// between two blocks. Counts from the start of the first agent to the end of the last one, and apart from that for the whole command.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { report } from "./support/measure.ts";
import { makeProject, runPlan } from "./support/workload.ts";

const SLOTS = 8;
const LIMIT_MS = 100;

/** Two runs of a timer that were more than five milliseconds apart. */
interface Gap {
  begin: number;
  end: number;
  delay: number;
  cpu: number;
}

for (const count of [300, 3000]) {
  const phases = Array.from({ length: count }, (_, at) => ({ id: `p${at}`, blocked_by: [], seconds: 1 }));
  const project = makeProject(phases, "cat >/dev/null");
  const probe = `${project}-probe.cjs`;
  const answer = `${project}-probe.json`;
  writeFileSync(probe, probeOf(answer));
  const run = runPlan(project, ["--max-concurrent", String(SLOTS)], ["--require", probe]);
  if (run.status !== 0) throw new Error(run.stderr);
  const gaps = JSON.parse(readFileSync(answer, "utf8")) as Gap[];
  const { from, to } = agentsIn(project);
  const during = gaps.filter(({ begin, end }) => end > from && begin < to);
  const most = (of: readonly Gap[], field: "delay" | "cpu") => Math.max(...of.map((gap) => gap[field]));
  report(`${count} phases: longest delay of a timer`, most(during, "delay"), "ms");
  report(`${count} phases: longest block`, most(during, "cpu"), "ms CPU", LIMIT_MS);
  report(`${count} phases: longest block of the whole command`, most(gaps, "cpu"), "ms CPU");
  for (const path of [project, probe, answer]) rmSync(path, { recursive: true });
}

/** From the start of the first agent to the end of the last one, by the archived journal. */
function agentsIn(project: string): { from: number; to: number } {
  const archive = join(project, ".gemini", "state", "archive");
  const journal = readdirSync(archive).find((name) => name.endsWith(".jsonl")) ?? "";
  const events = readFileSync(join(archive, journal), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; ts: string });
  const first = events.find(({ type }) => type === "attempt.started");
  const last = events.findLast(({ type }) => type === "attempt.finished");
  return { from: Date.parse(first?.ts ?? ""), to: Date.parse(last?.ts ?? "") };
}

/** CPU time beside the delay, because another program on the machine delays the loop too. */
function probeOf(answer: string): string {
  return `if (process.argv[2] === "run") {
  const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
  let before = { at: performance.now(), cpu: spent() };
  const gaps = [];
  setInterval(() => {
    const now = { at: performance.now(), cpu: spent() };
    const delay = now.at - before.at;
    const end = Date.now();
    if (delay > 5) gaps.push({ begin: end - delay, end, delay, cpu: now.cpu - before.cpu });
    before = now;
  }, 1).unref();
  process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(answer)}, JSON.stringify(gaps)));
}`;
}

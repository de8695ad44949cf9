// Compares a run with the shortest possible time, max(longest chain, work / slots), on random graphs of 100 phases whose agents sleep.
// The bound uses the times the agents really took: a shell sleeps longer than the requested 0.5 s, on a busy machine much longer.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median, report } from "./support/measure.ts";
import { boundsOf, dice, makeProject, randomGraph, runPlan } from "./support/workload.ts";

const SLOTS = 8;
const ratios: number[] = [];
for (let round = 0; round < 3; round++) {
  const random = dice(round + 11);
  const phases = randomGraph(100, () => Math.round(200 + random() * 800) / 1000, random);
  const cases = phases.map(({ id, seconds }) => `${id}) sleep ${seconds};;`).join("\n");
  const project = makeProject(phases, `cat >/dev/null\ncase "$MAESTRO_PHASE" in\n${cases}\nesac`);
  const run = runPlan(project, ["--max-concurrent", String(SLOTS)]);
  if (run.status !== 0) throw new Error(run.stderr);
  const { chain, work } = boundsOf(phases.map((phase) => ({ ...phase, seconds: took(project).get(phase.id) ?? 0 })));
  const bound = Math.max(chain, work / SLOTS);
  ratios.push(run.seconds / bound);
  report(`round ${round + 1}: bound ${bound.toFixed(2)} s (chain ${chain.toFixed(2)}), run`, run.seconds, "s");
  rmSync(project, { recursive: true });
}
report("makespan over the bound, median", median(ratios), "x", 1.05);

/** Seconds per phase, from the archived journal. */
function took(project: string): Map<string, number> {
  const archive = join(project, ".gemini", "state", "archive");
  const journal = readdirSync(archive).find((name) => name.endsWith(".jsonl")) ?? "";
  const events = readFileSync(join(archive, journal), "utf8").trim().split("\n");
  const finished = events.map((line) => JSON.parse(line)).filter(({ type }) => type === "attempt.finished");
  return new Map(finished.map(({ phase, duration_ms }) => [phase, duration_ms / 1000]));
}

// Measures the engine's overhead per phase, durability on, compared with `make -j` over the same graph with the same command.
// Interleaved rounds; both run the same stand-in for an agent.

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median, report } from "./support/measure.ts";
import { dice, makeProject, randomGraph, runPlan } from "./support/workload.ts";

const PHASES = 500;
const SLOTS = 8;
const ROUNDS = 5;

if (spawnSync("make", ["--version"]).status !== 0) {
  console.log("  skipped: make is not installed");
  process.exit(0);
}

const engine: number[] = [];
const make: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const phases = randomGraph(PHASES, () => 1, dice(round + 1));
  const project = makeProject(phases, "cat >/dev/null");
  mkdirSync(join(project, "out"));
  writeFileSync(join(project, "prompt"), "x".repeat(8000));
  const rules = phases.map(
    ({ id, blocked_by }) => `${id}: ${blocked_by.join(" ")}\n\t@bin/gemini <prompt >out/${id}.json 2>out/${id}.log\n`,
  );
  const ids = phases.map(({ id }) => id).join(" ");
  writeFileSync(join(project, "Makefile"), `all: ${ids}\n.PHONY: all ${ids}\n${rules.join("")}`);
  const started = performance.now();
  const { status } = spawnSync("make", [`-j${SLOTS}`, "all"], { cwd: project });
  make.push((performance.now() - started) / PHASES);
  if (status !== 0) throw new Error("make failed");
  const run = runPlan(project, ["--max-concurrent", String(SLOTS)]);
  if (run.status !== 0) throw new Error(run.stderr);
  engine.push((run.seconds * 1000) / PHASES);
  rmSync(project, { recursive: true });
}
report("make -j8, per phase", median(make), "ms");
report("maestro run, per phase", median(engine), "ms");
report("ratio of the medians", median(engine) / median(make), "x", 3);

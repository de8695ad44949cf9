// Measures the engine's overhead per phase, durability on, compared with `make -j` over the same graph with the same command, in projects
// with and without other files, outside git and in a repository without isolation. Interleaved rounds: each runs make and every row once.

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { median, report } from "./support/measure.ts";
import {
  addFiles,
  commitAll,
  dice,
  makeProject,
  randomGraph,
  runPlan,
  type WorkPhase,
  writePlan,
} from "./support/workload.ts";

const PHASES = 500;
const SLOTS = 8;
const ROUNDS = 3;
/** No round begins after this time. */
const LONGEST_MS = 100_000;
/** At most so many times what make takes, and in a project with many other files so many times what an empty one takes. */
const MOST_OF_MAKE = 3;
const MOST_OF_EMPTY = 1.5;

const rows = [
  { name: "outside git, no other file", files: 0, git: false },
  { name: "outside git, 1,000 other files", files: 1000, git: false },
  { name: "outside git, 10,000 other files", files: 10_000, git: false },
  { name: "in git with --isolation none, no other file", files: 0, git: true },
  { name: "in git with --isolation none, 1,000 other files", files: 1000, git: true },
  { name: "in git with --isolation none, 10,000 other files", files: 10_000, git: true },
  { name: "outside git, 50,000 other files", files: 50_000, git: false },
] as const;

if (spawnSync("make", ["--version"]).status !== 0) {
  console.log("  skipped: make is not installed");
  process.exit(0);
}

const random = dice(1);
const graphs = Array.from({ length: ROUNDS }, () => randomGraph(PHASES, () => 1, random));
const make: number[] = [];
const engine = new Map(rows.map(({ name }) => [name, [] as number[]]));
// Nothing is deleted before the end: ext4 finds an inode for a new file the slower, the more files were deleted in the last minute.
const projects = rows.map(({ files, git }) => {
  const project = makeProject([], "cat >/dev/null");
  addFiles(project, files);
  if (git) commitAll(project);
  return project;
});
const began = performance.now();
for (const [round, phases] of graphs.entries()) {
  if (performance.now() - began > LONGEST_MS) {
    console.log(`  ends after ${round} of ${ROUNDS} rounds: the machine is too slow for more`);
    break;
  }
  for (const [at, { name, git }] of rows.entries()) {
    const project = projects[at] ?? "";
    writePlan(project, phases);
    // Measured beside every row, so that a busy machine slows both alike.
    make.push(runMake(project, phases, round));
    const isolation = git ? ["--isolation", "none"] : [];
    const run = runPlan(project, ["--max-concurrent", String(SLOTS), ...isolation], [], `${project}-state-${round}`);
    if (run.status !== 0) throw new Error(run.stderr);
    engine.get(name)?.push((run.seconds * 1000) / PHASES);
  }
}
for (const project of projects) {
  for (const path of [project, ...besides(project)]) rmSync(path, { recursive: true, force: true });
}
const usual = median(make);
const empty = median(engine.get(rows[0].name) ?? []);
report("make -j8, per phase", usual, "ms");
for (const { name } of rows) report(`${name}, per phase`, median(engine.get(name) ?? []), "ms");
for (const { name, files } of rows) {
  const taken = median(engine.get(name) ?? []);
  if (files <= 10_000) report(`${name}: ratio to make`, taken / usual, "x", MOST_OF_MAKE);
  else report(`${name}: ratio to no other file`, taken / empty, "x", MOST_OF_EMPTY);
}

function besides(project: string): string[] {
  return graphs.flatMap((_, round) => [`${project}-make-${round}`, `${project}-state-${round}`]);
}

/** Milliseconds per phase. Its files are outside the project, so that they are not part of it. */
function runMake(project: string, phases: readonly WorkPhase[], round: number): number {
  const place = `${project}-make-${round}`;
  mkdirSync(join(place, "out"), { recursive: true });
  writeFileSync(join(place, "prompt"), "x".repeat(8000));
  const rules = phases.map(({ id, blocked_by }) => {
    const command = `${join(project, "bin", "gemini")} <prompt >out/${id}.json 2>out/${id}.log`;
    return `${id}: ${blocked_by.join(" ")}\n\t@${command}\n`;
  });
  const ids = phases.map(({ id }) => id).join(" ");
  writeFileSync(join(place, "Makefile"), `all: ${ids}\n.PHONY: all ${ids}\n${rules.join("")}`);
  const started = performance.now();
  const { status } = spawnSync("make", [`-j${SLOTS}`, "all"], { cwd: place });
  const taken = (performance.now() - started) / phases.length;
  if (status !== 0) throw new Error("make failed");
  return taken;
}

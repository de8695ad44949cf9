// Measures how long the user waits for a command: the whole process, compared with a bare `node -e 0` that ran just before it; median ratios.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, report } from "./support/measure.ts";

const ROUNDS = 21;
const maestro = join(process.cwd(), "dist", "maestro.js");
const project = mkdtempSync(join(tmpdir(), "maestro-bench-"));
cpSync(join(process.cwd(), "examples", "task-api-impl-plan.md"), join(project, "plan.md"));

const commands: [args: string[], limit: number][] = [
  [["--version"], 3],
  [["session", "--help"], 3],
  [["guard", "check", "npm test"], 5],
  [["status"], 5],
  [["session", "note", "a note"], 6],
  [["validate", "plan.md"], 7],
];

/** The programs use Node's compile cache where it exists; the benchmark also measures them without it. */
const hasCache = "enableCompileCache" in nodeModule;
const uncached = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };

function run(args: string[], env = process.env): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: project, env });
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  return performance.now() - began;
}

run([maestro, "session", "create", "plan.md", "--mode", "sequential"]);
const ratios = commands.map(() => [] as number[]);
const without = commands.map(() => [] as number[]);
for (const [args] of commands) run([maestro, ...args]);
for (let round = 0; round < ROUNDS; round++) {
  commands.forEach(([args], index) => {
    const bare = run(["-e", "0"]);
    ratios[index]?.push(run([maestro, ...args]) / bare);
    if (hasCache) without[index]?.push(run([maestro, ...args], uncached) / bare);
  });
}
console.log(`  Node ${process.versions.node}`);
commands.forEach(([args, limit], index) => {
  report(`maestro ${args.join(" ")}`, median(ratios[index] ?? []), "x", limit);
  if (hasCache) report("  without the compile cache", median(without[index] ?? []), "x");
});
rmSync(project, { recursive: true });

// Creates a project with a plan and a stand-in for gemini, and runs the built command in it.

import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const maestro = join(process.cwd(), "dist", "maestro.js");

export interface WorkPhase {
  id: string;
  blocked_by: string[];
  /** Duration in seconds, given to the agent and to the scheduler. */
  seconds: number;
}

/** Phases in a random graph: each depends on up to three of the twenty before it. */
export function randomGraph(count: number, seconds: () => number, random: () => number): WorkPhase[] {
  return Array.from({ length: count }, (_, at) => {
    const waits = Array.from({ length: Math.floor(random() * 4) }, () => at - 1 - Math.floor(random() * 20));
    const blocked_by = [...new Set(waits.filter((one) => one >= 0))].map((one) => `p${one}`);
    return { id: `p${at}`, blocked_by, seconds: seconds() };
  });
}

/** A seeded random number generator. */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The longest chain and the total work, in seconds. */
export function boundsOf(phases: readonly WorkPhase[]): { chain: number; work: number } {
  const ends = new Map<string, number>();
  for (const { id, blocked_by, seconds } of phases) {
    ends.set(id, Math.max(0, ...blocked_by.map((one) => ends.get(one) ?? 0)) + seconds);
  }
  return { chain: Math.max(...ends.values()), work: phases.reduce((sum, phase) => sum + phase.seconds, 0) };
}

const answer = JSON.stringify({
  session_id: "bench",
  response:
    "## Task Report\n- Status: success\n- Files Created: none\n- Files Modified: none\n- Files Deleted: none\n- Summary: done\n\n## Downstream Context\n- Warnings: none\n",
});

/** `body`: the shell script that the stand-in runs before it answers; it may use $MAESTRO_PHASE. */
export function makeProject(phases: readonly WorkPhase[], body: string): string {
  const project = mkdtempSync(join(tmpdir(), "maestro-bench-"));
  mkdirSync(join(project, "bin"));
  const script = `#!/bin/sh\n${body}\ncat <<'END'\n${answer}\nEND\n`;
  writeFileSync(join(project, "bin", "gemini"), script);
  chmodSync(join(project, "bin", "gemini"), 0o755);
  writePlan(project, phases);
  return project;
}

export function writePlan(project: string, phases: readonly WorkPhase[]): void {
  const plan = {
    title: "Bench",
    phases: phases.map(({ id, blocked_by, seconds }) => ({
      id,
      title: `Phase ${id}`,
      agent: "coder",
      description: "Work.",
      validation_criteria: ["it works"],
      blocked_by,
      estimate: { minutes: seconds },
    })),
  };
  writeFileSync(join(project, "plan.md"), `---\n${JSON.stringify(plan)}\n---\n`);
}

/** Adds files that no phase touches, fifty to a directory. */
export function addFiles(project: string, count: number): void {
  for (let at = 0; at < count; at++) {
    const directory = join(project, "lib", String(Math.floor(at / 50)));
    if (at % 50 === 0) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `${at}.txt`), "x\n");
  }
}

export function commitAll(project: string): void {
  const identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"];
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    [...identity, "commit", "-q", "-m", "bench"],
  ]) {
    const { status, stderr } = spawnSync("git", args, { cwd: project, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  }
}

export interface Measured {
  seconds: number;
  status: number | null;
  stderr: string;
}

/** Runs `maestro run` in the project and measures the wall time of the whole command. */
export function runPlan(
  project: string,
  args: readonly string[],
  nodeArgs: readonly string[] = [],
  stateDir = ".gemini",
): Measured {
  // Not the project: what Maestro keeps for the user does not belong to it.
  const home = `${project}-home`;
  mkdirSync(home);
  const env = {
    HOME: home,
    PATH: [join(project, "bin"), process.env.PATH].join(delimiter),
    MAESTRO_STAGGER_DELAY: "0",
    MAESTRO_STATE_DIR: stateDir,
  };
  const before = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    [...nodeArgs, maestro, "run", "plan.md", "--mode", "parallel", ...args],
    { cwd: project, env, encoding: "utf8", maxBuffer: 1 << 28 },
  );
  const seconds = (performance.now() - before) / 1000;
  rmSync(home, { recursive: true });
  return { seconds, status, stderr };
}

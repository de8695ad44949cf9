// Batches of a dispatch with the stand-in for gemini on the PATH: a project for each test, prompts, and what the dispatch left.

import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test as base } from "vitest";
import { maestro } from "./processes.ts";
import { type Project, type Run, root, withProject } from "./project.ts";
import { StandIn } from "./stand-in.ts";

export type Steps = [name: string, argument?: unknown][];

const agentNames = readdirSync(join(root, "agents")).map((file) => file.replace(".md", ""));
export const available = `  Available agents: ${agentNames.sort().join(", ")}`;
export const header = (project: Project, at = project.path) =>
  `PROJECT ROOT: ${at}\nAll file paths in this task are relative to this directory. When using write_file,\nreplace, or read_file, construct absolute paths by prepending this root. When\nusing run_shell_command, execute from this directory.\n\n`;

/** Every test has a project of its own, whose `gemini` is the stand-in. */
export const test = base.extend<{ project: Project; agent: StandIn }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures this one needs.
  project: ({}, use) => withProject(use),
  agent: ({ project }, use) => use(new StandIn(project)),
});

export const prompt = (project: Project, name: string, text: string | Uint8Array) =>
  project.write(`batch/prompts/${name}.txt`, text);

export const play = (steps: Steps, task = "Work.") => `${task}\nPLAY ${JSON.stringify({ "*": steps })}`;

export function batchOf(project: Project, agents: Record<string, Steps>): void {
  for (const [name, steps] of Object.entries(agents)) prompt(project, name, play(steps));
}

/** A `gemini` that is a line of shell. */
export function shellGemini(project: Project, line: string): void {
  chmodSync(project.write(".bin/gemini", `#!/bin/sh\n${line}\n`), 0o755);
}

export const dispatch = (project: Project, env: Record<string, string>, ...args: string[]) =>
  maestro(project, ["dispatch", "batch", ...args], env);

export const result = (project: Project, file: string) => project.read(`batch/results/${file}`);
export const summaryOf = (project: Project) => JSON.parse(result(project, "summary.json"));
export const codesOf = (project: Project): Record<string, number> =>
  Object.fromEntries(
    summaryOf(project).agents.map((one: { name: string; exit_code: number }) => [one.name, one.exit_code]),
  );
export const stackOf = (run: Run) => run.stderr.split("\n").filter((line) => /^\s+at /.test(line));
export const startOf = (agent: StandIn, name: string) => agent.notes("start").find((note) => note.agent === name);

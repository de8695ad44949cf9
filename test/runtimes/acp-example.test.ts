// The example agent of the protocol's own SDK plays phases. It reads, asks for permission to change /home/user/project/config.json, and says
// what it was answered; a program of the tests adds the Task Report that it does not write.

import { chmodSync, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { exampleAgent } from "../../tools/runtimes.js";
import { journalOf, maestro, processesOf, withProcesses } from "../support/processes.ts";
import { type PhaseSpec, type Project, planPath, planText, programPath } from "../support/project.ts";

const LIMIT_MS = 60_000;

async function playExample(project: Project, phase: Partial<PhaseSpec>, words: string[] = []) {
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${programPath("acp-reporter")}' '${process.execPath}' '${exampleAgent}'\n`;
  chmodSync(project.write(".bin/example-agent", launcher), 0o755);
  project.write(planPath, planText([{ id: 1, ...phase }]));
  const env = {
    PATH: [join(project.path, ".bin"), process.env.PATH].join(delimiter),
    ...{ MAESTRO_EXECUTION_MODE: "sequential", MAESTRO_STAGGER_DELAY: "0", MAESTRO_MAX_RETRIES: "0" },
  };
  const common = ["--runtime", "acp:example-agent", "--isolation", "none", "--keep-open", "--grace", "1s"];
  const run = await maestro(project, ["run", planPath, ...common, ...words], env);
  expect(run.code, run.stderr).toBe(0);
  expect(journalOf(project).filter(({ type }) => type === "attempt.finished")).toMatchObject([{ outcome: "success" }]);
  expect(processesOf(project)).toEqual([]);
  return (await maestro(project, ["logs", "1"], env)).stdout;
}

test("the example agent completes a phase, and may change nothing outside of its directory", {
  timeout: LIMIT_MS,
}, async () => {
  expect(existsSync(exampleAgent)).toBe(true);
  const log = await withProcesses((project) => playExample(project, {}));
  expect(log).toContain("> read /project/README.md");
  expect(log).toContain("/home/user/project/config.json is outside the agent's directory");
  expect(log).toContain("I understand you prefer not to make that change.");
});

test("a permission outside of its tier is refused", { timeout: LIMIT_MS }, async () => {
  const log = await withProcesses((project) => playExample(project, { agent: "architect" }, ["--allow-unheld"]));
  expect(log).toContain("an agent of the tier read-only must not change files");
  expect(log).toContain("I'll skip the configuration update.");
});

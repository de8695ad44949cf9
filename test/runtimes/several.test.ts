// Several real programs in one run, with a scripted model for all of them: one takes over from another, and three work beside each other.

import { delimiter } from "node:path";
import { expect, test } from "vitest";
import { initRepository } from "../support/empty-repository.ts";
import { allGone, journalOf, maestro, processesOf } from "../support/processes.ts";
import { type PhaseSpec, Project, planPath, planText } from "../support/project.ts";
import { claude, codex, gemini } from "./support/described.ts";
import { environmentOf, type RealRuntime, removeAll } from "./support/real-runtime.ts";
import { type Reply, startScripted } from "./support/scripted.ts";
import type { Heard } from "./support/wire.ts";

const LIMIT_MS = 240_000;
const three: readonly RealRuntime[] = [gemini, claude, codex];

const report = (created: string) => `## Task Report
- Status: success
- Files Created: ${created}
- Files Modified: none
- Files Deleted: none
- Validation: pass
- Summary: Done

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

/** Runs a plan in a repository with all three on PATH. */
async function inProject(
  phases: PhaseSpec[],
  script: (heard: Heard) => Reply,
  words: string[],
  check: (project: Project, env: Record<string, string>) => Promise<void>,
): Promise<void> {
  const project = new Project();
  const model = await startScripted(script);
  try {
    initRepository(project.path);
    project.write("seed.txt", "from the seed\n");
    project.write(".gitignore", ".gemini\n");
    for (const args of [
      ["add", "-A"],
      ["commit", "-qm", "begin"],
    ]) {
      expect(project.run("git", args).code).toBe(0);
    }
    project.write(planPath, planText(phases));
    const all = three.map((one) => environmentOf(one, project, model.url));
    const env = {
      ...Object.assign({}, ...all),
      PATH: all.map(({ PATH = "" }) => PATH).join(delimiter),
      MAESTRO_STAGGER_DELAY: "0",
      MAESTRO_MAX_RETRIES: "0",
    };
    const passed = three.flatMap((one) => Object.keys(one.passed?.(model.url) ?? {}));
    const pass = passed.length === 0 ? [] : ["--pass-env", passed.join(",")];
    const common = ["--mode", "parallel", "--yes", "--keep-open", "--grace", "2s", "--timeout", "100s", ...pass];
    const run = await maestro(project, ["run", planPath, ...common, ...words], env);
    expect(run.code, `${run.stdout}\n${run.stderr}`).toBe(0);
    await check(project, env);
    await allGone(project);
  } finally {
    for (const { pid } of processesOf(project)) process.kill(pid, "SIGKILL");
    await model.close();
    removeAll(project);
  }
}

const started = (project: Project) =>
  journalOf(project)
    .filter(({ type }) => type === "attempt.started")
    .map(({ phase, runtime, instead_of, model }) => ({ phase, runtime, instead_of, model }));

test(
  "Claude Code finishes what Gemini CLI has no quota for; journal and report say so, and no retry is counted",
  {
    timeout: LIMIT_MS,
  },
  () =>
    inProject(
      [{ id: "work", files_created: ["copy.txt"] }],
      ({ model, results, tools }) => {
        if (model.startsWith("gemini"))
          return { status: 429, message: "Quota exceeded, retry in 600s", retryAfter: 600 };
        return results.length === 0
          ? { call: claude.shell("cp seed.txt copy.txt", tools) }
          : { text: report("copy.txt") };
      },
      ["--model", gemini.model, "--quota-wait", "1s", "--fallback", "claude"],
      async (project, env) => {
        expect(started(project)).toEqual([
          { phase: "work", runtime: "gemini", instead_of: undefined, model: gemini.model },
          { phase: "work", runtime: "claude", instead_of: "gemini", model: null },
        ]);
        expect(project.read("copy.txt")).toBe("from the seed\n");
        const told = await maestro(project, ["report", "--json"], env);
        expect(JSON.parse(told.stdout).phases[0]).toMatchObject({
          ...{ status: "completed", retries: 0 },
          runtimes: [{ runtime: "gemini" }, { runtime: "claude", instead_of: "gemini" }],
        });
        const shown = await maestro(project, ["report"], env);
        expect(shown.stdout).toContain("- phase work: gemini, then claude instead of gemini");
      },
    ),
);

test("three programs work at once, each in its worktree, and their work is merged", { timeout: LIMIT_MS }, () =>
  inProject(
    three.map(({ name, model }) => ({
      ...{ id: name, runtime: name, model, description: `Do the work of case-${name}-case.` },
      files_created: [`by-${name}.txt`],
    })),
    ({ said, results, tools }) => {
      const one = three.find(({ name }) => said.includes(`case-${name}-case`));
      if (one === undefined) return { text: "nothing" };
      const file = `by-${one.name}.txt`;
      return results.length === 0 ? { call: one.shell(`cp seed.txt ${file}`, tools) } : { text: report(file) };
    },
    ["--isolation", "worktree"],
    async (project) => {
      const events = journalOf(project);
      const at = (type: string) => events.flatMap((event, place) => (event.type === type ? [place] : []));
      // All had started before the first one ended.
      expect(Math.max(...at("attempt.started"))).toBeLessThan(Math.min(...at("attempt.finished")));
      expect(at("phase.integrated")).toHaveLength(3);
      for (const { name } of three) expect(project.read(`by-${name}.txt`)).toBe("from the seed\n");
      const places = events.filter(({ type }) => type === "attempt.placed").map(({ worktree }) => worktree);
      expect(new Set(places).size).toBe(3);
    },
  ),
);

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { planText } from "../../../test/support/project.ts";
import { approvePlan, settingsOf } from "../context.ts";
import type { Io } from "../io.ts";
import { chosenRuntimes } from "../runtimes/cast.ts";
import { dryRun } from "./dry-run.ts";
import { type EngineFlags, engineSettings } from "./engine-options.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "maestro-dry-run-"));
  writeFileSync(join(project, "plan.md"), planText([{ id: 1, files_created: ["a.ts"] }]));
});
afterEach(() => rmSync(project, { recursive: true }));

async function outputOf(flags: EngineFlags, isolation = "none"): Promise<string> {
  let out = "";
  const env = { HOME: project, PATH: "", MAESTRO_WORKTREE_SETUP: "npm ci" };
  const io = { cwd: project, env, out: (text: string) => (out += text), err: () => undefined } as unknown as Io;
  const settings = settingsOf(io);
  const approved = await approvePlan(io, settings, "plan.md");
  const chosen = chosenRuntimes(io, settings, approved.plan.phases, flags);
  const intended = { flags, engine: engineSettings(settings, flags), chosen };
  expect(dryRun(io, settings, approved, { ...intended, isolation, workers: null })).toBe(0);
  return out;
}

test("a dry run shows how attempts would be isolated", async () => {
  expect(await outputOf({}, "a worktree for each attempt")).toMatch(
    /^Mode .*\nIsolation: a worktree for each attempt\n/m,
  );
});

test("a dry run with --json has the isolation fields beside the limits, not inside them", async () => {
  const answer = JSON.parse(await outputOf({ json: true, ownership: "warn", sandbox: true }, "none"));
  expect(answer).toMatchObject({ isolation: "none", ownership: "warn", sandbox: true, setup: "npm ci" });
  expect(answer.limits).toMatchObject({ slots: 0, timeoutMs: 600_000, passEnv: [] });
  for (const name of ["isolation", "ownership", "sandbox", "setup"]) expect(answer.limits).not.toHaveProperty(name);
});

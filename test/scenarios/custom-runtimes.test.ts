// A runtime that a file describes plays an agent: the example of docs/runtimes.md, and what of a project needs consent.

import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { NEEDS_A_PERSON } from "../../src/exit-codes.ts";
import { commandLine } from "../support/command-line.ts";
import { journalOf, maestro, TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { type Project, planPath, planText, root } from "../support/project.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const page = readFileSync(join(root, "docs", "runtimes.md"), "utf8");
/** The code block of the page below the line that names its file. */
const exampleOf = (file: string) =>
  new RegExp(`^\`${file.replace(/\W/g, "\\$&")}\`:\\n\\n\`\`\`\\w+\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? "";
const description = exampleOf("~/.config/maestro/runtimes/greeter.json");
const script = exampleOf("~/.config/maestro/runtimes/greeter.sh");
const env = { MAESTRO_EXECUTION_MODE: "sequential", MAESTRO_STAGGER_DELAY: "0", GREETER_KEY: "a-key-of-the-example" };
const words = ["run", planPath, "--grace", "300ms", "--isolation", "none"];

function plan(project: Project): void {
  project.write(planPath, planText([{ id: 1, description: "Greet.", files_created: ["greeting.txt"] }]));
}

function describeIn(project: Project, folder: string): void {
  project.write(`${folder}/greeter.json`, description);
  chmodSync(project.write(`${folder}/greeter.sh`, script), 0o755);
}

test.concurrent("the example of the documentation plays an agent", () =>
  withProcesses(async (project) => {
    plan(project);
    describeIn(project, ".home/.config/maestro/runtimes");
    const run = await maestro(project, [...words, "--runtime", "greeter"], env);
    expect(run.code, run.stderr).toBe(0);
    expect(readFileSync(join(project.path, "greeting.txt"), "utf8")).toMatch(/^Hello/);
    const [end] = journalOf(project).filter(({ type }) => type === "attempt.finished");
    expect(end).toMatchObject({ outcome: "success", usage: [{ model: "greeter-1", output: 12 }] });
    const { stdout } = await commandLine(project, ["logs", "1", "--session", "2026-02-14-task-api"]);
    expect(stdout).toContain("> write_file greeting.txt");
  }));

test.concurrent("a runtime of the project is used only with consent", () =>
  withProcesses(async (project) => {
    plan(project);
    describeIn(project, ".maestro/runtimes");
    const chosen = { ...env, MAESTRO_RUNTIMES: "coder=greeter" };
    const refused = await maestro(project, words, chosen);
    expect(refused.code).toBe(NEEDS_A_PERSON);
    expect(refused.stderr).toContain("greeter (.maestro/runtimes/greeter.json)");
    expect(refused.stderr).toContain("pass --accept-runtimes");
    const run = await maestro(project, [...words, "--accept-runtimes"], chosen);
    expect(run.code, run.stderr).toBe(0);
  }));

test.concurrent("before a runtime of the project is used, the user sees which variables it gets and sets", () =>
  withProcesses(async (project) => {
    plan(project);
    describeIn(project, ".maestro/runtimes");
    const greedy = {
      ...JSON.parse(description),
      credentials: ["DEPLOY_KEY"],
      environment: { LD_PRELOAD: "./hook.so" },
    };
    project.write(".maestro/runtimes/greeter.json", JSON.stringify(greedy));
    const refused = await maestro(project, [...words, "--runtime", "greeter"], env);
    expect(refused.code).toBe(NEEDS_A_PERSON);
    expect(refused.stderr).toContain("gets your DEPLOY_KEY");
    expect(refused.stderr).toContain("sets LD_PRELOAD=./hook.so");
  }));

test.concurrent("a described runtime takes over from a program that is missing", () =>
  withProcesses(async (project) => {
    plan(project);
    describeIn(project, ".home/.config/maestro/runtimes");
    const run = await maestro(project, [...words, "--runtime", "acp:not-there --acp", "--fallback", "greeter"], env);
    expect(run.code, run.stderr).toBe(0);
    const [start] = journalOf(project).filter(({ type }) => type === "attempt.started");
    expect(start).toMatchObject({ runtime: "greeter", instead_of: "acp:not-there --acp" });
  }));

test.concurrent("the error about an unknown runtime says what is wrong in the files", () =>
  withProcesses(async (project) => {
    plan(project);
    project.write(".home/.config/maestro/runtimes/broken.json", JSON.stringify({ name: "broken", colour: 1 }));
    const run = await maestro(project, [...words, "--runtime", "broken"], env);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("broken.json: colour must be left out: it is not a known field");
    expect(run.stderr).toContain("broken.json: program must be a path");
  }));

test.concurrent("is shown with what it can enforce, and checked with a small task only on request", () =>
  withProcesses(async (project) => {
    describeIn(project, ".home/.config/maestro/runtimes");
    const shown = await maestro(project, ["runtimes", "greeter"], env);
    expect(shown).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("known limit: always writes greeting.txt"),
    });
    expect(shown.stdout).toContain("signed in (GREETER_KEY)");
    expect(shown.stdout).not.toContain("check");
    const passed = await maestro(project, ["runtimes", "greeter", "--check"], env);
    expect(passed).toMatchObject({ code: 0, stdout: expect.stringContaining("check passed: it did a small task") });
    const { GREETER_KEY: _, ...withoutKey } = env;
    const failed = await maestro(project, ["runtimes", "greeter", "--check", "--json"], withoutKey);
    const [one] = JSON.parse(failed.stdout).runtimes;
    expect([failed.code, one.check.state, one.check.reason]).toEqual([1, "failed", expect.stringContaining("sign in")]);
    expect(project.list().filter((name) => !name.startsWith(".home"))).toEqual([]);
  }));

test.concurrent("a check is of the program that was named, whatever the settings say about runs", () =>
  withProcesses(async (project) => {
    describeIn(project, ".home/.config/maestro/runtimes");
    const twin = { ...JSON.parse(description), name: "twin", environment: { GREETER_KEY: "x" } };
    project.write(".home/.config/maestro/runtimes/twin.json", JSON.stringify(twin));
    const { GREETER_KEY: _, ...withoutKey } = env;
    const forRuns = { ...withoutKey, MAESTRO_RUNTIMES: "coder=twin", MAESTRO_SANDBOX: "true" };
    const failed = await maestro(project, ["runtimes", "greeter", "--check"], forRuns);
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringContaining("check FAILED: greeter could not sign in"),
    ]);
    const others = { ...forRuns, MAESTRO_RUNTIMES: "*=greeter" };
    expect(await maestro(project, ["runtimes", "twin", "--check"], others)).toMatchObject({ code: 0 });
  }));

test.concurrent("a check fails for a program that is named and not installed, and not for one that is not named", () =>
  withProcesses(async (project) => {
    const nothing = { ...env, PATH: "/nowhere" };
    const named = await maestro(project, ["runtimes", "pi", "--check"], nothing);
    expect([named.code, named.stdout]).toEqual([1, expect.stringContaining("check not checked: it is not installed")]);
    expect((await maestro(project, ["runtimes", "--check"], nothing)).code).toBe(0);
  }));

test.concurrent("a runtime without a sign-in is replaced by the next one, and no retry is counted", () =>
  withProcesses(async (project) => {
    plan(project);
    describeIn(project, ".home/.config/maestro/runtimes");
    const twin = {
      ...JSON.parse(description),
      name: "twin",
      credentials: ["TWIN_KEY"],
      environment: { GREETER_KEY: "x" },
    };
    project.write(".home/.config/maestro/runtimes/twin.json", JSON.stringify(twin));
    const { GREETER_KEY: _, ...withoutKey } = env;
    const chosen = { ...withoutKey, MAESTRO_MAX_RETRIES: "0" };
    const run = await maestro(project, [...words, "--keep-open", "--runtime", "greeter", "--fallback", "twin"], chosen);
    expect(run.code, run.stderr).toBe(0);
    expect(`${run.stdout}${run.stderr}`).toMatch(/interrupted after .*\(attempt 1\): greeter could not sign in/);
    expect(`${run.stdout}${run.stderr}`).toContain("started with twin instead of greeter (attempt 2)");
    const { stdout } = await commandLine(project, ["report", "--json"]);
    expect(JSON.parse(stdout).phases[0]).toMatchObject({
      ...{ status: "completed", retries: 0 },
      runtimes: [{ runtime: "greeter" }, { runtime: "twin", instead_of: "greeter" }],
    });
  }));

test.concurrent("no more processes of a runtime run at once than it is limited to", () =>
  withProcesses(async (project) => {
    const phases = ["a", "b", "c"].map((id) => ({ id, description: "Greet.", files_created: [`${id}.txt`] }));
    project.write(planPath, planText(phases));
    const own = { ...JSON.parse(description), at_once: 1 };
    project.write(".home/.config/maestro/runtimes/greeter.json", JSON.stringify(own));
    const inOwnFile = script
      .replaceAll("greeting.txt", "$MAESTRO_PHASE.txt")
      .replace('path":"$MAESTRO_PHASE', 'path":"any');
    const named = inOwnFile.replace("`$MAESTRO_PHASE.txt`", "`'\"$MAESTRO_PHASE\"'.txt`");
    chmodSync(project.write(".home/.config/maestro/runtimes/greeter.sh", named), 0o755);
    const run = await maestro(project, [...words, "--runtime", "greeter", "--mode", "parallel"], env);
    expect(run.code, run.stderr).toBe(0);
    const steps = journalOf(project).filter(({ type }) => /^attempt\.(?:started|finished)$/.test(String(type)));
    expect(steps.map(({ type }) => type)).toEqual(
      ["a", "b", "c"].flatMap(() => ["attempt.started", "attempt.finished"]),
    );
  }));

// The user changes something when a failed phase is retried: the guidance, the agent, the time limit or the criteria.

import { afterEach, describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import {
  delegated,
  finished,
  handBack,
  invoke,
  move,
  report,
  Shelf,
  sessionProject,
  succeed,
} from "../support/hooks.ts";
import { withServer } from "../support/mcp.ts";
import { hasTerminal, onTerminal } from "../support/on-terminal.ts";
import { background, journalOf, TEST_TIMEOUT_MS, until, withProcesses } from "../support/processes.ts";
import { type PhaseSpec, type Project, planPath } from "../support/project.ts";
import { played, prepare, type Steps } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const quick = ["--grace", "300ms"];
const heading = "# Guidance from the user\n";
const journal = ".gemini/state/progress.jsonl";

/** A session in which phase 1 has failed for good; its agent fails only once. */
async function failed(project: Project, over: Partial<PhaseSpec> = {}, env: Record<string, string> = {}) {
  const files = (over.files_created ?? []).map((path): Steps[number] => ["write", [path, "made\n"]]);
  const agent = prepare(project, [played(1, [["exit", 1]], over, files)]);
  const all = agent.env({ MAESTRO_MAX_RETRIES: "0", ...env });
  const run = await commandLine(project, ["run", planPath, ...quick], { env: all });
  expect(run.code, run.stderr).toBe(4);
  return { agent, env: all };
}

const promptOf = (project: Project, name: string) =>
  project.read(`.gemini/parallel/2026-02-14-task-api/prompts/${name}.txt`);
const retryOf = (project: Project) =>
  journalOf(project).find(({ type, user_decision }) => type === "phase.moved" && user_decision === true);

describe("record A4: a retry that the user decides", () => {
  test.concurrent("puts guidance and reason into the next prompt under a heading of their own (L168, M172)", () =>
    withProcesses(async (project) => {
      const { agent, env } = await failed(project);
      const words = ["--guidance", "Change only src/parse.ts.\nKeep the API.", "--reason", "the lexer is right"];
      const retry = await commandLine(project, ["retry", "1", ...words], { env: env });
      expect(retry.code, retry.stderr).toBe(0);
      expect(retryOf(project)).toMatchObject({
        guidance: "Change only src/parse.ts.\nKeep the API.",
        reason: "the lexer is right",
      });
      const run = await commandLine(project, ["resume", ...quick], { env: env });
      expect(run.code, run.stderr).toBe(0);
      const prompt = promptOf(project, "coder.p1-2");
      expect(prompt.match(/# Guidance from the user/g)).toHaveLength(1);
      const guidance = prompt.slice(prompt.indexOf(heading), prompt.indexOf("# Previous attempts"));
      expect(guidance).toContain("\n\nChange only src/parse.ts.\nKeep the API.\n\n");
      expect(guidance).toContain("the lexer is right");
      expect(promptOf(project, "coder.p1-1")).not.toContain(heading);
      expect(agent.notes("start").map(({ attempt }) => attempt)).toEqual([1, 2]);
    }));

  test.concurrent("has no guidance in its prompt when the user said nothing", () =>
    withProcesses(async (project) => {
      const { env } = await failed(project);
      const run = await commandLine(project, ["resume", "--yes", ...quick], { env: env });
      expect(run.code, run.stderr).toBe(0);
      expect(promptOf(project, "coder.p1-2")).not.toContain(heading);
      expect(promptOf(project, "coder.p1-2")).not.toContain("resume --yes");
    }));

  test.concurrent("gives the phase to another agent, with a model, a limit and criteria; the plan file stays (L168, M172)", () =>
    withProcesses(async (project) => {
      const { agent, env } = await failed(project, { files_created: ["src/a.ts"] });
      const plan = project.read(planPath);
      const changes = ["--agent", "Tester", "--model", "gemini-9", "--timeout", "21m"];
      const criteria = ["--criteria", "one route answers", "--criteria", "it compiles"];
      const retry = await commandLine(project, ["retry", "1", ...changes, ...criteria], { env: env });
      expect(retry.code, retry.stderr).toBe(0);
      expect(retryOf(project)).toMatchObject({
        agent: "tester",
        model: "gemini-9",
        timeout_ms: 1_260_000,
        criteria: ["one route answers", "it compiles"],
      });
      expect(status(project).phases).toMatchObject([{ agents: ["tester"], model: "gemini-9" }]);
      const run = await commandLine(project, ["resume", ...quick, "--keep-open"], { env: env });
      expect(run.code, run.stderr).toBe(0);
      const second = agent.notes("start")[1];
      expect(second).toMatchObject({ agent: "tester", phase: "1" });
      expect(second?.argv.join(" ")).toContain("-m gemini-9");
      const prompt = promptOf(project, "tester.p1-2");
      expect(prompt).toContain("# Role: tester\n");
      expect(prompt).toContain("This must be true when you are done:\n- one route answers\n- it compiles\n");
      expect(prompt).not.toContain("- it works");
      expect(journalOf(project).findLast(({ type }) => type === "attempt.started")).toMatchObject({
        agent: "tester",
        name: "tester.p1-2",
        model: "gemini-9",
        timeout_ms: 1_260_000,
      });
      expect(run.stderr).toMatch(/phase 1 tester {2}started \(attempt 2, time limit 21 min 0 s\)/);
      const report = JSON.parse((await commandLine(project, ["report", "--json"], { env: env })).stdout);
      expect(report.phases).toMatchObject([{ agent: "tester", status: "completed" }]);
      expect(project.read(planPath)).toBe(plan);
    }));

  test.concurrent.each([
    ["an agent that does not exist", ["--agent", "coderr"], /"coderr": it is not an agent\n.*Did you mean coder\?/],
    ["a disabled agent", ["--agent", "tester"], /tester: it is disabled by MAESTRO_DISABLED_AGENTS/],
    [
      "an agent that cannot write, for a phase that owns files",
      ["--agent", "architect"],
      /architect: it is read-only and cannot write, and the phase owns files\n.*Agents that can take it: coder, data-engineer, devops-engineer, refactor, technical-writer\.\n/,
    ],
    ["an agent with a shell that cannot write", ["--agent", "debugger"], /debugger: it is read-shell/],
    ["a model that is an option", ["--model=--yolo"], /--model must be the name of a model/],
    ["a limit that is not a duration", ["--timeout", "soon"], /--timeout must be a duration/],
    ["empty guidance", ["--guidance", " "], /--guidance is empty/],
    ["guidance that is too long", ["--guidance", "x".repeat(10_001)], /must not be longer than 10000 characters/],
    ["an empty criterion", ["--criteria", ""], /--criteria is empty/],
  ])("refuses %s, and changes nothing (L168)", (_, words, said) =>
    withProcesses(async (project) => {
      const { env } = await failed(project, { files_created: ["src/a.ts"] }, { MAESTRO_DISABLED_AGENTS: "tester" });
      const before = project.read(journal);
      const run = await commandLine(project, ["retry", "1", ...words], { env: env });
      expect([run.code, run.stderr]).toEqual([2, expect.stringMatching(said)]);
      expect(project.read(journal)).toBe(before);
    }),
  );

  test.concurrent("records no secret and no control character", () =>
    withProcesses(async (project) => {
      const { env } = await failed(project);
      const secret = `ghp_${"a1B2".repeat(9)}`;
      const retry = await commandLine(project, ["retry", "1", "--guidance", `Use ${secret} \u001b[31mnow`], {
        env: env,
      });
      expect(retry.code, retry.stderr).toBe(0);
      expect((await commandLine(project, ["resume", ...quick], { env: env })).code).toBe(0);
      const prompt = promptOf(project, "coder.p1-2");
      expect(prompt).toMatch(/Use \[redacted\] now/);
      for (const text of [JSON.stringify(journalOf(project)), prompt]) {
        expect(text).not.toContain(secret);
        expect(text).not.toContain("\u001b");
      }
    }));

  test.concurrent("is applied by a running engine", () =>
    withProcesses(async (project) => {
      const agent = prepare(project, [played(1, [["await", ".bin/go"]]), played(2, [["exit", 1]])]);
      const env = agent.env({ MAESTRO_MAX_RETRIES: "0" });
      const engine = background(project, ["run", planPath, ...quick], env);
      await until("phase 2 has failed", () => engine.stderr().includes("failed:"));
      const retry = await commandLine(project, ["retry", "2", "--agent", "tester", "--guidance", "Try harder."], {
        env: env,
      });
      expect([retry.code, retry.stdout]).toEqual([0, expect.stringContaining("the running engine applies this")]);
      await until("it is tried again", () => agent.notes("end").some((note) => note.attempt === 2));
      project.write(".bin/go", "");
      const run = await engine.ended;
      expect(run.code, run.stdout).toBe(0);
      expect(promptOf(project, "tester.p2-2")).toContain("\n\nTry harder.\n");
      expect(run.stderr).toContain("to be retried with agent tester, guidance: Try harder.");
    }));

  test.skipIf(!hasTerminal).concurrent("is asked for its changes at a terminal (L168, M172, M177)", () =>
    withProcesses(async (project) => {
      const { env } = await failed(project, { files_created: ["src/a.ts"] });
      const { answer, ended } = onTerminal(project, ["resume", ...quick], env);
      await answer("has this issue been resolved?", "n\r");
      await answer("[1-4, q decide later]", "4\r");
      await answer("Guidance for the next attempts", "Only the parser.\r");
      await answer("Another agent", "architect\r");
      await answer("Another agent", "refactor\r");
      await answer("Another model", "\r");
      await answer("Time limit", "never\r");
      await answer("Time limit", "30m\r");
      await answer("Validation criteria", "it parses\r");
      const { code, shown } = await ended;
      expect(code, shown).toBe(0);
      expect(shown).toContain("architect: it is read-only and cannot write");
      expect(shown.match(/Phase Execution Failed: Phase 1/g)).toHaveLength(1);
      expect(retryOf(project)).toMatchObject({
        agent: "refactor",
        guidance: "Only the parser.",
        timeout_ms: 1_800_000,
        criteria: ["it parses"],
      });
      expect(retryOf(project)).not.toHaveProperty("model");
      expect(promptOf(project, "refactor.p1-2")).toContain("\n\nOnly the parser.\n");
      expect(promptOf(project, "refactor.p1-2")).not.toContain("decided at the terminal");
    }),
  );
});

describe("record A4: a retry of a delegated phase", () => {
  const shelf = new Shelf();
  afterEach(() => shelf.clear());

  const decided = { action: "retry", phase_id: 1, user_decision: true };

  test("takes the changes from maestro_decide, and the hook puts them into the agent's prompt (L168, M172)", async () => {
    const project = shelf.keep(sessionProject([{ id: 1, files_created: ["src/a.ts"] }]));
    const first = delegated(project, "coder", "Phase: 1\nDo it.");
    expect(first).not.toContain(heading);
    handBack(project, "coder", first, finished("coder", report({ status: "failure", summary: "It broke." })));
    await withServer(project, async (client) => {
      const refused = await client.refused("maestro_decide", { ...decided, agent: "architect" });
      expect(refused).toMatchObject({
        error: "usage",
        hint: expect.stringContaining("Agents that can take it: coder"),
      });
      for (const wrong of [{ criteria: [] }, { guidance: "" }, { model: "--yolo" }, { agent: "no one" }]) {
        expect((await client.refused("maestro_decide", { ...decided, ...wrong })).error).toBe("usage");
      }
      const changes = { agent: "refactor", guidance: "Keep the API.", reason: "too broad", criteria: "it compiles" };
      await client.ok("maestro_decide", { ...decided, ...changes, model: "gemini-9", timeout: "20m" });
    });
    expect(retryOf(project)).toMatchObject({
      agent: "refactor",
      guidance: "Keep the API.",
      reason: "too broad",
      model: "gemini-9",
      timeout_ms: 1_200_000,
      criteria: ["it compiles"],
    });
    expect(invoke(project, "coder", "Phase: 1\nDo it.").reason).toContain("belongs to refactor");
    const prompt = delegated(project, "refactor", "Phase: 1\nDo it again.");
    const told = prompt.slice(prompt.indexOf(heading));
    expect(told).toContain("Keep the API.");
    expect(told).toContain("too broad");
    expect(prompt).toMatch(/## Validation\n\nThis must be true when you are done:\n- it compiles\n/);
  });

  test("survives a revision of the plan that keeps the agent of the phase", () => {
    const project = shelf.keep(sessionProject([{ id: 1 }, { id: 2, blocked_by: [1] }]));
    move(project, "1", "in_progress");
    move(project, "1", "failed", "It broke");
    succeed(project, ["retry", "1", "--agent", "tester"]);
    project.write("new.md", project.read(planPath).replace("Work on 2.", "Work on 2, slowly."));
    succeed(project, ["session", "revise", "new.md"]);
    expect(status(project).phases).toMatchObject([{ agents: ["tester"] }, { agents: ["coder"] }]);
  });
});

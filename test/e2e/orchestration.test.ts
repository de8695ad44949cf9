import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { initRepository } from "../support/empty-repository.ts";
import { geminiOnTerminal, haveExtension, type OnTerminal, writeSettings } from "../support/gemini.ts";
import { type Answer, type ModelRequest, type Part, type ScriptedModel, startModel } from "../support/model.ts";
import { allGone, isAlive, until } from "../support/processes.ts";
import { Project } from "../support/project.ts";
import { status } from "../support/status.ts";

const plans = ".gemini/plans";
const slug = "2026-11-18-notes";
const call = (name: string, args: Record<string, unknown> = {}): Part => ({ functionCall: { name, args } });
const tool = (name: string, args: Record<string, unknown> = {}) => call(`mcp_maestro_maestro_${name}`, args);

const design = `---
title: "Notes"
created: "2026-11-18T00:00:00Z"
status: "approved"
requirements:
  - { id: R1, text: "three notes exist" }
---
# Notes
`;
const check = (id: number) => `test -e n${id}.txt`;
const phase = (id: number, blocked_by: number[]) => ({
  ...{ id, title: `Note ${id}`, agent: "coder", description: `Write note ${id}.`, blocked_by, requirements: ["R1"] },
  ...{ validation_criteria: ["it exists"], validation: [check(id)], files_created: [`n${id}.txt`] },
});
const plan = `---\n${JSON.stringify({
  ...{ title: "Notes", design_ref: `${plans}/${slug}-design.md`, created: "2026-11-18T00:00:00Z", status: "draft" },
  ...{ total_phases: 3, phases: [phase(1, []), phase(2, []), phase(3, [1, 2])] },
})}\n---\n# Plan: Notes\n`;
const planPath = `${plans}/${slug}-impl-plan.md`;

/** What a lead does that follows the skills, to the start of the run. */
const start: Part[] = [
  tool("session_read"),
  call("activate_skill", { name: "design-dialogue" }),
  call("write_file", { file_path: `${plans}/${slug}-design.md`, content: design }),
  call("activate_skill", { name: "implementation-planning" }),
  call("write_file", { file_path: planPath, content: plan }),
  tool("validate_plan", { plan_path: planPath }),
  tool("validate_plan", { plan_path: planPath, baseline: true, write: true }),
  tool("session_write", {
    ...{ action: "create", plan_path: planPath, task: "Write three notes", approved: true },
    ...{ execution_mode: "parallel", review: "end" },
  }),
  call("activate_skill", { name: "execution" }),
  tool("run", { mode: "parallel", review: "end" }),
];
const wait = tool("wait", { until: "end", seconds: 120 });
const review: Part[] = [
  call("activate_skill", { name: "code-review" }),
  tool("session_write", { action: "answer_requirement", id: "R1", verdict: "met", evidence: "test -e passed" }),
  call("activate_skill", { name: "session-management" }),
  tool("session_write", { action: "complete", summary: "Three notes." }),
  { text: "All done." },
];

function report(file: string): Part {
  const text = `## Task Report\n- Status: success\n- Files Created: ${file}\n- Files Modified: none\n- Files Deleted: none\n- Validation: pass\n- Summary: done\n\n## Downstream Context\n- Warnings: none\n`;
  return { text };
}

const ANSWER_IS_LOST_MS = 10_000;

/** A project with the extension, and a user who confirms every dialog of the CLI. */
class Orchestration {
  readonly project = new Project();
  /** The requests of the main conversation. */
  readonly leads: ModelRequest[] = [];
  /** The tool of each dialog that the user confirmed. */
  readonly confirmed: string[] = [];
  /** What the dialogs before a baseline showed. */
  readonly baselines: string[] = [];
  /** The lead's steps, one for each request, and the next of them. */
  steps: Part[] = [];
  at = 0;
  /** When the agents get their answers. */
  agentsMayWork: Promise<unknown> = Promise.resolve();
  #model: ScriptedModel | undefined;

  async prepare(): Promise<void> {
    this.#model = await startModel((request) => this.#answer(request));
    await haveExtension(this.project, this.#model.url);
    const folderTrust = { enabled: false };
    // A terminal that is drawn ten times a second takes a fifth of a core.
    const ui = { showSpinner: false };
    writeSettings(this.project, { security: { auth: { selectedType: "gemini-api-key" }, folderTrust }, ui });
    initRepository(this.project.path);
    this.project.write(".gitignore", ".home\n.bin\n.tmp\n.gemini\n");
    this.project.run("git", ["add", "-A"]);
    this.project.run("git", ["commit", "-qm", "begin"]);
  }

  async remove(): Promise<void> {
    await this.#model?.close();
    await allGone(this.project);
    this.project.remove();
  }

  /** Begins a conversation with a command, and lets the lead take these steps. */
  begin(command: string, steps: readonly Part[]): OnTerminal {
    this.steps = [...steps];
    this.at = 0;
    const words = ["-m", "gemini-2.5-flash", "-i", command];
    let last = "";
    let answeredAt = 0;
    return geminiOnTerminal(this.project, this.#model?.url ?? "", words, (shown) => {
      const asked = [...shown.matchAll(/Tool: (maestro_\w+)|│ \? +(\w+)/g)].map(([, own, other]) => own ?? other ?? "");
      if (!shown.includes("Allow once") || asked.length === 0) return undefined;
      // A dialog is drawn again and again, also after its answer: the next one is about another tool, or about a baseline. A second
      // answer at once could be taken for one to the next dialog, which the user has not seen.
      const dialog = `${asked.at(-1)} ${shown.includes('"baseline"')}`;
      if (dialog === last && Date.now() - answeredAt < ANSWER_IS_LOST_MS) return undefined;
      if (dialog !== last) this.confirmed.push(asked.at(-1) ?? "");
      if (shown.includes('"baseline"')) this.baselines.push(shown);
      last = dialog;
      answeredAt = Date.now();
      return "\r";
    });
  }

  async #answer(request: ModelRequest): Promise<Answer> {
    const [, id] = /^Agent: coder\nPhase: (\d)/m.exec(request.texts.join("\n")) ?? [];
    if (id !== undefined) {
      await this.agentsMayWork;
      const file = `n${id}.txt`;
      const isWritten = request.results.includes(file);
      return { parts: [isWritten ? report(file) : call("write_file", { file_path: file, content: "note" })] };
    }
    // At its start the CLI asks for a summary of the conversation before.
    if (!request.texts[0]?.startsWith("<session_context>")) return { parts: [{ text: "Notes" }] };
    this.leads.push(request);
    const { results } = request;
    const isOver = /ended\\+": *\\+"(?:end|decision)/.test(results);
    // A wait whose time was up is repeated.
    if (results.includes('\\"ended\\":') && !isOver) this.at -= 1;
    const part = this.steps[this.at];
    this.at += 1;
    return part === undefined ? { hang: true } : { parts: [part] };
  }
}

async function ended(orchestration: Orchestration, cli: OnTerminal): Promise<void> {
  try {
    await until("the last words are shown", () => cli.shown().includes("All done."), 200_000);
  } catch (error) {
    throw new Error(`step ${orchestration.at}; the screen:\n${cli.shown().slice(-2500)}`, { cause: error });
  } finally {
    cli.kill();
    await cli.ended;
  }
  for (const id of [1, 2, 3]) expect(orchestration.project.read(`n${id}.txt`)).toBe("note");
  expect(orchestration.project.list(".gemini/state/archive")).toContain(`${slug}.md`);
  expect(cli.shown()).not.toContain("CRITICAL");
}

describe("a standard orchestration in the real CLI, with a user who answers its dialogs", () => {
  const orchestration = new Orchestration();
  beforeAll(async () => {
    await orchestration.prepare();
    const { project } = orchestration;
    const home = `${project.path}/.home`;
    const env = { HOME: home, GEMINI_CLI_HOME: home };
    expect((await commandLine(project, ["setup", "--yes"], { env })).code).toBe(0);
  }, 120_000);
  afterAll(() => orchestration.remove(), 30_000);

  test("opens at most 3 dialogs, takes at most 20 requests, and ends with an archived session (C41, C43)", async () => {
    const { confirmed, baselines, leads } = orchestration;
    const cli = orchestration.begin("/maestro:orchestrate Write three notes", [...start, wait, ...review]);
    await ended(orchestration, cli);
    expect(confirmed).toEqual(["maestro_validate_plan", "maestro_run"]);
    // The lead asked for `baseline: true`.
    expect(baselines[0]).toContain(`"baseline":["${check(1)}","${check(2)}"`);
    expect(leads.length).toBeLessThanOrEqual(20);
    const characters = leads.reduce(
      (sum, { system, texts, results }) => sum + system.length + texts.join("").length + results.length,
      0,
    );
    expect(characters / 4).toBeLessThan(500_000);
    expect(leads.some(({ results }) => results.includes("run_shell_command"))).toBe(false);
  }, 450_000);
});

describe("an orchestration without set-up, whose CLI is killed right after maestro_run", () => {
  const orchestration = new Orchestration();
  beforeAll(() => orchestration.prepare(), 120_000);
  afterAll(() => orchestration.remove(), 30_000);

  test("is run to the end by the engine, reported by a new conversation, and archived (C41, C43)", async () => {
    const { project, confirmed, leads } = orchestration;
    let walkAway: () => void = () => undefined;
    orchestration.agentsMayWork = new Promise<void>((resolve) => (walkAway = resolve));
    const first = orchestration.begin("/maestro:orchestrate Write three notes", start);
    await until(
      "the engine has started",
      () => leads.at(-1)?.results.includes('"name":"mcp_maestro_maestro_run"'),
      400_000,
    );
    first.kill();
    await first.ended;
    const { engine } = status(project);
    expect(status(project).phases.map((phase: { status: string }) => phase.status)).not.toContain("completed");
    walkAway();
    await until("the engine is done", () => !isAlive(engine.pid), 200_000);
    const begun = leads.length;
    const second = orchestration.begin("/maestro:resume", [tool("session_read"), ...review]);
    await ended(orchestration, second);
    const told = leads[begun];
    expect(told?.texts.join("\n")).toMatch(/Maestro status:[\s\S]*3 of 3 phases done[\s\S]*Note 3 +coder +completed/);
    // One for each call, since nothing is allowed beforehand.
    const planned = [
      "Activate",
      "WriteFile",
      "Activate",
      "WriteFile",
      "maestro_validate_plan",
      "maestro_validate_plan",
    ];
    const started = ["maestro_session_write", "Activate", "maestro_run"];
    const reviewed = ["Activate", "maestro_session_write", "Activate", "maestro_session_write"];
    const read = "maestro_session_read";
    expect(confirmed).toEqual([read, ...planned, ...started, read, ...reviewed]);
  }, 450_000);
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { geminiOnTerminal, haveExtension, writeSettings } from "../support/gemini.ts";
import { type Answer, type ModelRequest, type Part, type ScriptedModel, startModel } from "../support/model.ts";
import { until } from "../support/processes.ts";
import { Project } from "../support/project.ts";

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

/** What a lead does that follows the skills; it waits until the run is over. */
const lead: Part[] = [
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
  tool("wait", { until: "end", seconds: 120 }),
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

describe("a standard orchestration in the real CLI, with a user who answers its dialogs", () => {
  const project = new Project();
  const leads: ModelRequest[] = [];
  let model: ScriptedModel;
  let at = 0;
  const answer = (request: ModelRequest): Answer => {
    const said = request.texts.join("\n");
    const [, id] = /^Agent: coder\nPhase: (\d)/m.exec(said) ?? [];
    if (id !== undefined) {
      const file = `n${id}.txt`;
      const isWritten = request.results.includes(file);
      return { parts: [isWritten ? report(file) : call("write_file", { file_path: file, content: "note" })] };
    }
    leads.push(request);
    // The answer to a wait whose time was up.
    if (request.results.includes('\\"ended\\":') && !/ended\\+": *\\+"(?:end|decision)/.test(request.results)) at -= 1;
    const part = lead[at] ?? { text: "Nothing left." };
    at += 1;
    return { parts: [part] };
  };

  beforeAll(async () => {
    model = await startModel(answer);
    await haveExtension(project, model.url);
    writeSettings(project, {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      // A terminal that is drawn ten times a second takes a fifth of a core.
      ui: { showSpinner: false },
    });
    project.run("git", ["init", "-q"]);
    project.write(".gitignore", ".home\n.bin\n.tmp\n.gemini\n");
    project.run("git", ["add", "-A"]);
    project.run("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "begin"]);
    const home = `${project.path}/.home`;
    expect((await commandLine(project, ["setup", "--yes"], { env: { HOME: home, GEMINI_CLI_HOME: home } })).code).toBe(
      0,
    );
  }, 120_000);
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  test("opens at most 3 dialogs, takes at most 20 requests, and ends with an archived session (C41, C43)", async () => {
    const confirmed: string[] = [];
    const dialogs: string[] = [];
    const words = ["-m", "gemini-2.5-flash", "-i", "/maestro:orchestrate Write three notes"];
    const cli = geminiOnTerminal(project, model.url, words, (shown) => {
      // The frame of a dialog is drawn again and again: a new one begins after the calls of the last one.
      const asked = [...shown.matchAll(/Tool: (maestro_\w+)|\? {2}(\w+) /g)].map(
        ([, own, other]) => own ?? other ?? "",
      );
      if (!shown.includes("Allow once") || asked.length === 0) return undefined;
      confirmed.push(`${asked.at(-1)} ${at}`);
      if (asked.at(-1) === "maestro_validate_plan") dialogs.push(shown);
      return "\r";
    });
    try {
      await until("the lead is done", () => at >= lead.length, 400_000);
      await until("the last words are shown", () => cli.shown().includes("All done."));
    } finally {
      cli.kill();
      await cli.ended;
    }
    expect(cli.shown()).not.toContain("CRITICAL");
    expect([...new Set(confirmed)].map((one) => one.split(" ")[0])).toEqual(["maestro_validate_plan", "maestro_run"]);
    expect(dialogs[0]).toContain(`"baseline":["${check(1)}","${check(2)}"`);
    expect(leads.length).toBeLessThanOrEqual(20);
    const characters = leads.reduce(
      (sum, { system, texts, results }) => sum + system.length + texts.join("").length + results.length,
      0,
    );
    expect(characters / 4).toBeLessThan(500_000);
    for (const id of [1, 2, 3]) expect(project.read(`n${id}.txt`)).toBe("note");
    expect(project.list(".gemini/state/archive")).toContain("2026-11-18-notes.md");
    expect(leads.some(({ results }) => results.includes("run_shell_command"))).toBe(false);
  }, 450_000);
});

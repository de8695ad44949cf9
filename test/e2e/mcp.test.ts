import { chmodSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { haveExtension, startGemini } from "../support/gemini.ts";
import { type ScriptedModel, startModel } from "../support/model.ts";
import { Project, planText } from "../support/project.ts";
import { played, StandIn } from "../support/stand-in.ts";

const call = (name: string, args: Record<string, unknown>) => ({
  functionCall: { name: `mcp_maestro_maestro_${name}`, args },
});
const handoff =
  "## Task Report\n- Status: success\n- Files Created: none\n- Files Modified: none\n- Files Deleted: none\n- Summary: Done.\n\n## Downstream Context\n- Warnings: none\n";
const write = (args: Record<string, unknown>) => call("session_write", args);

/** What the model asks for, turn by turn; all calls of one turn are made at once. */
const turns = [
  [
    write({
      action: "create",
      task: "A task",
      plan_content: planText([{ id: 1 }, played(2, [["environment"]], { blocked_by: [1] })]),
      plan_filename: "2026-02-14-task-api-impl-plan.md",
    }),
  ],
  [write({ action: "update_phase", phase_id: 1, phase_status: "in_progress" })],
  Array.from({ length: 5 }, (_, at) => write({ action: "add_files", phase_id: "1", files: { created: [`f${at}`] } })),
  [
    write({ action: "update_phase", phase_id: "1", phase_status: "completed", handoff, wait_for_previous: true }),
    call("progress", { action: "report", phase_id: 2, message: "starting" }),
    call("context_chain", { phase_id: 2, plan_path: ".gemini/plans/2026-02-14-task-api-impl-plan.md" }),
    write({ action: "update_phase", phase_id: 1, phase_status: "pending", nonsense: true }),
  ],
  [call("session_read", { section: "files", limit: "2", offset: 1 }), call("session_read", {})],
  [call("run", { mode: "parallel", review: "end" })],
  [call("wait", { until: "end" })],
];

describe("the real Gemini CLI with the MCP server of the extension", () => {
  const project = new Project();
  let model: ScriptedModel;
  let standIn: StandIn;
  let turn = 0;
  beforeAll(async () => {
    model = await startModel(({ tools }) => {
      const parts = tools.length === 0 ? undefined : turns[turn++];
      return { parts: parts ?? [{ text: "done" }] };
    });
    await haveExtension(project, model.url);
    standIn = new StandIn(project);
    // Agents are played; the CLI of the conversation is the real one.
    chmodSync(project.write(".agents/gemini", project.read(".bin/gemini")), 0o755);
  }, 120_000);
  afterAll(async () => {
    await model.close();
    project.remove();
  });

  test("lists every tool, passes on numbers and texts alike, and starts an engine that can sign in (X259, C34, C43)", async () => {
    const args = ["-m", "gemini-2.5-flash", "--approval-mode=yolo", "-o", "json", "-p", "go"];
    const env = standIn.env({ PATH: [join(project.path, ".agents"), process.env.PATH].join(delimiter) });
    const run = await startGemini(project, model.url, args, { ...env, MAESTRO_EXECUTION_MODE: "ask" }).ended;
    expect(run.code, run.stderr).toBe(0);
    const asked = model.requests.filter(({ tools }) => tools.length > 0);
    expect(asked[0]?.tools.filter((tool) => tool.startsWith("mcp_maestro_")).sort()).toEqual(
      "context_chain decide dispatch_status progress run session_read session_write validate_plan wait"
        .split(" ")
        .map((name) => `mcp_maestro_maestro_${name}`),
    );
    const results = asked.slice(1).map((request) => request.results.replaceAll('\\\\\\"', '"').replaceAll('\\"', '"'));
    expect(results[0]).toContain('"session_id":"2026-02-14-task-api"');
    expect(results[1]).toContain('"phase_status":"in_progress"');
    expect([...(results[2] ?? "").matchAll(/"files":1,"revision":\d+/g)]).toHaveLength(5);
    expect(results[3]).toContain('"verified":true');
    expect(results[3]).toContain('"noted":true');
    expect(results[3]).toContain("## Phase 1: Phase 1 (coder,");
    expect(results[3]).toContain('Unknown key "nonsense" for action update_phase');
    expect(results[4]).toMatch(/"files":\[\{"path":"f\d".*"total":5,"next_offset":3/);
    expect(results[4]).toContain("Phase 2 (coder) is ready to start.");
    expect(results[5]).toContain('"started":true');
    expect(results[6]).toContain('"session":"2 of 2 phases done"');
    // The CLI withholds variables with such names from servers, unless the manifest names them.
    const given = standIn.notes("environment")[0]?.values;
    expect(given).toMatchObject({ GEMINI_API_KEY: "a-key-that-is-long-enough-to-look-real" });
    expect(given).not.toHaveProperty("GOOGLE_API_KEY");
    const journal = project.read(".gemini/state/progress.jsonl").trim().split("\n");
    expect(journal.map((line) => JSON.parse(line).seq)).toEqual(journal.map((_, at) => at + 1));
  }, 120_000);
});

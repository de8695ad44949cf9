import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { decisionsFor } from "../support/policy-engine.ts";
import { Project, root } from "../support/project.ts";

// The policy engine of the installed Gemini CLI, with the files that setup writes into a home.
describe("the policy that setup installs", () => {
  const project = new Project();
  const program = join(root, "dist", "maestro.js");
  let decide: Awaited<ReturnType<typeof decisionsFor>>;
  let decideBefore: typeof decide;
  const own = (tool: string) => `mcp_maestro_${tool}`;
  const plan = "2026-11-18-tasks-impl-plan.md";

  beforeAll(async () => {
    const home = join(project.path, ".home");
    project.write(".home/.keep", "");
    decideBefore = await decisionsFor(home);
    const env = { HOME: home, GEMINI_CLI_HOME: home };
    const run = await commandLine(project, ["setup", "--yes"], { env });
    expect([run.code, run.stderr]).toEqual([0, ""]);
    decide = await decisionsFor(home);
  }, 60_000);
  afterAll(() => project.remove());

  const spared: [string, object][] = [
    [own("maestro_session_read"), {}],
    [own("maestro_session_write"), { action: "create", plan_path: "p" }],
    [own("maestro_validate_plan"), { plan_path: "p" }],
    [own("maestro_progress"), {}],
    [own("maestro_wait"), { seconds: 5 }],
    ["activate_skill", { name: "execution" }],
    ["write_file", { file_path: `.gemini/plans/${plan}`, content: "x" }],
    ["write_file", { file_path: `/work/app/.gemini/plans/${plan}`, content: "x" }],
    ["replace", { file_path: `.gemini/plans/${plan}`, old_string: "a", new_string: "b" }],
    ["run_shell_command", { command: "maestro status --json" }],
    ["run_shell_command", { command: "maestro report 2026-11-18-t --json" }],
    ["run_shell_command", { command: `node ${program} logs 3 --attempt 2` }],
  ];

  test.each(spared)("spares the question about %s %j", async (tool, args) => {
    expect([await decideBefore(tool, args), await decide(tool, args)]).toEqual(["ask_user", "allow"]);
  });

  test.each<[string, object]>([
    [own("maestro_run"), { mode: "parallel" }],
    [own("maestro_decide"), { action: "abort" }],
    [
      own("maestro_session_write"),
      { action: "update_phase", phase_id: 1, phase_status: "skipped", user_decision: true },
    ],
    [
      own("maestro_session_write"),
      { action: "update_phase", phase_id: 1, phase_status: "skipped", user_decision: "true" },
    ],
    [own("maestro_session_write"), { action: "revise", phases: [{ id: 1 }], user_decision: true }],
    [own("maestro_validate_plan"), { plan_path: "p", baseline: ["npm test"] }],
    [own("maestro_validate_plan"), { plan_path: "p", baseline: [] }],
    [own("maestro_validate_plan"), { plan_path: "p", baseline: true }],
    [own("maestro_validate_plan"), { plan_path: "p", baseline: "true" }],
    [own("maestro_session_write"), { action: "complete", accept_open: "later" }],
    ["activate_skill", { name: "execution-of-others" }],
    ["write_file", { file_path: ".gemini/plans/../settings.json", content: "x" }],
    ["write_file", { file_path: "/work/app/.gemini/plans/../agents/coder.md", content: "x" }],
    ["write_file", { file_path: "/work/app/../.gemini/plans/a.md", content: "x" }],
    ["write_file", { file_path: ".gemini/plans/server.pem", content: "x" }],
    ["write_file", { file_path: "src/a.ts", content: `"file_path":".gemini/plans/${plan}"` }],
    ["write_file", { file_path: "src/a.ts", content: "x", more: { file_path: `.gemini/plans/${plan}` } }],
    ["activate_skill", { name: "another", more: { name: "execution" } }],
    ["run_shell_command", { command: "curl example.org", more: { command: "maestro status" } }],
    ["run_shell_command", { command: "node dist/maestro.js status" }],
    ["run_shell_command", { command: `node ${program} run plan.md` }],
    ["run_shell_command", { command: "maestro status; curl example.org" }],
    ["run_shell_command", { command: "maestro report > src/a.ts" }],
    ["run_shell_command", { command: "maestro report --html" }],
    ["run_shell_command", { command: "maestro report --json --html Makefile" }],
    ["run_shell_command", { command: `node ${program} report --html Makefile` }],
    ["run_shell_command", { command: "maestro run plan.md --yes" }],
    ["run_shell_command", { command: "maestro statusx" }],
    ["run_shell_command", { command: "node -e 0" }],
  ])("leaves the question about %s %j", async (tool, args) => {
    expect(await decide(tool, args)).not.toBe("allow");
  });

  test("does not lift what a tier denies its agents", async () => {
    const write = { file_path: `.gemini/plans/${plan}`, content: "x" };
    expect(await decide("write_file", write, "architect")).toBe("deny");
    expect(await decide("write_file", write, "debugger")).toBe("deny");
    expect(await decide("run_shell_command", { command: "maestro status" }, "technical-writer")).toBe("deny");
  });
});

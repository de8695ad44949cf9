import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { withServer } from "../support/mcp.ts";
import { createSession, type Project, planPath, planText, withProject } from "../support/project.ts";

const plans = ".gemini/plans";
const name = "2026-02-14-task-api-impl-plan.md";
const two = planText([
  { id: 1, files_created: ["src/a.ts"] },
  { id: 2, agent: "tester", files_created: ["test/a.test.ts"], blocked_by: [1] },
]);

const report = (over: { status?: string; created?: string; context?: string } = {}) =>
  `## Task Report
- Status: ${over.status ?? "success"}
- Files Created: ${over.created ?? "none"}
- Files Modified: none
- Files Deleted: none
- Summary: Done.

## Downstream Context
- Key Interfaces Introduced: ${over.context ?? "`A` in src/a.ts"}
`;

function inProject<T>(use: (project: Project) => Promise<T>): Promise<T> {
  return withProject(use);
}

/** A server in a project with a session of `plan`. */
function inSession<T>(
  use: (client: Parameters<Parameters<typeof withServer>[1]>[0], project: Project) => Promise<T>,
  { plan = two, env = {} }: { plan?: string; env?: Record<string, string> } = {},
): Promise<T> {
  return inProject((project) =>
    withServer(
      project,
      async (client) => {
        const task = "A task API";
        await client.ok("maestro_session_write", { action: "create", task, plan_content: plan, plan_filename: name });
        return use(client, project);
      },
      env,
    ),
  );
}

describe("the server", () => {
  test("offers the six tools of the design documents, and those for runs and decisions (C43, X259, X260, X263, X264, X268, X270, X277, X279)", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        const { tools } = (await client.request("tools/list")).result;
        const keys = Object.fromEntries(
          tools.map((tool: { name: string; inputSchema: { properties: object } }) => [
            tool.name,
            Object.keys(tool.inputSchema.properties),
          ]),
        );
        expect(keys).toEqual({
          maestro_session_read: ["section", "phase", "offset", "limit", "full"],
          maestro_session_write: expect.arrayContaining(
            "action task phase_id phase_status error files summary plan_path execution_mode".split(" "),
          ),
          maestro_progress: expect.arrayContaining(["action", "phase_id", "agent", "status", "message"]),
          maestro_validate_plan: ["plan_path", "baseline", "write", "full"],
          maestro_dispatch_status: expect.arrayContaining(["action", "batch_id", "agent"]),
          maestro_context_chain: ["phase_id", "plan_path", "full"],
          maestro_run: ["mode", "review", "phases", "concurrency"],
          maestro_wait: ["seconds", "until", "since"],
          maestro_decide: expect.arrayContaining(["action", "phase_id", "user_decision"]),
        });
        const actions = (tool: string) =>
          tools.find((one: { name: string }) => one.name === tool).inputSchema.properties.action.enum;
        expect(actions("maestro_session_write")).toEqual(
          "create update_phase revise add_files add_error set_mode answer_requirement complete".split(" "),
        );
        expect(actions("maestro_progress")).toEqual(["report", "update", "summary"]);
        expect(actions("maestro_dispatch_status")).toEqual(["list_batches", "batch_status", "agent_result"]);
        const readOnly = tools.filter(
          (tool: { annotations: { readOnlyHint: boolean } }) => tool.annotations.readOnlyHint,
        );
        expect(readOnly.map((tool: { name: string }) => tool.name)).toEqual([
          "maestro_session_read",
          "maestro_dispatch_status",
          "maestro_context_chain",
          "maestro_wait",
        ]);
      }),
    ));

  test("puts nothing into the context of every agent but its tools", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        const { serverInfo, capabilities, instructions } = (
          await client.request("initialize", {
            protocolVersion: "2025-06-18",
            capabilities: {},
            clientInfo: { name: "again", version: "1" },
          })
        ).result;
        expect([serverInfo.name, capabilities, instructions]).toEqual(["maestro", { tools: {} }, undefined]);
      }),
    ));

  test("creates nothing by reading, and says what is missing (X261)", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        expect(await client.ok("maestro_session_read")).toEqual({ exists: false });
        expect(await client.ok("maestro_dispatch_status", { action: "list_batches" })).toEqual({
          batches: [],
          total: 0,
          next_offset: null,
        });
        const refusals = await Promise.all([
          client.refused("maestro_progress", { action: "summary" }),
          client.refused("maestro_progress", { action: "report", message: "x" }),
          client.refused("maestro_session_write", { action: "update_phase", phase_id: 1, phase_status: "completed" }),
          client.refused("maestro_session_write", { action: "complete" }),
          client.refused("maestro_decide", { action: "abort", user_decision: true }),
          client.refused("maestro_decide", { action: "stop" }),
          client.refused("maestro_validate_plan", { plan_path: planPath }),
          client.refused("maestro_context_chain", { phase_id: 1, plan_path: planPath }),
          client.refused("maestro_dispatch_status", { action: "batch_status", batch_id: "b" }),
          client.refused("maestro_nothing"),
        ]);
        expect(refusals.map(({ error }) => error)).toEqual([
          ...Array(5).fill("no_session"),
          "environment",
          "not_found",
          "not_found",
          "not_found",
          "unknown_tool",
        ]);
        expect(refusals[0].hint).toContain('maestro_session_write {"action":"create"}');
        expect(project.list()).toEqual([]);
      }),
    ));

  test.each([
    [
      "relative",
      (project: Project) => ({ env: { MAESTRO_STATE_DIR: "state/of it" }, at: `${project.path}/state/of it` }),
    ],
    [
      "absolute",
      (project: Project) => ({
        env: { MAESTRO_STATE_DIR: `${project.path}/elsewhere` },
        at: `${project.path}/elsewhere`,
      }),
    ],
    [
      "from .env",
      (project: Project) => {
        project.write(".env", "MAESTRO_STATE_DIR=.maestro\n");
        return { env: {} as Record<string, string>, at: `${project.path}/.maestro` };
      },
    ],
  ])("keeps its state where the settings say: %s (C36)", (_, settle) =>
    inProject(async (project) => {
      const { env, at } = settle(project);
      const inside = at.slice(project.path.length + 1);
      await withServer(
        project,
        async (client) => {
          const made = await client.ok("maestro_session_write", {
            action: "create",
            task: "t",
            plan_content: two,
            plan_filename: name,
          });
          expect(made.implementation_plan).toBe(`${inside}/plans/${name}`);
          const absolute = { plan_path: `${at}/plans/${name}` };
          expect((await client.ok("maestro_validate_plan", absolute)).valid).toBe(true);
          expect((await client.ok("maestro_session_read")).metadata.implementation_plan).toBe(made.implementation_plan);
        },
        env as Record<string, string>,
      );
      expect(project.exists(`${inside}/state/progress.jsonl`)).toBe(true);
      expect(project.exists(".gemini")).toBe(false);
    }),
  );

  test("follows settings that change while it lives, and names a bad one", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        project.write(".env", "MAESTRO_STATE_DIR=one\nMAESTRO_MAX_RETRIES=7\n");
        const create = { action: "create", task: "t", plan_content: two, plan_filename: name };
        expect((await client.ok("maestro_session_write", create)).execution_mode).toBe(null);
        project.write(".env", "MAESTRO_STATE_DIR=two\n");
        expect(await client.ok("maestro_session_read")).toEqual({ exists: false });
        project.write(".env", "MAESTRO_MAX_RETRIES=lots\n");
        const bad = await client.refused("maestro_session_read");
        expect([bad.error, bad.message]).toEqual(["config", expect.stringContaining("MAESTRO_MAX_RETRIES")]);
        project.write(".env", "MAESTRO_STATE_DIR=one\n");
        expect((await client.ok("maestro_session_read")).exists).toBe(true);
      }),
    ));

  test("offers a dispatched specialist only what it may use, and lets it speak for itself alone", () =>
    inSession(async (_, project) => {
      const env = { MAESTRO_AGENT: "coder", MAESTRO_PHASE: "1", MAESTRO_ATTEMPT: "1", MAESTRO_SESSION: "x" };
      await withServer(
        project,
        async (client) => {
          const { tools } = (await client.request("tools/list")).result;
          const names = tools.map((tool: { name: string }) => tool.name);
          expect(names).toEqual([
            "maestro_session_read",
            "maestro_progress",
            "maestro_context_chain",
            "maestro_request_scope",
          ]);
          const denied = await client.refused("maestro_session_write", { action: "complete" });
          expect(denied).toEqual({
            error: "unknown_tool",
            message: 'unknown tool "maestro_session_write"',
            hint: expect.stringContaining("Inside an attempt only these are offered"),
          });
          expect((await client.ok("maestro_progress", { action: "report", message: "half" })).phase_id).toBe("1");
          expect((await client.ok("maestro_progress", { action: "report", message: "m", phase_id: 1 })).noted).toBe(
            true,
          );
          const other = await client.refused("maestro_progress", { action: "report", message: "m", phase_id: 2 });
          expect(other.message).toBe("You work on phase 1, not on 2");
          const somebody = await client.refused("maestro_progress", { action: "update", status: "s", agent: "tester" });
          expect(somebody.message).toBe("You are coder, not tester");
          const { notes } = await client.ok("maestro_progress", { action: "summary" });
          expect(notes[0]).toMatchObject({ phase_id: "1", agent: "coder", text: "half" });
          expect((await client.ok("maestro_session_read")).metadata.status).toBe("in_progress");
          const more = await client.refused("maestro_request_scope", { paths: ["b.ts"], reason: "needed" });
          expect(more).toMatchObject({ error: "conflict", message: expect.stringContaining("belongs to session x") });
        },
        env,
      );
    }));
});

describe("maestro_session_write", () => {
  test("creates a session from a plan in the call, or from a file (X263, K139)", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        const create = { action: "create", task: "A task API", plan_content: two, plan_filename: name };
        expect(await client.ok("maestro_session_write", create)).toEqual({
          session_id: "2026-02-14-task-api",
          implementation_plan: `${plans}/${name}`,
          execution_mode: null,
          total_phases: 2,
          ready: ["1"],
          plan_warnings: [],
          revision: 1,
        });
        expect(project.read(`${plans}/${name}`)).toBe(two);
        const second = await client.refused("maestro_session_write", create);
        expect([second.error, second.message]).toEqual([
          "conflict",
          "A session is already active: 2026-02-14-task-api (in_progress)",
        ]);
        const { metadata } = await client.ok("maestro_session_read");
        expect(metadata).toMatchObject({ status: "in_progress", current_phase: "1", task: "A task API" });
        expect(project.maestro(["archive"]).code).toBe(0);
        project.write("docs/2026-03-01-other-impl-plan.md", two);
        const from = {
          action: "create",
          task: "t",
          plan_path: "docs/2026-03-01-other-impl-plan.md",
          execution_mode: "Parallel",
        };
        expect(await client.ok("maestro_session_write", from)).toMatchObject({
          session_id: "2026-03-01-other",
          implementation_plan: "docs/2026-03-01-other-impl-plan.md",
          execution_mode: "parallel",
        });
      }),
    ));

  test("refuses an invalid plan with all that is wrong with it, and writes nothing (X271, X272, X273, X274, X275)", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        const broken = planText([
          { id: 1, agent: "codr", files_created: ["x"] },
          { id: 2, blocked_by: [9] },
          { id: 3, files_created: ["./x"] },
        ]);
        const create = { action: "create", task: "t", plan_content: broken, plan_filename: name };
        const { error, errors, message } = await client.refused("maestro_session_write", create);
        expect([error, message]).toEqual(["invalid_plan", "The plan is not valid: 3 errors"]);
        expect(errors.map((one: { code: string }) => one.code).sort()).toEqual([
          "file_overlap",
          "unknown_agent",
          "unknown_dependency",
        ]);
        expect(errors.find((one: { code: string }) => one.code === "unknown_agent").suggestion).toBe("coder");
        expect(project.list()).toEqual([]);
      }),
    ));

  test("does not create a session from a file that is not a plan of the project (T12)", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        project.write(`${plans}/${name}`, two);
        project.run("ln", ["-s", "/etc/hostname", "link.md"]);
        const cases: [string, object, string][] = [
          [
            "A different plan with that name exists",
            { plan_content: two.replace("Task API", "Other"), plan_filename: name },
            "conflict",
          ],
          ["a name that is a path", { plan_content: two, plan_filename: "../x-impl-plan.md" }, "path"],
          ["a name of another kind", { plan_content: two, plan_filename: "x.txt" }, "path"],
          ["a plan outside the project", { plan_path: "../plan.md" }, "path"],
          ["an absolute plan outside the project", { plan_path: "/etc/passwd" }, "path"],
          ["a plan through a link", { plan_path: "link.md" }, "path"],
          ["a plan that is not there", { plan_path: "nothing.md" }, "not_found"],
          ["no plan", {}, "usage"],
          ["two plans", { plan_path: "a.md", plan_content: two, plan_filename: name }, "usage"],
          ["content without a name", { plan_content: two }, "usage"],
        ];
        for (const [what, given, error] of cases) {
          const refused = await client.refused("maestro_session_write", { action: "create", task: "t", ...given });
          expect(refused.error, what).toBe(error);
        }
        expect(project.read(`${plans}/${name}`)).toBe(two);
        expect(await client.ok("maestro_session_read")).toEqual({ exists: false });
      }),
    ));

  test("revises the plan by a patch of phases or by its edited file, only with the user's word (L166, F19)", () =>
    inSession(async (client, project) => {
      const before = await client.ok("maestro_session_read");
      const plan = before.metadata.implementation_plan;
      const patch = { action: "revise", phases: [{ id: 2, validation: ["npm test"] }] };
      const unasked = await client.refused("maestro_session_write", patch);
      expect(unasked).toMatchObject({ error: "usage", message: "A changed plan needs the user's approval" });
      const decided = { ...patch, user_decision: true };
      const late = await client.refused("maestro_session_write", { ...decided, expected_revision: 99 });
      expect(late.error).toBe("conflict");
      const next = plan.replace(".md", "-v2.md");
      expect(await client.ok("maestro_session_write", decided)).toMatchObject({
        implementation_plan: next,
        superseded: expect.stringMatching(/archive\/.*\.superseded$/),
        changes: ["~ phase 2: validation"],
      });
      expect([project.exists(plan), project.read(next).includes("npm test")]).toEqual([false, true]);

      project.write(next, project.read(next).replace("npm test", "npm run all"));
      const both = await client.refused("maestro_session_write", { ...decided, plan_path: next });
      expect(both.error).toBe("usage");
      const waiting = await client.refused("maestro_session_write", decided);
      expect(waiting.message).toContain("the plan has changed");
      const broken = { action: "revise", user_decision: true, phases: [{ id: 2, validations: [] }] };
      expect((await client.refused("maestro_session_write", broken)).message).toContain('did you mean "validation"?');
      const edited = await client.ok("maestro_session_write", { action: "revise", user_decision: true });
      expect(edited).toMatchObject({ implementation_plan: plan.replace(".md", "-v3.md") });
      expect(project.list(".gemini/plans").filter((file) => file.includes("impl-plan"))).toHaveLength(1);
    }));

  test("takes the plan that is there already with the very same bytes", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        project.write(`${plans}/${name}`, two);
        const create = { action: "create", task: "t", plan_content: two, plan_filename: name };
        expect((await client.ok("maestro_session_write", create)).implementation_plan).toBe(`${plans}/${name}`);
      }),
    ));

  test("moves phases by the table of transitions, and says what follows (X264, K142, K143, K149)", () =>
    inSession(async (client, project) => {
      const move = (phase_id: number | string, phase_status: string, over = {}) => ({
        action: "update_phase",
        phase_id,
        phase_status,
        ...over,
      });
      const early = await client.refused("maestro_session_write", move(2, "in_progress"));
      expect([early.error, early.message]).toEqual([
        "illegal_transition",
        "Cannot move phase 2 from pending to in_progress: it waits for phase 1",
      ]);
      expect((await client.refused("maestro_session_write", move(1, "completed"))).message).toContain(
        "from pending to completed",
      );
      expect(await client.ok("maestro_session_write", move(1, "in-progress"))).toEqual({
        phase_id: "1",
        phase_status: "in_progress",
        revision: 2,
      });
      const weak = await client.refused("maestro_session_write", move("1", "completed", { handoff: "All done!" }));
      expect(weak.message).toMatch(/does not show a completed phase: it lacks task_report/);
      expect(weak.hint).not.toContain("maestro handoff");
      const half = await client.refused(
        "maestro_session_write",
        move(1, "completed", { handoff: report({ status: "partial" }) }),
      );
      expect(half.message).toContain("it says partial");
      project.write("src/a.ts", "a\n");
      const done = await client.ok(
        "maestro_session_write",
        move(1, "completed", { handoff: report({ created: "src/a.ts" }) }),
      );
      expect(done).toEqual({ phase_id: "1", phase_status: "completed", verified: true, unblocked: ["2"], revision: 5 });
      await client.ok("maestro_session_write", move(2, "in_progress"));
      project.write("test/a.test.ts", "a\n");
      expect(await client.ok("maestro_session_write", move(2, "completed"))).toMatchObject({
        verified: false,
        note: expect.stringContaining("unverified"),
        unblocked: [],
      });
      const { phases } = await client.ok("maestro_session_read", { section: "phases" });
      expect(phases.map(({ verified }: { verified: boolean }) => verified)).toEqual([true, false]);
      const missing = await client.refused("maestro_session_write", move(7, "completed"));
      expect([missing.error, missing.hint]).toEqual(["not_found", "Its phases are 1, 2."]);
      expect((await client.refused("maestro_session_write", move(1, "skipped", { handoff: report() }))).error).toBe(
        "usage",
      );
    }));

  test("completes no phase with failed validation commands, unless the user accepts it (K143)", () =>
    withProject(async (project) => {
      createSession(project, [{ id: 1, validation: ["false"] }]);
      await withServer(project, async (client) => {
        const move = (phase_status: string, over = {}) =>
          client.call("maestro_session_write", { action: "update_phase", phase_id: 1, phase_status, ...over });
        await move("in_progress");
        const refused = await move("completed");
        expect(refused.body.message).toBe("Cannot complete phase 1: its validation commands have not been run");
        expect((await move("completed", { user_decision: true })).body).toMatchObject({ verified: false });
      });
    }));

  test("skips, and tries again beyond the limit, only when the user said so (K145, K146, K150)", () =>
    inSession(
      async (client) => {
        const move = (phase_status: string, over = {}) =>
          client.call("maestro_session_write", { action: "update_phase", phase_id: 1, phase_status, ...over });
        const asked = await move("skipped");
        expect([asked.isError, asked.body.hint]).toEqual([
          true,
          "Pass user_decision: true when the user has asked for it.",
        ]);
        await move("in_progress");
        await move("failed", { reason: "the tests fail" });
        expect((await move("in_progress")).isError).toBe(true);
        expect((await move("in_progress", { user_decision: "true" })).isError).toBe(false);
        const { errors } = await client.ok("maestro_session_read", { section: "errors" });
        expect(errors).toMatchObject([{ phase_id: "1", type: "runtime", message: "the tests fail", resolved: false }]);
        expect((await move("skipped", { user_decision: true, reason: "by hand" })).body).toMatchObject({
          unblocked: ["2"],
        });
        const { phases } = await client.ok("maestro_session_read", { section: "phases" });
        expect(phases[0]).toMatchObject({ status: "skipped", retry_count: 1 });
      },
      { env: { MAESTRO_MAX_RETRIES: "0" } },
    ));

  test("records files and errors, of the project only, without secrets (K154, K157, K158)", () =>
    inSession(async (client, project) => {
      const created = ["./src/../src/a.ts", `${project.path}/lib/../src//b.ts`];
      const files = { created, deleted: ["old.ts"] };
      expect(await client.ok("maestro_session_write", { action: "add_files", phase_id: 1, files })).toEqual({
        phase_id: "1",
        files: 3,
        revision: 2,
      });
      const key = `AIza${"x1Y2".repeat(9)}`;
      const error = { agent: "Data_Engineer", type: "file-conflict", message: `key ${key} \u001b[31mleaked` };
      expect(await client.ok("maestro_session_write", { action: "add_error", phase_id: "1", error })).toMatchObject({
        type: "file_conflict",
        resolved: false,
      });
      const fixed = { type: "runtime", message: "m", resolution: "restarted" };
      expect(
        await client.ok("maestro_session_write", { action: "add_error", phase_id: 1, error: fixed }),
      ).toMatchObject({
        resolved: true,
      });
      const { errors } = await client.ok("maestro_session_read", { section: "errors" });
      expect(errors[1]).toMatchObject({
        agent: "data-engineer",
        message: "key [redacted] leaked",
        resolution: "pending",
      });
      expect(errors[0]).toMatchObject({ agent: "coder" });
      expect(await client.ok("maestro_session_read", { section: "files" })).toMatchObject({
        files: [
          { path: "src/a.ts", change: "created", phase_id: "1" },
          { path: "src/b.ts", change: "created", phase_id: "1" },
          { path: "old.ts", change: "deleted", phase_id: "1" },
        ],
        total: 3,
        next_offset: null,
      });
      for (const [bad, code] of [
        [{ created: ["../x"] }, "path"],
        [{ created: ["src/../../x"] }, "path"],
        [{ created: [`${project.path}/src/../../x`] }, "path"],
        [{ created: ["src/.."] }, "path"],
        [{ modified: ["/etc/passwd"] }, "path"],
        [{}, "usage"],
        [{ created: "src/a.ts" }, "usage"],
      ] as const) {
        const refused = await client.refused("maestro_session_write", { action: "add_files", phase_id: 1, files: bad });
        expect(refused.error).toBe(code);
      }
      const odd = { type: "weird", message: "m" };
      const refused = await client.refused("maestro_session_write", { action: "add_error", phase_id: 1, error: odd });
      expect(refused.message).toContain('"error.type" must be one of validation, timeout');
    }));

  test("chooses the mode once, and answers a stale revision with a conflict (O198, T12)", () =>
    inSession(async (client) => {
      const mode = (execution_mode: string, over = {}) => ({ action: "set_mode", execution_mode, ...over });
      const stale = await client.refused("maestro_session_write", mode("parallel", { expected_revision: 7 }));
      expect([stale.error, stale.message]).toEqual(["conflict", "The session is at revision 1, not at 7"]);
      expect(await client.ok("maestro_session_write", mode("parallel", { expected_revision: "1" }))).toEqual({
        execution_mode: "parallel",
        revision: 2,
      });
      expect((await client.refused("maestro_session_write", mode("sequential"))).error).toBe("conflict");
      expect((await client.ok("maestro_session_read")).revision).toBe(2);
    }));

  test.each([
    ["true", { archived: expect.objectContaining({ session: ".gemini/state/archive/2026-02-14-task-api.md" }) }],
    [
      "false",
      {
        archived: null,
        question: "Session complete. Auto-archive is disabled. Would you like to archive this session?",
      },
    ],
  ])(
    "completes the session once all phases are closed, MAESTRO_AUTO_ARCHIVE=%s (K141, L160, L161)",
    (setting, expected) =>
      inSession(
        async (client) => {
          const open = await client.refused("maestro_session_write", { action: "complete" });
          expect(open.message).toContain("2 phases are open: 1 (pending), 2 (pending)");
          for (const phase_id of [1, 2]) {
            const skip = { action: "update_phase", phase_id, phase_status: "skipped", user_decision: true };
            await client.ok("maestro_session_write", skip);
          }
          const { metadata } = await client.ok("maestro_session_read");
          expect(metadata.next).toBe(
            'All phases are done. Complete the session: maestro_session_write {"action":"complete"}.',
          );
          const done = await client.ok("maestro_session_write", { action: "complete", summary: "Nothing was done." });
          expect(done).toEqual({ status: "completed", ...expected, revision: 4 });
          expect((await client.ok("maestro_session_read")).exists).toBe(setting === "false");
        },
        { env: { MAESTRO_AUTO_ARCHIVE: setting } },
      ),
  );
});

describe("maestro_progress", () => {
  test("appends to the journal, and moves nothing (X268, X269)", () =>
    inSession(async (client, project) => {
      await client.ok("maestro_session_write", { action: "update_phase", phase_id: 1, phase_status: "in_progress" });
      const note = { action: "report", phase_id: 1, agent: "coder", status: "completed", message: "tests written" };
      expect(await client.ok("maestro_progress", note)).toEqual({ noted: true, phase_id: "1", revision: 3 });
      await client.ok("maestro_progress", { action: "update", message: "the user prefers small steps" });
      const empty = await client.refused("maestro_progress", { action: "report", phase_id: 1 });
      expect(empty.hint).toBe("Give a message, a status, or both.");
      expect((await client.refused("maestro_progress", { action: "report", message: "m", phase_id: 9 })).error).toBe(
        "not_found",
      );
      const lines = project.read(".gemini/state/progress.jsonl").trim().split("\n");
      expect(JSON.parse(lines[2] ?? "")).toMatchObject({
        type: "session.noted",
        phase: "1",
        agent: "coder",
        text: "completed: tests written",
      });
      expect(await client.ok("maestro_progress", { action: "summary" })).toMatchObject({
        status: "in_progress",
        engine: null,
        counts: { in_progress: 1, pending: 1 },
        notes: [{ text: "completed: tests written" }, { text: "the user prefers small steps" }],
        phases: [
          {
            phase_id: "1",
            status: "in_progress",
            agent: "coder",
            attempts: 0,
            last_note: { text: "completed: tests written" },
          },
          { phase_id: "2", status: "pending", elapsed_ms: null },
        ],
        total: 2,
      });
      const one = await client.ok("maestro_progress", { action: "summary", phase_id: 2 });
      expect(one.phases.map((phase: { phase_id: string }) => phase.phase_id)).toEqual(["2"]);
    }));
});

describe("maestro_validate_plan", () => {
  test("says whether a plan is valid, and how it would run (X270, X276)", () =>
    inProject((project) =>
      withServer(
        project,
        async (client) => {
          const estimate = { minutes: 10, input_tokens: 1_000_000, output_tokens: 100_000 };
          project.write(
            "plan.md",
            planText([
              { id: 1, files_created: ["a.ts"], estimate },
              { id: 2, files_created: ["b.ts"], estimate },
              { id: 3, files_created: ["c.ts"], blocked_by: [1, 2], estimate },
            ]),
          );
          const good = await client.ok("maestro_validate_plan", { plan_path: "./plan.md" });
          expect(good).toMatchObject({
            valid: true,
            errors: [],
            warnings: [],
            dependency_graph: {
              phases: ["1 coder", "2 coder", "3 coder after 1, 2"],
              critical_path: ["1", "3"],
              parallel_batches: [["1", "2"], ["3"]],
            },
            execution_profile: { total_phases: 3, parallelizable_phases: 2, batch_count: 2 },
            estimate: { minutes: { parallel: 20, sequential: 30 }, tokens: { input: 3_000_000, output: 300_000 } },
          });
          expect(good.estimate.cost_usd).toBeCloseTo(3 * 1.25 + 0.3 * 10);
          const whole = await client.ok("maestro_validate_plan", { plan_path: "./plan.md", full: true });
          expect(whole.dependency_graph.phases).toMatchObject([
            { id: "1" },
            { id: "2" },
            { id: "3", blocked_by: ["1", "2"], depth: 1 },
          ]);
          project.write("plan.md", "no front matter");
          const bad = await client.ok("maestro_validate_plan", { plan_path: "plan.md" });
          expect(bad).toMatchObject({ valid: false, errors: [{ code: "no_front_matter" }], estimate: null });
          expect(project.exists(".gemini")).toBe(false);
        },
        { MAESTRO_DEFAULT_MODEL: "gemini-2.5-pro" },
      ),
    ));
});

describe("maestro_validate_plan, of what surrounds the plan,", () => {
  test("refuses a runtime that does not exist as maestro validate does, before it runs or writes anything", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        const text = planText([{ id: 1, runtime: "claud", validation: ["touch ran"] }]);
        project.write("plan.md", text);
        for (const more of [{}, { baseline: ["touch ran"] }, { write: true }]) {
          const refusal = await client.refused("maestro_validate_plan", { plan_path: "plan.md", ...more });
          expect(refusal).toMatchObject({
            error: "usage",
            message: 'Unknown runtime "claud" (phase 1 of the plan)',
            hint: expect.stringContaining("The runtimes are gemini, claude, codex"),
          });
        }
        expect(project.read("plan.md")).toBe(text);
        expect((await commandLine(project, ["validate", "plan.md"])).stderr).toContain(
          'Unknown runtime "claud" (phase 1 of the plan)',
        );
        for (const runtime of ["claude", "acp:some-agent"]) {
          project.write("plan.md", planText([{ id: 1, runtime }]));
          expect(await client.ok("maestro_validate_plan", { plan_path: "plan.md" })).toMatchObject({ valid: true });
        }
      }),
    ));

  test("warns of a phase with a larger budget than the session's", () =>
    inProject((project) =>
      withServer(
        project,
        async (client) => {
          project.write("plan.md", planText([{ id: 1, files_created: ["a.ts"], budget: "8usd" }]));
          expect(await client.ok("maestro_validate_plan", { plan_path: "plan.md" })).toMatchObject({
            valid: true,
            warnings: [{ code: "budget_over_session", phase: "1" }],
          });
        },
        { MAESTRO_BUDGET: "5usd" },
      ),
    ));
});

describe("maestro_context_chain", () => {
  test("gives what the journal knows, in dependency order, and names what is missing (X279, X280, X281, C34)", () =>
    inSession(
      async (client) => {
        for (const phase_id of [1, 2]) {
          await client.ok("maestro_session_write", { action: "update_phase", phase_id, phase_status: "in_progress" });
        }
        const handoff = report({ created: "src/a.ts", context: "`Task` in src/a.ts" });
        await client.ok("maestro_session_write", {
          action: "update_phase",
          phase_id: 1,
          phase_status: "completed",
          handoff,
        });
        const chain = await client.ok("maestro_context_chain", { phase_id: 3, plan_path: `${plans}/${name}` });
        expect(chain).toEqual({
          phase_id: "3",
          blocking_phases: ["1", "2"],
          context_chain: expect.stringMatching(
            /## Phase 1: Phase 1 \(coder, completed\)[\s\S]*`Task` in src\/a.ts[\s\S]*MISSING CONTEXT: phase 2/,
          ),
          missing_contexts: ["2"],
        });
        const none = await client.ok("maestro_context_chain", { phase_id: "1", plan_path: `${plans}/${name}` });
        expect(none).toMatchObject({ blocking_phases: [], missing_contexts: [] });
        const unknown = await client.refused("maestro_context_chain", { phase_id: 9, plan_path: `${plans}/${name}` });
        expect([unknown.error, unknown.hint]).toEqual(["not_found", "Its phases are 1, 2, 3."]);
      },
      { plan: planText([{ id: 1 }, { id: 2 }, { id: 3, blocked_by: [2, 1] }]) },
    ));

  test("falls back to the newest results of the phase's agent (X280)", () =>
    inProject((project) =>
      withServer(project, async (client) => {
        project.write("plan.md", planText([{ id: 1 }, { id: 2, agent: "tester" }, { id: 3, blocked_by: [1, 2] }]));
        const result = (batch: string, stem: string, context: string, exit = 0) => {
          const response = report({ context, created: `${project.path}/src/x.ts` });
          project.write(
            `.gemini/parallel/${batch}/results/${stem}.json`,
            JSON.stringify({ session_id: "s", response }),
          );
          project.write(`.gemini/parallel/${batch}/results/${stem}.exit`, `${exit}\n`);
        };
        result("phase-1-batch-1", "coder.p1-1", "the first");
        result("phase-1-batch-1", "coder.p1-2", "the second");
        result("phase-1-batch-1", "coder.p1-10", "the tenth");
        result("phase-1-batch-1", "coder.p1-11", "one that failed", 1);
        result("phase-1-batch-1", "tester.p1-1", "another agent");
        const chain = await client.ok("maestro_context_chain", { phase_id: 3, plan_path: "plan.md" });
        expect(chain.missing_contexts).toEqual(["2"]);
        expect(chain.context_chain).toContain("the tenth");
        expect(chain.context_chain).toContain("- src/x.ts");
        expect(chain.context_chain).not.toMatch(/the first|the second|failed|another/);
        expect(project.exists(".gemini/state")).toBe(false);
      }),
    ));
});

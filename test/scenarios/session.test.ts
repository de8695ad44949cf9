import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { createSession, Project, planPath, planText } from "../support/project.ts";
import { status } from "../support/status.ts";

let project: Project;
beforeEach(() => {
  project = new Project();
});
afterEach(() => project.remove());

const move = (...args: string[]) => commandLine(project, ["session", "transition", ...args]);
const report = (over: Record<string, string> = {}) => {
  const fields = {
    Status: "success",
    "Files Created": "src/a.ts",
    "Files Modified": "none",
    "Files Deleted": "none",
    Summary: "Made it.",
    ...over,
  };
  return `## Task Report\n${Object.entries(fields)
    .map(([key, value]) => `- ${key}: ${value}`)
    .join("\n")}\n\n## Downstream Context\n- Key Interfaces Introduced: Task in src/a.ts\n- Warnings: none\n`;
};

describe("creating a session", () => {
  test("takes its id from the plan's name, and every phase is pending (J128, J129, K137, K139)", () => {
    createSession(project);
    expect(status(project)).toMatchObject({
      exists: true,
      session_id: "2026-02-14-task-api",
      status: "in_progress",
      current_phase: "1",
      total_phases: 2,
      implementation_plan: planPath,
      execution_mode: null,
      phases: [
        { id: "1", status: "pending" },
        { id: "2", status: "pending", blocked_by: ["1"] },
      ],
      errors: [],
    });
  });

  test("takes its id from the title and the date when the name says nothing", async () => {
    project.write("my plan.md", planText([{ id: 1 }], "Süße API – v2!"));
    const { stdout } = await commandLine(project, ["session", "create", "my plan.md", "--json"]);
    expect(JSON.parse(stdout).session_id).toBe(`${new Date().toISOString().slice(0, 10)}-suße-api-v2`);
  });

  test("is refused while a session is active, and changes nothing (K138)", async () => {
    createSession(project);
    const before = project.read(".gemini/state/progress.jsonl");
    const run = await commandLine(project, ["session", "create", planPath]);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(
      /^ERROR: A session is already active: 2026-02-14-task-api \(in_progress\)\n {2}.*maestro\.js" archive`/,
    );
    expect(project.read(".gemini/state/progress.jsonl")).toBe(before);
  });

  test("is refused for a plan that is not valid, and makes nothing", async () => {
    project.write(
      "plan.md",
      planText([
        { id: 1, blocked_by: [2] },
        { id: 2, blocked_by: [1] },
      ]),
    );
    const run = await commandLine(project, ["session", "create", "plan.md"]);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(
      /^ERROR: The plan is not valid: cycle: .*\n {2}Run `node ".*maestro\.js" validate plan\.md` /,
    );
    expect(project.list()).toEqual(["plan.md"]);
  });

  test("records a preset execution mode, and none when it is to be asked (E55, J135)", async () => {
    project.write("plan.md", planText([{ id: 1 }]));
    await commandLine(project, ["session", "create", "plan.md"], { env: { MAESTRO_EXECUTION_MODE: "sequential" } });
    expect(status(project).execution_mode).toBe("sequential");
  });

  test("keeps state in the project, in the documented layout, never in the extension (J124, J125)", () => {
    createSession(project);
    expect(project.list(".gemini")).toEqual(["parallel", "plans", "state"]);
  });
});

describe("moving phases", () => {
  beforeEach(() => createSession(project));

  test("follows the table to the end (K142-K145, K151-K153)", async () => {
    expect((await move("1", "in_progress")).stdout).toBe("Phase 1 is in progress\n");
    await move("1", "failed");
    await move("1", "in_progress");
    expect(status(project).phases[0]).toMatchObject({ status: "in_progress", retry_count: 1 });
    await move("1", "completed");
    await move("2", "in_progress");
    expect(status(project)).toMatchObject({
      current_phase: "2",
      phases: [{ status: "completed", verified: false }, { status: "in_progress" }],
    });
  });

  test.each([
    [["1", "completed"], "Cannot move phase 1 from pending to completed"],
    [["1", "pending"], "Cannot move phase 1 from pending to pending"],
    [["2", "in_progress"], "Cannot move phase 2 from pending to in_progress: it waits for phase 1"],
    [["1", "skipped"], "Cannot move phase 1 from pending to skipped: only the user may decide this"],
    [["1", "aborted", "--user-decision"], "Cannot move phase 1 from pending to aborted"],
    [["9", "in_progress"], 'Session 2026-02-14-task-api has no phase "9"'],
    [["__proto__", "in_progress"], 'Session 2026-02-14-task-api has no phase "__proto__"'],
    [["1", "done"], 'Unknown status "done"'],
  ])("refuses %j, and changes nothing (C20, K149)", async (args, message) => {
    const before = project.read(".gemini/state/progress.jsonl");
    const run = await move(...args);
    expect(run.code).not.toBe(0);
    expect(run.stdout).toBe("");
    expect(run.stderr).toContain(`ERROR: ${message}`);
    expect(project.read(".gemini/state/progress.jsonl")).toBe(before);
  });

  test("counts retries across processes and leaves the rest to a person (K150, K151)", async () => {
    await move("1", "in_progress");
    for (let retry = 0; retry < 2; retry++) {
      await move("1", "failed");
      expect((await move("1", "in_progress")).code).toBe(0);
    }
    await move("1", "failed");
    expect((await move("1", "in_progress")).stderr).toContain("its retries are used up (2 of 2)");
    expect((await move("1", "in_progress", "--user-decision")).code).toBe(0);
    expect(status(project).phases[0].retry_count).toBe(3);
  });

  test("ends the session when a failed phase is aborted (K148)", async () => {
    await move("1", "in_progress");
    await move("1", "failed");
    expect((await move("1", "aborted", "--user-decision")).code).toBe(0);
    expect(status(project).status).toBe("failed");
    expect((await move("2", "skipped", "--user-decision")).stderr).toContain("session 2026-02-14-task-api was aborted");
    expect((await commandLine(project, ["status"])).stdout).toContain('maestro.js" archive` archives it');
    expect(status(project).position).toMatchObject({ next: null, ready: [] });
    const view = ".gemini/state/active-session.md";
    project.write(view, project.read(view).replace('status: "failed"', 'status: "in_progress"'));
    expect((await commandLine(project, ["status"])).stderr).toContain("it was aborted");
    expect(status(project).status).toBe("failed");
  });

  test("records a hand-off: files, context, tokens (K154-K156)", async () => {
    project.write("src/a.ts", "export {};\n");
    await move("1", "in_progress");
    const stats = { models: { m: { tokens: { prompt: 100, candidates: 20, cached: 40 } } } };
    const run = await commandLine(project, ["session", "transition", "1", "completed", "--handoff", "-"], {
      input: JSON.stringify({ session_id: "x", response: report(), stats }),
    });
    expect(run.stderr).toBe("");
    expect(status(project)).toMatchObject({
      token_usage: {
        total_input: 100,
        total_output: 20,
        total_cached: 40,
        by_agent: { coder: { input: 100, output: 20, cached: 40 } },
      },
      phases: [
        {
          files_created: ["src/a.ts"],
          downstream_context: { key_interfaces_introduced: ["Task in src/a.ts"] },
          verified: true,
        },
        {},
      ],
    });
    expect(project.read(".gemini/state/active-session.md")).toContain("### Agent Output\nMade it.");
  });

  test("records why a phase failed, from the reason or from what the agent left (K157)", async () => {
    await move("1", "in_progress");
    await move("1", "failed", "--reason", "the build broke");
    await move("1", "in_progress");
    await commandLine(project, ["session", "transition", "1", "failed", "--handoff", "-"], {
      input: '{"session_id":"x","error":{"type":"ApiError","message":"slow down","code":429}}',
    });
    expect(status(project).phases[0].errors).toMatchObject([
      { agent: "coder", type: "runtime", message: "the build broke", resolution: "pending", resolved: false },
      { agent: "coder", type: "quota", message: "The agent reported: quota", resolved: false },
    ]);
    expect((await commandLine(project, ["status"])).stdout).toContain("failed: The agent reported: quota");
  });

  test("needs a Downstream Context only where a phase waits for it (C6)", async () => {
    const bare = report().split("## Downstream")[0] as string;
    await move("1", "in_progress");
    expect(
      (await commandLine(project, ["session", "transition", "1", "completed", "--handoff", "-"], { input: bare }))
        .stderr,
    ).toContain("it lacks downstream_context");
    await move("1", "completed");
    await move("2", "in_progress");
    expect(
      (await commandLine(project, ["session", "transition", "2", "completed", "--handoff", "-"], { input: bare }))
        .stderr,
    ).toBe("");
  });

  test.each([
    ["a report that says failure", report({ Status: "failure" }), "it says failure"],
    ["a report without a status", report({ Status: "success | partial | failure" }), "it lacks status"],
    ["no report", "All done!", "it lacks task_report"],
  ])("does not complete a phase on the strength of %s (P9)", async (_what, text, message) => {
    await move("1", "in_progress");
    const run = await commandLine(project, ["session", "transition", "1", "completed", "--handoff", "-"], {
      input: text,
    });
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(status(project).phases[0].status).toBe("in_progress");
  });
});

describe("the errors and files of a phase", () => {
  beforeEach(() => createSession(project));

  test("are appended, with everything the documents ask for (K154, K157-K159)", async () => {
    expect((await commandLine(project, ["session", "error", "1", "Build failed", "--type", "validation"])).code).toBe(
      0,
    );
    await commandLine(project, [
      "session",
      "error",
      "1",
      "Too slow",
      "--type",
      "timeout",
      "--agent",
      "tech_writer",
      "--resolution",
      "More time",
    ]);
    await commandLine(project, ["session", "files", "1", "--created", "a.ts", "b.ts", "--deleted", "c.ts"]);
    await commandLine(project, ["session", "files", "1", "--created", "d.ts", "./src/../a.ts"]);
    expect(status(project).phases[0]).toMatchObject({
      files_created: ["a.ts", "b.ts", "d.ts"],
      files_deleted: ["c.ts"],
      errors: [
        {
          agent: "coder",
          type: "validation",
          message: "Build failed",
          resolution: "pending",
          resolved: false,
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        },
        { agent: "tech-writer", type: "timeout", resolution: "More time", resolved: true },
      ],
    });
    expect(status(project).errors).toHaveLength(2);
  });

  test.each([
    [["session", "error", "1", "x", "--type", "bad-luck"], "Allowed choices are validation, timeout"],
    [["session", "error", "7", "x"], 'has no phase "7"'],
    [["session", "files", "1"], "No files given"],
    [["session", "files", "1", "--created", "a/../../x"], "Not a path inside the project (got: ../x)"],
    [["session", "files", "1", "--created", "a/.."], "Not a path inside the project (got: a/..)"],
    [["session", "files", "1", "--created", "../x"], "Not a path inside the project (got: ../x)"],
  ])("%j is refused", async (args, message) => {
    const run = await commandLine(project, args);
    expect(run.code).not.toBe(0);
    expect(run.stderr).toContain(message);
  });
});

describe("the notes of a session", () => {
  test("are kept in the order they came, without terminal escapes", async () => {
    createSession(project);
    await commandLine(project, ["session", "note", "first \u001b[31mred\u001b[0m", "--phase", "1"]);
    await commandLine(project, ["session", "note", "second"]);
    expect(status(project).notes).toMatchObject([{ text: "first red", phase: "1" }, { text: "second" }]);
  });

  test("need a session and something to say", async () => {
    expect((await commandLine(project, ["session", "note", "x"])).stderr).toContain("No session is active");
    createSession(project);
    expect((await commandLine(project, ["session", "note", "  "])).code).toBe(2);
  });
});

describe("completing and archiving (L160-L164)", () => {
  const design = ".gemini/plans/2026-02-14-task-api-design.md";
  const finishAll = async () => {
    for (const id of ["1", "2"]) for (const to of ["in_progress", "completed"]) await move(id, to);
  };
  beforeEach(async () => {
    project.write(design, "# Design\n");
    project.write(
      planPath,
      planText([{ id: 1 }, { id: 2, blocked_by: [1] }]).replace('"title"', `"design_ref": "${design}", "title"`),
    );
    await commandLine(project, ["session", "create", planPath]);
  });
  const archived = () => [
    project.list(".gemini/state"),
    project.list(".gemini/state/archive"),
    project.list(".gemini/plans"),
    project.list(".gemini/plans/archive"),
  ];
  const allArchived = [
    ["archive", "session-history.log"],
    ["2026-02-14-task-api.jsonl", "2026-02-14-task-api.md"],
    ["archive"],
    ["2026-02-14-task-api-design.md", "2026-02-14-task-api-impl-plan.md"],
  ];

  test("archive moves the session and both documents, and nothing stays behind", async () => {
    await finishAll();
    const run = await commandLine(project, ["archive"]);
    expect(run.stdout).toMatch(/^Archived session 2026-02-14-task-api \(completed\)\n/);
    expect(archived()).toEqual(allArchived);
    const view = project.read(".gemini/state/archive/2026-02-14-task-api.md");
    expect(view).toContain('status: "completed"');
    expect(view).toContain('implementation_plan: ".gemini/plans/archive/2026-02-14-task-api-impl-plan.md"');
    expect(status(project)).toEqual({ exists: false });
    expect(project.read(".gemini/state/session-history.log")).toMatch(
      /^\S+Z 2026-02-14-task-api completed phases=2\/2 tokens=unknown\n$/,
    );
  });

  test("complete archives by itself, or asks when that is switched off (L161)", async () => {
    expect((await commandLine(project, ["session", "complete"])).stderr).toContain(
      "2 phases are open: 1 (pending), 2 (pending)",
    );
    await finishAll();
    const asked = await commandLine(project, ["session", "complete", "--summary", "Done."], {
      env: { MAESTRO_AUTO_ARCHIVE: "false" },
    });
    expect(asked.stdout).toBe("Session complete. Auto-archive is disabled. Would you like to archive this session?\n");
    expect(status(project)).toMatchObject({ status: "completed", summary: "Done." });
    await commandLine(project, ["session", "complete"]);
    expect(archived()).toEqual(allArchived);
  });

  test("archive keeps the real status of a session that is not done (C21, L164)", async () => {
    await move("1", "in_progress");
    await move("1", "failed");
    await move("1", "aborted", "--user-decision");
    expect((await commandLine(project, ["archive", "--json"])).stdout).toContain('"status": "failed"');
    expect(project.read(".gemini/state/archive/2026-02-14-task-api.md")).toContain('status: "failed"');
  });

  test("archive never overwrites: the same plan again gets another name", async () => {
    await finishAll();
    await commandLine(project, ["archive"]);
    project.write(planPath, planText([{ id: 1 }]));
    await commandLine(project, ["session", "create", planPath]);
    expect(status(project).session_id).toBe("2026-02-14-task-api-2");
    await commandLine(project, ["archive"]);
    expect(project.list(".gemini/state/archive")).toEqual([
      "2026-02-14-task-api-2.jsonl",
      "2026-02-14-task-api-2.md",
      "2026-02-14-task-api.jsonl",
      "2026-02-14-task-api.md",
    ]);
    expect(project.list(".gemini/plans/archive")).toEqual([
      "2026-02-14-task-api-design.md",
      "2026-02-14-task-api-impl-plan-2.md",
      "2026-02-14-task-api-impl-plan.md",
    ]);
  });

  test("archive does not move a plan outside the plans directory", async () => {
    await commandLine(project, ["archive"]);
    project.write("docs/plan.md", planText([{ id: 1 }]));
    await commandLine(project, ["session", "create", "docs/plan.md"]);
    await commandLine(project, ["archive"]);
    expect(project.exists("docs/plan.md")).toBe(true);
  });

  test("archive says so when nothing can be archived", async () => {
    await commandLine(project, ["archive"]);
    expect(await commandLine(project, ["archive"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "ERROR: No active session to archive\n",
    });
  });
});

describe("revising the plan (L166)", () => {
  const stem = "2026-02-14-task-api-impl-plan";

  test("writes -v2, keeps what was done, and puts the old plan aside as superseded", async () => {
    createSession(project);
    await move("1", "in_progress");
    await move("1", "completed");
    project.write("new.md", planText([{ id: 1 }, { id: 3, blocked_by: [1] }]));
    expect((await commandLine(project, ["session", "revise", "new.md"])).stdout).toBe(
      `The session now follows .gemini/plans/${stem}-v2.md\n  - phase 2: Phase 2\n  + phase 3: Phase 3\n` +
        `The version before it is .gemini/plans/archive/${stem}.md.superseded\n`,
    );
    expect(project.list(".gemini/plans")).toEqual(["2026-02-14-task-api-impl-plan-v2.md", "archive"]);
    expect(project.list(".gemini/plans/archive")).toEqual(["2026-02-14-task-api-impl-plan.md.superseded"]);
    expect(status(project)).toMatchObject({
      implementation_plan: ".gemini/plans/2026-02-14-task-api-impl-plan-v2.md",
      phases: [
        { id: "1", status: "completed" },
        { id: "3", status: "pending" },
      ],
    });
    expect((await commandLine(project, ["session", "revise", "new.md"])).stderr).toContain(
      "the session already follows this plan",
    );
    project.write("new.md", planText([{ id: 1 }, { id: 4, blocked_by: [1] }]));
    await commandLine(project, ["session", "revise", "new.md"]);
    expect(status(project).implementation_plan).toBe(".gemini/plans/2026-02-14-task-api-impl-plan-v3.md");
  });

  test("marks each replaced plan as outdated in the archive, over three revisions (L166)", async () => {
    createSession(project);
    for (const id of [3, 4, 5]) {
      project.write("new.md", planText([{ id: 1 }, { id, blocked_by: [1] }]));
      expect((await commandLine(project, ["session", "revise", "new.md"])).stderr).toBe("");
    }
    expect(status(project).implementation_plan).toBe(`.gemini/plans/${stem}-v4.md`);
    expect(project.list(".gemini/plans")).toEqual([`${stem}-v4.md`, "archive"]);
    expect(project.read(`.gemini/plans/${stem}-v4.md`)).not.toContain("outdated");
    for (const [old, next] of [
      ["", "-v2"],
      ["-v2", "-v3"],
      ["-v3", "-v4"],
    ]) {
      const text = project.read(`.gemini/plans/archive/${stem}${old}.md.superseded`);
      expect(text).toMatch(/^---\n# status: outdated\n/);
      expect(text).toContain(`\n# superseded_by: ".gemini/plans/${stem}${next}.md"\n`);
      expect(text).toContain('"title": "Task API"');
    }
    expect(project.list(".gemini/plans/archive")).toHaveLength(3);
  });

  test("copies a plan from outside the plans directory to the archive, and leaves the user's file alone (L166)", async () => {
    const text = planText([{ id: 1 }, { id: 2, blocked_by: [1] }]);
    project.write("docs/my-plan.md", text);
    expect((await commandLine(project, ["session", "create", "docs/my-plan.md"])).stderr).toBe("");
    project.write("new.md", planText([{ id: 1 }, { id: 3, blocked_by: [1] }]));
    const { stdout } = await commandLine(project, ["session", "revise", "new.md"]);
    expect(stdout).toMatch(/^The session now follows \.gemini\/plans\/.*-task-api-impl-plan-v2\.md\n/);
    expect(project.read("docs/my-plan.md")).toBe(text);
    expect(project.read(".gemini/plans/archive/my-plan.md.superseded")).toMatch(
      /^---\n# status: outdated\n# superseded_by: /,
    );
  });

  test("takes the session's own plan, edited in place, and keeps the version before it from the record (L166, F19)", async () => {
    createSession(project);
    project.write(".gemini/plans/notes.md", "mine");
    const edited = planText([
      { id: 1, description: "Other." },
      { id: 2, blocked_by: [1] },
    ]);
    project.write(planPath, edited);
    expect((await commandLine(project, ["session", "revise"])).stdout).toBe(
      `The session now follows .gemini/plans/${stem}-v2.md\n  ~ phase 1: description\n` +
        `The version before it is .gemini/plans/archive/${stem}.md.superseded\n`,
    );
    expect(project.list(".gemini/plans")).toEqual([`${stem}-v2.md`, "archive", "notes.md"]);
    expect(project.read(`.gemini/plans/${stem}-v2.md`)).toBe(edited);
    const earlier = project.read(`.gemini/plans/archive/${stem}.md.superseded`);
    expect(earlier).toMatch(/^---\n# status: outdated\n/);
    expect([earlier.includes("Work on 1."), earlier.includes("Other.")]).toEqual([true, false]);
    expect(project.read(".gemini/plans/notes.md")).toBe("mine");
    expect((await commandLine(project, ["status"])).stdout).not.toContain("The plan has changed");

    project.write(`.gemini/plans/${stem}-v2.md`, edited.replace("Other.", "Again."));
    expect((await commandLine(project, ["session", "revise"])).stdout).toContain(
      `now follows .gemini/plans/${stem}-v3.md\n`,
    );
    expect(project.read(`.gemini/plans/archive/${stem}-v2.md.superseded`)).toContain("Other.");
    expect(project.list(".gemini/plans")).toEqual([`${stem}-v3.md`, "archive", "notes.md"]);

    const again = await commandLine(project, ["session", "revise"]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already follows this plan")]);
  });

  test("leaves no draft behind in the plans directory (L166)", async () => {
    createSession(project);
    const draft = planText([{ id: 1 }, { id: 3, blocked_by: [1] }]);
    project.write(".gemini/plans/draft.md", draft);
    const run = await commandLine(project, ["session", "revise", ".gemini/plans/draft.md", "--json"]);
    expect(JSON.parse(run.stdout)).toEqual({
      implementation_plan: `.gemini/plans/${stem}-v2.md`,
      superseded: `.gemini/plans/archive/${stem}.md.superseded`,
      changes: ["- phase 2: Phase 2", "+ phase 3: Phase 3"],
    });
    expect(project.list(".gemini/plans")).toEqual([`${stem}-v2.md`, "archive"]);
    expect(project.read(`.gemini/plans/${stem}-v2.md`)).toBe(draft);
  });

  test("takes a patch of phases, and refuses it while an edit of the plan file waits to be taken (F19)", async () => {
    createSession(project);
    const patch = [{ id: 2, validation: ["npm test"], files_modified: ["src/b.ts"] }];
    const patched = (value: unknown) =>
      commandLine(project, ["session", "revise", "--patch", "-"], { input: JSON.stringify(value) });
    expect((await patched(patch)).stdout).toContain(
      `now follows .gemini/plans/${stem}-v2.md\n  ~ phase 2: validation, files_modified\n`,
    );
    const recorded = project.read(".gemini/state/progress.jsonl").trim().split("\n").at(-1) ?? "";
    expect(JSON.parse(recorded).plan.phases[1]).toMatchObject({
      ...{ validation: ["npm test"], files_modified: ["src/b.ts"], description: "Work on 2." },
    });
    expect(project.list(".gemini/plans")).toEqual([`${stem}-v2.md`, "archive"]);

    const invalid = await patched([{ id: 2, blocked_by: [7] }]);
    expect([invalid.code, invalid.stderr]).toEqual([2, expect.stringContaining("unknown_dependency")]);
    await move("1", "in_progress");
    expect((await patched([{ id: 1, agent: "tester" }])).stderr).toContain("its agent changes from coder to tester");
    expect(
      (
        await patched([
          { id: 1, remove: true },
          { id: 2, blocked_by: [] },
        ])
      ).stderr,
    ).toContain("is missing from the revision");

    const text = project.read(`.gemini/plans/${stem}-v2.md`);
    project.write(`.gemini/plans/${stem}-v2.md`, text.replace("Work on 2.", "Sneaked in."));
    const refused = await patched([{ id: 2, title: "B" }]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("the plan has changed")]);
    expect(project.read(".gemini/state/progress.jsonl")).not.toContain("Sneaked in.");
    expect((await commandLine(project, ["session", "revise", "p.md", "--patch", "-"])).stderr).toContain("not both");
  });

  test("keeps the user's own file outside the plans directory in place when it was edited (L166)", async () => {
    project.write("my-plan.md", planText([{ id: 1 }]));
    expect((await commandLine(project, ["session", "create", "my-plan.md"])).stderr).toBe("");
    const edited = planText([{ id: 1 }, { id: 2 }]);
    project.write("my-plan.md", edited);
    expect((await commandLine(project, ["session", "revise"])).stdout).toBe(
      "The session now follows my-plan.md\n  + phase 2: Phase 2\n" +
        "The version before it is .gemini/plans/archive/my-plan.md.superseded\n",
    );
    expect([project.read("my-plan.md"), project.list(".gemini/plans")]).toEqual([edited, ["archive"]]);
    expect(status(project)).toMatchObject({ implementation_plan: "my-plan.md", total_phases: 2 });
    expect((await commandLine(project, ["status"])).stdout).not.toContain("The plan has changed");
  });

  test("takes a -v2 that the user wrote himself as it is, and refuses a completed session", async () => {
    createSession(project);
    const next = ".gemini/plans/2026-02-14-task-api-impl-plan-v2.md";
    project.write(next, planText([{ id: 1 }]));
    await commandLine(project, ["session", "revise", next]);
    expect(project.list(".gemini/plans")).toEqual(["2026-02-14-task-api-impl-plan-v2.md", "archive"]);
    await move("1", "in_progress");
    await move("1", "completed");
    await commandLine(project, ["session", "complete"], { env: { MAESTRO_AUTO_ARCHIVE: "false" } });
    project.write("new.md", planText([{ id: 1 }, { id: 2 }]));
    expect((await commandLine(project, ["session", "revise", "new.md"])).stderr).toContain(
      "session 2026-02-14-task-api is completed",
    );
  });

  test.each(["a larger file", "a directory"])(
    "leaves %s that has the next name alone, and takes the one after",
    async (what) => {
      createSession(project);
      const next = ".gemini/plans/2026-02-14-task-api-impl-plan-v2.md";
      if (what === "a directory") project.write(`${next}/inside`, "mine");
      else project.write(next, "mine ".repeat(10_000));
      project.write("new.md", planText([{ id: 1 }]));
      const run = await commandLine(project, ["session", "revise", "new.md"]);
      expect([run.stderr, run.stdout]).toEqual([
        "",
        expect.stringMatching(/^The session now follows .gemini\/plans\/2026-02-14-task-api-impl-plan-v3.md\n/),
      ]);
      expect(project.read(what === "a directory" ? `${next}/inside` : next)).toMatch(/^mine/);
    },
  );

  test("is refused when it would lose a phase that was begun", async () => {
    createSession(project);
    await move("1", "in_progress");
    project.write("new.md", planText([{ id: 2 }]));
    expect((await commandLine(project, ["session", "revise", "new.md"])).stderr).toContain(
      "phase 1 is in_progress and is missing from the revision",
    );
    expect(project.list(".gemini/plans")).toEqual(["2026-02-14-task-api-impl-plan.md", "archive"]);
  });
});

describe("status --conflicts (L169)", () => {
  const conflicts = async () =>
    JSON.parse((await commandLine(project, ["status", "--json", "--conflicts"])).stdout).conflicts;

  test("finds files of unfinished and finished phases that changed, and a changed plan", async () => {
    project.write("src/old.ts", "1");
    createSession(project, [
      { id: 1, files_created: ["src/a.ts"] },
      { id: 2, blocked_by: [1], files_modified: ["src/old.ts"] },
    ]);
    await move("1", "in_progress");
    expect(await conflicts()).toEqual([]);
    project.write("src/a.ts", "half");
    expect(await conflicts()).toEqual([{ kind: "partially_modified", phase: "1", file: "src/a.ts" }]);
    await commandLine(project, ["session", "transition", "1", "completed", "--handoff", "-"], { input: report() });
    expect(await conflicts()).toEqual([]);
    project.write("src/a.ts", "edited by the user");
    project.write(planPath, `${project.read(planPath)}\nmore`);
    expect(await conflicts()).toEqual([
      { kind: "plan_changed", file: planPath },
      { kind: "modified_externally", phase: "1", file: "src/a.ts" },
    ]);
    const { stdout } = await commandLine(project, ["status", "--conflicts"]);
    expect(stdout).toContain(`The plan has changed since the session began: ${planPath}`);
    expect(stdout).toContain("Phase 1 recorded a file that has changed since: src/a.ts");
  });

  test("does not follow what an agent claims out of the project (T7)", async () => {
    createSession(project);
    await move("1", "in_progress");
    await commandLine(project, ["session", "transition", "1", "completed", "--handoff", "-"], {
      input: report({ "Files Created": "../../etc/passwd" }),
    });
    expect(await conflicts()).toEqual([]);
    expect(join(project.path)).not.toBe("");
  });
});

describe("in a project without a session", () => {
  test.each([
    [["session", "transition", "1", "in_progress"]],
    [["session", "note", "x"]],
    [["session", "mode", "parallel"]],
    [["session", "complete"]],
    [["archive"]],
  ])("%j is refused in one line with what to do, and makes nothing", (args) => {
    const run = project.maestro(args);
    expect([run.code, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toMatch(/^ERROR: No (?:session is active|active session)/);
    expect(project.list()).toEqual([]);
  });

  test("status says so, for people and for programs", async () => {
    expect(await commandLine(project, ["status"])).toMatchObject({
      code: 0,
      stdout: "No active session\n",
      stderr: "",
    });
    expect(status(project)).toEqual({ exists: false });
    expect(project.list()).toEqual([]);
  });
});

describe("the resume position (L167)", () => {
  test("is the last completed phase, what comes next, and what failed", async () => {
    createSession(project, [{ id: 1 }, { id: 2 }, { id: 3, blocked_by: [1, 2] }]);
    await move("1", "in_progress");
    await move("1", "completed");
    await move("2", "in_progress");
    expect(status(project).position).toMatchObject({
      last_completed: "1",
      next: "2",
      ready: [],
      unresolved: [],
      counts: { completed: 1, in_progress: 1, pending: 1 },
    });
  });
});

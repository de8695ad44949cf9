import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { createSession, Project, planText } from "../support/project.ts";
import { status } from "../support/status.ts";

const view = ".gemini/state/active-session.md";
let project: Project;
beforeEach(() => {
  project = new Project();
});
afterEach(() => project.remove());

const edit = (from: string | RegExp, to: string) => {
  const text = project.read(view);
  const edited = text.replace(from, to);
  expect(edited).not.toBe(text);
  return project.script("write-state.sh", [view], { input: edited });
};
const kept = (tag: string) =>
  project.list(".gemini/state").filter((name) => name.startsWith(`active-session.md.${tag}-`));
const phase1 = /(id: 1\n.*\n {4}status: )"pending"/;

describe("an edit of the view", () => {
  beforeEach(() => createSession(project));

  test("is a plain write, adopted by the next reader when it is legal (C20)", () => {
    expect(edit(phase1, '$1"in_progress"')).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
    const run = project.maestro(["status", "--json"]);
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toMatchObject({
      current_phase: "1",
      phases: [{ status: "in_progress", started: expect.any(String) }, {}],
    });
    expect(project.read(".gemini/state/progress.jsonl")).toContain('"type":"view.adopted"');
    expect(kept("corrupt")).toEqual([]);
  });

  test("is adopted before another change is judged, so neither is lost", async () => {
    edit(phase1, '$1"in_progress"');
    expect((await commandLine(project, ["session", "transition", "1", "completed"])).stderr).toBe("");
    expect(status(project).phases[0].status).toBe("completed");
  });

  test.each([
    ["an illegal move", phase1, '$1"completed"', "Cannot move phase 1 from pending to completed"],
    ["a skip, which only a person may decide", phase1, '$1"skipped"', "only the user may decide"],
    ["another session's id", /session_id: ".*"/, 'session_id: "2026-02-14-other"', "session_id cannot be changed"],
    ["another agent", 'agents: ["coder"]', 'agents: ["tester"]', "agents belongs to the plan"],
    ["fewer phases", / {2}- id: 2[\s\S]*?retry_count: 0\n/, "", "phases cannot be added or removed"],
    ["a retry count", "retry_count: 0", "retry_count: 7", "retry_count cannot be edited"],
    ["an unknown status", phase1, '$1"sleeping"', "phases.0.status"],
    ["broken YAML", "token_usage:", "token_usage: [", "cannot be read as YAML"],
    ["no front matter", /^---/, "", "no closed YAML front matter"],
  ])("that is %s is kept aside, and the view is rebuilt with a message", async (_what, from, to, reason) => {
    const before = project.read(view);
    edit(from, to);
    const edited = project.read(view);
    const run = await commandLine(project, ["status", "--json"]);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(reason);
    expect(JSON.parse(run.stdout)).toMatchObject({ exists: true, phases: [{ status: "pending" }, {}] });
    expect(project.read(view)).toBe(before);
    expect(kept("corrupt")).toHaveLength(1);
    expect(project.read(join(".gemini/state", kept("corrupt")[0] as string))).toBe(edited);
  });

  test("may close a phase and start the next at once", async () => {
    project.maestro(["session", "transition", "1", "in_progress"]);
    const text = project
      .read(view)
      .replace(/(id: 1\n.*\n {4}status: )"in_progress"/, '$1"completed"')
      .replace(/(id: 2\n.*\n {4}status: )"pending"/, '$1"in_progress"');
    project.write(view, text);
    const run = await commandLine(project, ["status", "--json"]);
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toMatchObject({
      current_phase: "2",
      phases: [{ status: "completed" }, { status: "in_progress" }],
    });
  });

  test("may add files, errors, context, tokens and a first execution mode", () => {
    edit("execution_mode: null", "execution_mode: parallel");
    edit("files_created: []", 'files_created: ["a.ts"]');
    edit(
      "errors: []",
      'errors: [{agent: coder, timestamp: "2026-02-14T23:07:00Z", type: timeout, message: slow, resolution: pending, resolved: false}]',
    );
    edit("warnings: []", "warnings: [careful]");
    edit("total_input: 0", "total_input: 12");
    expect(status(project)).toMatchObject({
      execution_mode: "parallel",
      token_usage: { total_input: 12 },
      phases: [
        { files_created: ["a.ts"], errors: [{ type: "timeout" }], downstream_context: { warnings: ["careful"] } },
        {},
      ],
    });
  });

  test("changes only what the editor changed, not what happened since, and causes no retry", async () => {
    await commandLine(project, ["session", "transition", "1", "in_progress"]);
    const seen = project.read(view);
    await commandLine(project, ["session", "transition", "1", "failed"]);
    project.write(view, seen.replace("warnings: []", "warnings: [careful]"));
    const run = await commandLine(project, ["status", "--json"]);
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout).phases[0]).toMatchObject({
      status: "failed",
      retry_count: 0,
      downstream_context: { warnings: ["careful"] },
    });
  });

  test("may close the last phase and the session at once", async () => {
    await commandLine(project, ["session", "transition", "2", "skipped", "--user-decision"]);
    await commandLine(project, ["session", "transition", "1", "in_progress"]);
    const text = project
      .read(view)
      .replace('status: "in_progress"', 'status: "completed"')
      .replace(/(id: 1\n.*\n {4}status: )"in_progress"/, '$1"completed"');
    project.write(view, text);
    expect(status(project)).toMatchObject({
      status: "completed",
      phases: [{ status: "completed" }, { status: "skipped" }],
    });
  });

  test("keeps a copy of what follows from the moves and cannot be set", async () => {
    edit("current_phase: 1", "current_phase: 2");
    expect((await commandLine(project, ["status"])).stderr).toContain("a copy is kept");
    expect(kept("edited")).toHaveLength(1);
  });

  test("keeps a copy of text that the rendering does not have", async () => {
    edit("### Agent Output\n", "### Agent Output\nMy own words about it.\n");
    const run = await commandLine(project, ["status"]);
    expect(run.stderr).toContain("contains added text");
    expect(kept("edited")).toHaveLength(1);
    expect(project.read(join(".gemini/state", kept("edited")[0] as string))).toContain("My own words about it.");
  });

  test("that changes nothing but white space is quietly drawn anew", async () => {
    const before = project.read(view);
    project.write(view, before.replaceAll("\n", "\r\n"));
    expect((await commandLine(project, ["status"])).stderr).toBe("");
    expect(project.read(view)).toBe(before);
  });

  test.each(["deleted", "a directory", "a link", "a FIFO", "a sparse gigabyte"])(
    "that leaves it %s is repaired, and nothing outside is touched",
    async (what) => {
      const before = project.read(view);
      project.run("rm", [view]);
      project.write("outside", "precious");
      if (what === "a directory") mkdirSync(join(project.path, view));
      if (what === "a link") symlinkSync(join(project.path, "outside"), join(project.path, view));
      if (what === "a FIFO") project.run("mkfifo", [view]);
      if (what === "a sparse gigabyte") project.run("truncate", ["-s", "1G", view]);
      const run = await commandLine(project, ["status", "--json"]);
      expect([run.code, JSON.parse(run.stdout).exists]).toEqual([0, true]);
      expect(project.read(view)).toBe(before);
      expect(project.read("outside")).toBe("precious");
      expect(kept("corrupt")).toHaveLength(what === "deleted" ? 0 : 1);
    },
  );
});

describe("a session whose journal is missing", () => {
  test.each(["deleted", "emptied"])("(%s) is rebuilt from its view, with a message about what is lost", async (how) => {
    createSession(project);
    await commandLine(project, ["session", "transition", "1", "in_progress"]);
    if (how === "deleted") project.run("rm", [".gemini/state/progress.jsonl"]);
    else project.write(".gemini/state/progress.jsonl", "");
    const run = await commandLine(project, ["status", "--conflicts"]);
    expect(run.stderr).toContain("The journal is missing; the session was restored from active-session.md");
    expect(run.stdout).toContain("Cannot tell whether the plan has changed");
    expect(status(project).phases[0].status).toBe("in_progress");
  });
});

describe("a view without a journal", () => {
  const template = (over = "") =>
    `---\nsession_id: "2026-02-14-old"\ncreated: "2026-02-14T22:58:00Z"\nupdated: "2026-02-14T22:58:00Z"\nstatus: "in_progress"\ncurrent_phase: 2\ntotal_phases: 2\nphases:\n  - {id: 1, name: One, status: completed, agents: [coder]}\n  - {id: 2, name: Two, status: in_progress, agents: [tester], blocked_by: [1]}\n${over}---\n\n# Old Orchestration Log\n`;

  test("is adopted as a whole by the next reader", async () => {
    project.script("write-state.sh", [view], { input: template() });
    expect(status(project)).toMatchObject({
      session_id: "2026-02-14-old",
      title: "Old",
      phases: [{ status: "completed" }, { status: "in_progress" }],
    });
    expect((await commandLine(project, ["session", "transition", "2", "completed"])).code).toBe(0);
    expect((await commandLine(project, ["archive"])).stdout).toContain("2026-02-14-old (completed)");
  });

  test("forbids creating another session (K138)", async () => {
    project.write(view, template());
    project.write("plan.md", planText([{ id: 1 }]));
    expect((await commandLine(project, ["session", "create", "plan.md"])).stderr).toContain(
      "A session is already active: 2026-02-14-old",
    );
  });

  test.each([
    ["garbage", "garbage"],
    ["nothing", ""],
    ["a NUL-filled file", "\0".repeat(1000)],
    ["two phases of one id", template().replace("id: 2", "id: 1")],
    ["an unknown dependency", template().replace("blocked_by: [1]", "blocked_by: [7]")],
  ])("is parse_failed when it is %s; the bytes stay and a copy is kept, once (C32)", async (_what, text) => {
    project.write(view, text);
    for (let look = 0; look < 2; look++) {
      const run = await commandLine(project, ["status", "--json"]);
      expect(run.code).toBe(1);
      expect(JSON.parse(run.stdout)).toMatchObject({
        exists: false,
        error: "parse_failed",
        kept: expect.stringContaining("corrupt-"),
      });
    }
    expect(project.read(view)).toBe(text);
    expect(kept("corrupt")).toHaveLength(1);
    expect(project.read(join(".gemini/state", kept("corrupt")[0] as string))).toBe(text);
    project.write("plan.md", planText([{ id: 1 }]));
    expect(await commandLine(project, ["session", "create", "plan.md"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("cannot be read"),
    });
  });

  test("that is broken is set aside by doctor --fix, and the project is usable again", async () => {
    project.write(view, "garbage");
    expect((await commandLine(project, ["doctor"])).code).toBe(3);
    expect((await commandLine(project, ["doctor", "--fix"])).stdout).toContain(
      "Set aside .gemini/state/active-session.md",
    );
    expect(status(project)).toEqual({ exists: false });
    createSession(project);
  });
});

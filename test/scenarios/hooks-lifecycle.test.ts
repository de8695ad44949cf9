import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { agentTiers, deniedTools } from "../../src/agents/tiers.ts";
import {
  complete,
  contextOf,
  delegated,
  faultsOf,
  finish,
  handBack,
  hook,
  invoke,
  move,
  type Reply,
  report,
  Shelf,
  sessionProject,
  startHook,
  statusesOf,
  succeed,
} from "../support/hooks.ts";
import { createSession, type PhaseSpec, Project, planPath, planText, root } from "../support/project.ts";
import { status } from "../support/status.ts";

const id = "2026-02-14-task-api";
const state = ".gemini/state";
const howToContinue =
  "If the user wants to continue it and you do not lead it yet: activate the skill session-management, section Resume (as /maestro:resume does).";
const checkpoint = `${state}/compress-checkpoint.md`;
const two: PhaseSpec[] = [{ id: 1 }, { id: 2, agent: "tester", blocked_by: [1] }];
/** What the engine sets for the process of an attempt. */
const attempt = { MAESTRO_AGENT: "coder", MAESTRO_PHASE: "1" };

const shelf = new Shelf();
afterEach(() => shelf.clear());

const emptyProject = () => shelf.keep(new Project());
const inSession = (phases = two) => shelf.keep(sessionProject(phases));

/** A session with nothing left to do, not archived yet. */
function completedSession(): Project {
  const project = inSession([{ id: 1 }]);
  move(project, "1", "in_progress");
  move(project, "1", "completed");
  finish(project);
  return project;
}

describe("SessionStart (R227-R230, C38)", () => {
  const start = (project: Project, env: Record<string, string> = {}) => hook(project, "SessionStart", {}, env);

  test("creates the workspace, and tells the user, not the model, once that it is ready (C47)", () => {
    const project = emptyProject();
    const { reply, stderr } = start(project);
    expect(stderr).toBe("");
    expect(project.list(".gemini")).toEqual(["parallel", "plans", "state"]);
    expect(reply).toEqual({ continue: true, systemMessage: expect.stringContaining(".gemini is ready") });
    expect(start(project).reply).toEqual({ continue: true });
  });

  test("completes a partial workspace", () => {
    const project = emptyProject();
    mkdirSync(join(project.path, state), { recursive: true });
    start(project);
    expect(project.list(".gemini")).toEqual(["parallel", "plans", "state"]);
    expect(project.list(".gemini/plans")).toEqual(["archive"]);
  });

  test("shows user and model a session that is waiting: its status and its current phase", () => {
    const project = inSession();
    move(project, "1", "in_progress");
    const { reply } = start(project);
    expect(reply.systemMessage).toMatch(
      new RegExp(`unfinished session.*${id}, in progress, 0 of 2 phases done, phase 1 \\(Phase 1\\) is in progress`),
    );
    expect(reply.hookSpecificOutput).toEqual({
      hookEventName: "SessionStart",
      additionalContext: reply.systemMessage,
    });
  });

  test("says that a completed session can be archived", () => {
    expect(start(completedSession()).reply.systemMessage).toMatch(/is completed \(1 of 1 phases done\).*archive/);
  });

  test("says a few words however long a phase's name is", () => {
    const project = emptyProject();
    project.write(planPath, planText([{ id: 1 }], "T").replace('"Phase 1"', JSON.stringify("long name ".repeat(5000))));
    succeed(project, ["session", "create", planPath]);
    expect(start(project).reply.systemMessage?.length).toBeLessThan(400);
    expect(hook(project, "PreCompress").reply.systemMessage?.length).toBeLessThan(400);
  });

  test.each([
    ["as it is", (path: string) => path],
    ["with a slash behind it", (path: string) => `${path}/`],
    ["through a link", (path: string) => linkTo(path)],
  ])("makes no workspace in the home directory, %s", (_, spelling) => {
    const project = emptyProject();
    const before = project.list();
    const home = spelling(project.path);
    expect(start(project, { HOME: home }).reply).toEqual({ continue: true });
    expect(invoke(project, "coder", "Do it.", { HOME: home }).decision).toBe("allow");
    expect(project.list()).toEqual(before);
  });

  test("makes no workspace in the root of the file system", async () => {
    const project = emptyProject();
    const env = { MAESTRO_STATE_DIR: "maestro-test-must-not-appear" };
    const { reply } = await startHook(project, "SessionStart", { input: '{"cwd":"/"}', env, cwd: "/" });
    const appeared = existsSync("/maestro-test-must-not-appear");
    rmSync("/maestro-test-must-not-appear", { recursive: true, force: true });
    expect(appeared).toBe(false);
    expect(reply).toEqual({ continue: true });
  });

  test("works in the directory that the CLI names, whatever its own is", async () => {
    const project = emptyProject();
    await startHook(project, "SessionStart", { input: JSON.stringify({ cwd: project.path }), cwd: "/" });
    expect(project.exists(".gemini/state")).toBe(true);
  });

  test.each([
    ["relative, exported", () => "deep/state"],
    ["relative, from .env", () => "deep/state"],
    ["absolute, exported", (project: Project) => join(project.path, "..", `${project.path.split("/").at(-1)}-state`)],
  ])("uses the state directory of the settings: %s (C36)", (how, choose) => {
    const project = emptyProject();
    const directory = choose(project);
    const env: Record<string, string> = how.includes(".env") ? {} : { MAESTRO_STATE_DIR: directory };
    if (how.includes(".env")) project.write(".env", `MAESTRO_STATE_DIR="${directory}"\n`);
    const full = join(directory.startsWith("/") ? "" : project.path, directory);
    try {
      expect(start(project, env).reply.systemMessage).toContain(`${directory} is ready`);
      expect(statSync(join(full, "state")).isDirectory()).toBe(true);
      expect(project.exists(".gemini")).toBe(false);
      project.write("plan.md", planText([{ id: 1 }]));
      expect(project.maestro(["session", "create", "plan.md"], { env }).code).toBe(0);
      expect(start(project, env).reply.systemMessage).toContain("unfinished session");
      hook(project, "PreCompress", {}, env);
      expect(existsSync(join(full, "state/compress-checkpoint.md"))).toBe(true);
      expect(project.exists(".gemini")).toBe(false);
    } finally {
      rmSync(full, { recursive: true, force: true });
    }
  });
});

function linkTo(path: string): string {
  const folder = shelf.keep(new Project());
  symlinkSync(path, join(folder.path, "home"));
  return join(folder.path, "home");
}

describe("SessionEnd (R231-R233)", () => {
  const end = (project: Project, env: Record<string, string> = {}) => hook(project, "SessionEnd", {}, env).reply;
  const history = (project: Project) => project.read(`${state}/session-history.log`);

  test("archives a completed session and its plan, with one line in the history", () => {
    const project = completedSession();
    expect(end(project)).toMatchObject({ continue: true, systemMessage: expect.stringContaining(id) });
    expect(status(project).exists).toBe(false);
    expect(project.list(`${state}/archive`)).toEqual([`${id}.jsonl`, `${id}.md`]);
    expect(project.list(".gemini/plans/archive")).toEqual([planPath.split("/").at(-1)]);
    expect(project.exists(planPath)).toBe(false);
    expect(history(project)).toMatch(new RegExp(`^\\S+Z ${id} completed phases=1/1 \\S+\n$`));
    expect(end(project)).toEqual({ continue: true });
    expect(history(project).split("\n")).toHaveLength(2);
  });

  test.each(["environment", ".env"])("does not archive when MAESTRO_AUTO_ARCHIVE is off in the %s", (where) => {
    const project = completedSession();
    if (where === ".env") project.write(".env", "MAESTRO_AUTO_ARCHIVE=false\n");
    expect(end(project, where === ".env" ? {} : { MAESTRO_AUTO_ARCHIVE: "false" })).toEqual({ continue: true });
    expect(status(project).status).toBe("completed");
    expect(history(project)).toContain(`${id} completed phases=1/1`);
  });

  test("leaves an unfinished one, with a line in the history for each state in which a conversation ended", () => {
    const project = inSession();
    expect(end(project)).toEqual({ continue: true });
    expect(end(project)).toEqual({ continue: true });
    expect(history(project)).toMatch(new RegExp(`^\\S+Z ${id} in_progress phases=0/2 \\S+\n$`));
    move(project, "1", "in_progress");
    move(project, "1", "completed");
    end(project);
    expect(history(project)).toMatch(/phases=0\/2 \S+\n\S+Z \S+ in_progress phases=1\/2 \S+\n$/);
    expect(status(project).exists).toBe(true);
  });

  test.each(["", "x", "a line that another program wrote\n"])("appends to a history that begins with %j", (before) => {
    const project = inSession();
    project.write(`${state}/session-history.log`, before);
    end(project);
    expect(history(project)).toMatch(new RegExp(`^${before.trim()}${before === "" ? "" : "\n"}\\S+Z ${id} .*\n$`));
  });

  test("does nothing without a session, and makes no workspace", () => {
    const project = emptyProject();
    expect(end(project)).toEqual({ continue: true });
    expect(project.list()).toEqual([]);
  });
});

describe("BeforeAgent (U244, U245)", () => {
  const turn = (project: Project, prompt: string, env: Record<string, string> = {}) =>
    hook(project, "BeforeAgent", { prompt }, env).reply;

  test("says nothing without a session", () => {
    expect(turn(emptyProject(), "Write me a poem.")).toEqual({ continue: true });
  });

  test("gives the model, in a few words, the state of the session", () => {
    const project = inSession();
    move(project, "1", "in_progress");
    const reply = turn(project, "Go on.");
    expect(reply.systemMessage).toBeUndefined();
    expect(contextOf(reply)).toBe(
      `Maestro session ${id}: in_progress, sequential mode, 0 of 2 phases done.\nIn progress: 1 Phase 1 (coder).\n${howToContinue}`,
    );
    expect(hook(project, "PreCompress").reply.systemMessage).not.toContain(howToContinue);
    expect(contextOf(turn(project, "/maestro:status"))).not.toContain(howToContinue);
    move(project, "1", "completed");
    expect(contextOf(turn(project, "Go on."))).toContain("1 of 2 phases done.\nReady: 2 Phase 2 (tester).");
  });

  test.each([
    [
      "a file in place of the directory",
      (project: Project) => void project.write(".gemini", "x"),
      /Failed to create directory: \.gemini\/state/,
    ],
    [
      "a link",
      (project: Project) => symlinkSync(project.path, join(project.path, ".gemini")),
      /STATE_DIR must not be a symlink \(got: \.gemini\)/,
    ],
  ])(
    "record A8: stops an orchestration whose workspace cannot be used, and shows the user why: %s (A19)",
    (_what, spoil, why) => {
      const project = emptyProject();
      spoil(project);
      for (const command of ["orchestrate", "execute", "resume"]) {
        const reply = turn(project, `[maestro:${command}] A task API`);
        expect(reply).toEqual({ decision: "deny", reason: expect.stringMatching(why) });
        expect(reply.reason).toContain(`/maestro:${command} stops here`);
      }
      for (const prompt of ["[maestro:review] src", "Write me a poem."]) {
        expect(turn(project, prompt).decision).toBeUndefined();
      }
    },
  );

  test("prepares the workspace when an orchestration begins, before any state is written (A19)", () => {
    const project = emptyProject();
    expect(turn(project, "[maestro:orchestrate] A task API").decision).toBeUndefined();
    expect(project.list(".gemini")).toEqual(["parallel", "plans", "state"]);
  });

  test("offers set-up once, in the first orchestration of a user who has not run it", () => {
    const project = emptyProject();
    const context = (prompt: string) => contextOf(turn(project, prompt));
    expect(context("[maestro:status]")).not.toContain("Set-up");
    expect(context("[maestro:orchestrate] A task API")).toMatch(/Set-up is missing\..*maestro\.js" setup/);
    expect(context("[maestro:orchestrate] A task API")).not.toContain("Set-up");
  });

  test.each(["[maestro:status] Show it.", "/maestro:status", "Please:\n  /maestro:resume now"])(
    "gives the whole status and the command line for %j",
    (prompt) => {
      const project = inSession();
      const context = contextOf(turn(project, prompt));
      expect(context).toMatch(/Phase 1 .*coder[\s\S]*Phase 2 .*tester/);
      expect(context).toMatch(/command line: node ".*\/dist\/maestro\.js"$/);
    },
  );

  test("says that no session exists, and what could be executed, when a prompt asks for Maestro", () => {
    const project = emptyProject();
    project.write(planPath, planText([{ id: 1 }]));
    const context = contextOf(turn(project, "[maestro:execute]"));
    expect(context).toMatch(/no active session[\s\S]*2026-02-14-task-api-impl-plan\.md[\s\S]*dist\/maestro\.js/);
  });

  test.each(["orchestrate", "execute", "resume", "review", "debug", "security-audit", "perf-check"])(
    "gives the lead its instructions with /maestro:%s, each time, before the state of the session (O208)",
    (command) => {
      const project = inSession();
      const instructions = readFileSync(join(root, "GEMINI.md"), "utf8").trimEnd();
      for (let times = 0; times < 2; times++) {
        const context = contextOf(turn(project, `[maestro:${command}] the parser`));
        expect(context.startsWith(`${instructions}\n`)).toBe(true);
        expect(context.slice(instructions.length)).toContain(id);
      }
    },
  );

  test.each([
    ["an ordinary prompt", "Go on.", {}],
    ["a look at the session", "[maestro:status]", {}],
    ["a command that does not exist", "[maestro:plan] A task API", {}],
    ["the prompt of an attempt", "[maestro:orchestrate] A task API", attempt],
  ])("keeps the lead's instructions out of %s (O208)", (_what, prompt, env) => {
    for (const project of [emptyProject(), inSession()])
      expect(JSON.stringify(turn(project, prompt, env))).not.toContain("TechLead");
  });

  test("leads with the instructions of this program when the extension has none", () => {
    const project = emptyProject();
    project.write("other/agents/coder.md", readFileSync(join(root, "agents/coder.md"), "utf8"));
    const env = { MAESTRO_EXTENSION_PATH: join(project.path, "other") };
    expect(contextOf(turn(project, "[maestro:debug] it", env))).toContain("You are the TechLead");
  });

  test("does not take a mention for a call", () => {
    expect(turn(emptyProject(), "What does the command maestro:status do?")).toEqual({ continue: true });
  });

  test("speaks of the session as it is, not as a checkpoint has it that was planted", () => {
    const project = inSession();
    turn(project, "x");
    const planted = project.read(checkpoint).replaceAll("sequential", "PLANTED");
    expect(planted).toContain("PLANTED");
    move(project, "1", "in_progress");
    project.write(checkpoint, planted);
    expect(contextOf(turn(project, "x"))).toContain("In progress: 1");
  });
});

describe("AfterAgent (V246-V251, C6)", () => {
  const answer = (project: Project, response: string, input: object = {}, env: Record<string, string> = attempt) =>
    hook(project, "AfterAgent", { prompt: "x", prompt_response: response, stop_hook_active: false, ...input }, env)
      .reply;

  test("never judges the TechLead's own answers", () => {
    const project = inSession();
    for (const prompt of ["Go on.", "Agent: coder is what I want", "Agent: coder\nPhase: 1\nDo it."])
      expect(answer(project, "No report at all.", { prompt }, {})).toEqual({ continue: true });
  });

  test("lets a complete report pass", () => {
    expect(answer(inSession(), report())).toEqual({ continue: true });
  });

  test.each<[string, string, string[], string[]]>([
    ["no report", "I am done.", ["Task Report", "Status", "Files Created", "Downstream Context"], []],
    ["no status", report().replace(/- Status.*\n/, ""), ['"- Status:"'], ["Task Report", "Files"]],
    ["no valid status", report({ status: "great" }), ['"- Status:" with success, partial or failure'], ["Files"]],
    ["no deleted files", report().replace(/- Files Deleted.*\n/, ""), ["Files Deleted"], ["Files Created", "Status"]],
    ["no context", report({ context: null }), ["Downstream Context"], ["Task Report", "Files"]],
  ])("sends an answer with %s back once, with exactly what is missing", (_, response, missing, present) => {
    const project = inSession();
    const reply = answer(project, response);
    expect(reply.decision).toBe("deny");
    for (const part of missing) expect(reply.reason).toContain(part);
    for (const part of present) expect(reply.reason).not.toContain(part);
    const again = answer(project, response, { stop_hook_active: true });
    expect(again).toEqual({ continue: true, systemMessage: expect.stringContaining(missing[0] ?? "") });
  });

  test("requires a Downstream Context when another phase waits, or when that is unknown", () => {
    const project = inSession();
    const short = report({ context: null });
    const phase = (name: string) => ({ ...attempt, MAESTRO_PHASE: name });
    expect(answer(project, short, {}, phase("2"))).toEqual({ continue: true });
    expect(answer(project, short, {}, phase("1")).decision).toBe("deny");
    expect(answer(project, short, {}, phase("9")).decision).toBe("deny");
    expect(answer(emptyProject(), short).decision).toBe("deny");
    project.write(`${state}/progress.jsonl`, "garbage\nmore\n");
    expect(answer(project, short, {}, phase("2")).decision).toBe("deny");
  });

  test("judges an answer to a prompt that carries the header of a delegation", () => {
    const project = inSession();
    const prompt = `Agent: tester\nPhase: 2\nSession: ${id}\n\nPROJECT ROOT: /p\n`;
    expect(answer(project, "Done.", { prompt }, {}).decision).toBe("deny");
    expect(answer(project, report({ context: null }), { prompt }, {})).toEqual({ continue: true });
  });

  test("leaves what the report says to the engine: a failure with all its parts is a report", () => {
    expect(answer(inSession(), report({ status: "failure" }))).toEqual({ continue: true });
  });
});

describe("inside an attempt (the caller is known)", () => {
  test("adds nothing for a TechLead, archives nothing and writes nothing", () => {
    const project = completedSession();
    const before = project.list(state);
    for (const event of ["SessionStart", "SessionEnd", "BeforeAgent", "PreCompress"])
      expect(hook(project, event, { prompt: "[maestro:status]" }, attempt).reply).toEqual({ continue: true });
    expect(project.list(state)).toEqual(before);
    const bare = emptyProject();
    hook(bare, "SessionStart", {}, attempt);
    expect(bare.list()).toEqual([]);
  });

  test("does not delegate", () => {
    const reply = invoke(inSession(), "tester", "Phase: 2", attempt);
    expect(reply).toEqual({ decision: "deny", reason: expect.stringContaining("do not delegate") });
  });

  test("selects no tools: the agent must be able to end with words", () => {
    const messages = [{ role: "user", content: "Agent: architect\n\nPROJECT ROOT: /p\n" }];
    expect(hook(inSession(), "BeforeToolSelection", { llm_request: { messages } }, attempt).reply).toEqual({
      continue: true,
    });
  });

  test.each([...agentTiers])("%s has the tools of its tier, %s, and no others (S239, S240)", async (agent, tier) => {
    const project = emptyProject();
    const calls = {
      run_shell_command: { command: "npm test" },
      write_file: { file_path: join(project.path, "a.txt"), content: "x" },
      replace: { file_path: join(project.path, "a.txt"), old_string: "x", new_string: "y" },
    };
    const denied = Object.entries(calls).map(async ([tool_name, tool_input]) => {
      const input = JSON.stringify({ cwd: project.path, tool_name, tool_input });
      const env = { MAESTRO_AGENT: agent.replaceAll("-", "_"), MAESTRO_PHASE: "1" };
      const { reply } = await startHook(project, "BeforeTool", { input, env });
      if (reply.decision === "allow") return [];
      expect(reply.reason).toContain(tool_name);
      return [tool_name];
    });
    expect((await Promise.all(denied)).flat().sort()).toEqual([...deniedTools[tier]].sort());
  });
});

describe("BeforeTool (S239, S240)", () => {
  test("allows tools that it does not judge, and harmless calls", () => {
    const project = emptyProject();
    for (const [tool_name, tool_input] of [
      ["read_file", { file_path: "/etc/hostname" }],
      ["run_shell_command", { command: "npm test > /dev/null 2>&1" }],
      ["mcp_other_write_file", {}],
    ] as const)
      expect(hook(project, "BeforeTool", { tool_name, tool_input }).reply).toEqual({ decision: "allow" });
    expect(project.list()).toEqual([]);
  });
});

describe("BeforeToolSelection (T241-T243)", () => {
  test("offers a delegated agent the tools of its tier, and the way to come back", () => {
    const project = inSession([{ id: 1, agent: "architect" }]);
    const messages = [{ role: "user", content: delegated(project, "architect", "Phase: 1") }];
    expect(hook(project, "BeforeToolSelection", { llm_request: { messages } }).reply.hookSpecificOutput).toEqual({
      hookEventName: "BeforeToolSelection",
      toolConfig: {
        mode: "ANY",
        allowedFunctionNames: [
          "list_directory",
          "read_file",
          "grep_search",
          "glob",
          "google_web_search",
          "web_fetch",
          "complete_task",
        ],
      },
    });
  });
});

describe("PreCompress (W252-W254)", () => {
  const compress = (project: Project): Reply => hook(project, "PreCompress", { trigger: "auto" }).reply;

  test("writes what must survive: current, completed and pending phases, the last error; and says where the rest is", () => {
    const project = inSession([{ id: 1 }, { id: 2, blocked_by: [1] }, { id: 3, blocked_by: [2] }]);
    move(project, "1", "in_progress");
    move(project, "1", "completed");
    move(project, "2", "in_progress");
    move(project, "2", "failed", "the build --> broke");
    const { systemMessage } = compress(project);
    for (const said of [systemMessage, project.read(checkpoint)]) {
      expect(said).toContain(id);
      expect(said).toContain("1 of 3 phases done");
      expect(said).toContain("Failed: 2 Phase 2");
      expect(said).toContain("the build --> broke");
      expect(said).toContain("maestro_session_read");
    }
    expect(project.read(checkpoint)).toMatch(/\nCompleted: 1 \(Phase 1\)\nPending: 3 \(Phase 3\)\nCurrent phase: 2\n/);
    expect(statSync(join(project.path, checkpoint)).mode & 0o077).toBe(0);
  });

  test("record A8: keeps the errors of a phase that is retried until the phase is completed (W252)", () => {
    const project = inSession();
    move(project, "1", "in_progress");
    move(project, "1", "failed", "the build broke");
    move(project, "1", "in_progress");
    expect(compress(project).systemMessage).toContain("Last error, phase 1: the build broke");
    expect(project.read(checkpoint)).toContain(
      "Errors of phases that are not done:\n- phase 1, runtime: the build broke\n",
    );
    move(project, "1", "completed");
    expect(compress(project).systemMessage).not.toContain("the build broke");
    expect(project.read(checkpoint)).not.toContain("the build broke");
  });

  test("record A8: shows the summary each time, and writes it again only when the session has changed (W254)", () => {
    const project = inSession();
    const said = compress(project);
    expect(said.systemMessage).toContain(id);
    expect(said.systemMessage).toContain("maestro_session_read");
    const written = () => statSync(join(project.path, checkpoint)).ino;
    const first = written();
    expect(compress(project)).toEqual(said);
    // Without the fast path: a state directory of two names.
    const env = { MAESTRO_STATE_DIR: "./.gemini" };
    expect(hook(project, "PreCompress", { trigger: "auto" }, env).reply).toEqual(said);
    expect(written()).toBe(first);
    move(project, "1", "in_progress");
    expect(compress(project).systemMessage).toContain("In progress: 1");
    expect(written()).not.toBe(first);
  });

  test("does not believe a checkpoint of another journal, nor one that is damaged", () => {
    const project = inSession();
    compress(project);
    utimesSync(join(project.path, state, "progress.jsonl"), 1, 1);
    expect(compress(project).systemMessage).toContain(id);
    for (const damaged of ["", "<!-- { -->\n", "x".repeat(100_000), '<!-- {"journal":7} -->\n']) {
      project.write(checkpoint, damaged);
      expect(compress(project).systemMessage).toContain(id);
    }
  });

  test("does nothing without a session", () => {
    const project = emptyProject();
    expect(compress(project)).toEqual({ continue: true });
    expect(project.list()).toEqual([]);
    mkdirSync(join(project.path, state), { recursive: true });
    expect(compress(project)).toEqual({ continue: true });
    expect(project.list(state)).toEqual([]);
  });
});

describe("the checkpoint, as a shorter way to the same answer", () => {
  test.each<[string, () => Project]>([
    ["no session", () => inSession([{ id: 1 }])],
    ["one that is being executed", () => begun()],
    ["one that is completed", completedSession],
  ])("%s", (what, make) => {
    const project = make();
    if (what === "no session") succeed(project, ["archive"]);
    const env = { MAESTRO_AUTO_ARCHIVE: "false" };
    for (const [event, input] of [
      ["SessionStart", {}],
      ["BeforeAgent", { prompt: "Go on." }],
      ["BeforeAgent", { prompt: "[maestro:plan] A task API" }],
      ["SessionEnd", {}],
    ] as const) {
      rmSync(join(project.path, checkpoint), { force: true });
      const long = hook(project, event, input, env);
      const short = hook(project, event, input, env);
      expect([event, short.reply, short.stderr]).toEqual([event, long.reply, long.stderr]);
      // A delegation leaves a file that has to be deleted.
      delegated(project, "debugger", "Phase: none");
      expect(hook(project, event, input, env).reply).toEqual(long.reply);
    }
  });

  function begun(): Project {
    const project = inSession();
    move(project, "1", "in_progress");
    return project;
  }
});

describe("a session that is only a view: written by hand, by a script, by an earlier version", () => {
  const view = `${state}/active-session.md`;

  /** What `project` shows of its session, and nothing else of it. */
  function onlyView(project: Project): Project {
    const bare = emptyProject();
    bare.write(view, project.read(view).replace(/\n<!-- maestro:view .*-->\n$/, ""));
    return bare;
  }

  test.each(["SessionStart", "BeforeAgent", "PreCompress"])(
    "is found by %s and can be resumed as any other (R229)",
    (event) => {
      const running = inSession();
      move(running, "1", "in_progress");
      const project = onlyView(running);
      const { reply } = hook(project, event, { prompt: "Go on." });
      expect(JSON.stringify(reply)).toContain(id);
      expect(hook(project, "BeforeAgent", { prompt: "Go on." }).reply.hookSpecificOutput?.additionalContext).toMatch(
        /0 of 2 phases done\.\nIn progress: 1 Phase 1 \(coder\)\.\n/,
      );
      handBack(project, "coder", delegated(project, "coder", "Phase: 1"), report());
      expect(statusesOf(project)).toEqual(["completed", "pending"]);
      expect(faultsOf(project)).toEqual([]);
    },
  );

  test("is archived by SessionEnd when it is completed (R231)", () => {
    const project = onlyView(completedSession());
    expect(hook(project, "SessionEnd").reply.systemMessage).toContain("archived");
    expect(project.list(`${state}/archive`)).toEqual([`${id}.jsonl`, `${id}.md`]);
  });

  test("stays as it is when it cannot be read, and is not copied again and again", () => {
    const project = emptyProject();
    project.write(view, "---\nsession_id: [\n---\n");
    for (let turn = 0; turn < 3; turn++) {
      for (const event of ["BeforeAgent", "SessionStart"] as const) {
        expect(contextOf(hook(project, event, { prompt: "Go on." }).reply)).toContain("the session cannot be read");
      }
    }
    expect(project.read(view)).toBe("---\nsession_id: [\n---\n");
    expect(project.list(state).length).toBeLessThan(4);
  });
});

describe("a whole session with hooks (I123)", () => {
  test("is created, run, completed and archived; its journal has no gaps", () => {
    const project = emptyProject();
    hook(project, "SessionStart");
    createSession(project, two);
    succeed(project, ["session", "mode", "sequential"]);
    for (const [phase, agent] of [
      ["1", "coder"],
      ["2", "tester"],
    ] as const) {
      hook(project, "BeforeAgent", { prompt: "Go on." });
      const prompt = delegated(project, agent, "Do it.");
      expect(prompt).toContain(`Phase: ${phase}\n`);
      expect(complete(project, report()).decision).toBe("allow");
      hook(project, "PreCompress");
      handBack(project, agent, prompt, report());
    }
    finish(project);
    hook(project, "SessionEnd");
    const events = project
      .read(`${state}/archive/${id}.jsonl`)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(project.exists(`${state}/delegations`) ? project.list(`${state}/delegations`) : []).toEqual([]);
  });
});

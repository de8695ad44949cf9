import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { LOCK_FILE } from "../../src/disk/lock.ts";
import {
  contextOf,
  finished,
  type HookEvent,
  type HookRun,
  hookEvents,
  hookInput,
  hookPath,
  type Reply,
  report,
  Shelf,
  type StartOptions,
  sessionProject,
  startHook,
  statusesOf,
  whileHolding,
} from "../support/hooks.ts";
import { type PhaseSpec, Project, root } from "../support/project.ts";
import { TIMED } from "../support/timed.ts";

const journal = ".gemini/state/progress.jsonl";
const two: PhaseSpec[] = [{ id: 1 }, { id: 2, agent: "tester", blocked_by: [1] }];
const header = "Agent: coder\nPhase: 1\nSession: 2026-02-14-task-api\n\nPROJECT ROOT: /p\n";

/** Something for every hook to do. */
const work: Record<HookEvent, object> = {
  SessionStart: { source: "startup" },
  SessionEnd: { reason: "exit" },
  BeforeAgent: { prompt: "[maestro:status] Where are we?" },
  AfterAgent: { prompt: header, prompt_response: report(), stop_hook_active: false },
  BeforeTool: { tool_name: "invoke_agent", tool_input: { agent_name: "coder", prompt: "Phase: 1\nDo it." } },
  AfterTool: {
    tool_name: "invoke_agent",
    tool_input: { agent_name: "coder", prompt: header },
    tool_response: { llmContent: [{ text: finished("coder", report()) }] },
  },
  BeforeToolSelection: { llm_request: { messages: [{ role: "user", content: "hello" }] } },
  PreCompress: { trigger: "auto" },
};

const shelf = new Shelf();
afterEach(() => shelf.clear());

const emptyProject = () => shelf.keep(new Project());
const inSession = (phases = two) => shelf.keep(sessionProject(phases));

type Runs = Record<HookEvent, HookRun & { ms: number }>;

/** Every event, at the same time. */
async function every(
  options: (event: HookEvent) => StartOptions,
  project: Project,
  events: readonly HookEvent[] = hookEvents,
): Promise<Runs> {
  const runs = events.map(async (event) => [event, await startHook(project, event, options(event))] as const);
  return Object.fromEntries(await Promise.all(runs)) as Runs;
}

const everyHook = (project: Project, env: Record<string, string> = {}, events: readonly HookEvent[] = hookEvents) =>
  every((event) => ({ input: hookInput(project, event, work[event]), env }), project, events);

/** The answer of a hook that has nothing to say: the call continues. */
function silent(event: string): Reply {
  return event === "BeforeTool" ? { decision: "allow" } : { continue: true };
}

const allSilent = Object.fromEntries(hookEvents.map((event) => [event, silent(event)]));

function repliesOf(runs: Runs): Record<string, Reply> {
  return Object.fromEntries(Object.entries(runs).map(([event, { reply }]) => [event, reply]));
}

describe("every hook, whatever its input (C31, C39, F24, Q222-Q224, Q226, I123)", () => {
  test.each([
    ["is empty", ""],
    ["is cut short", '{"session_id":"x","cwd":"/'],
    ["is binary", Buffer.from([0, 255, 254, 0x7b, 0x80, 0x7d, 10])],
  ])("allows the call, with a line on standard error, when standard input %s", async (_, input) => {
    const project = inSession();
    const before = project.read(journal);
    const runs = await every(() => ({ input }), project);
    expect(repliesOf(runs)).toEqual(allSilent);
    for (const event of hookEvents) expect(runs[event].stderr).toMatch(new RegExp(`^maestro hook ${event}: .+\n$`));
    expect(project.read(journal)).toBe(before);
  });

  test.each([
    [" \n\t\n", "SessionStart"],
    ["maestro", "SessionEnd"],
    ['[{"tool_name":"run_shell_command"}]', "BeforeTool"],
    ["42", "AfterTool"],
    ["null", "BeforeAgent"],
    ["{}\n{}", "PreCompress"],
    ["[".repeat(200_000), "BeforeToolSelection"],
    ['{"a":'.repeat(20_000), "AfterAgent"],
  ])("allows the call when its input is not a JSON object: %.20s", async (input, event) => {
    const { reply, stderr } = await startHook(emptyProject(), event, { input });
    expect(reply).toEqual(silent(event));
    expect(stderr).toMatch(/^maestro hook \w+: standard input is [^\n]+\n$/);
  });

  test.each([
    ["nothing in it", {}],
    ["fields of other types", { cwd: 7, session_id: [], tool_name: {}, tool_input: "x", prompt: 1, llm_request: [] }],
    ["nulls", { cwd: null, session_id: null, tool_name: null, tool_input: null, llm_request: { messages: [null] } }],
    [
      "hostile names",
      { tool_name: "invoke_agent", tool_input: { agent_name: "../../x", prompt: {} }, session_id: "../../x" },
    ],
  ])("survives a document with %s", async (_, input) => {
    const project = emptyProject();
    const events = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "BeforeToolSelection"] as const;
    const runs = await every(() => ({ input: JSON.stringify(input) }), project, events);
    expect(runs.BeforeTool.reply).toEqual({ decision: "allow" });
    for (const event of events) expect(runs[event].stderr).toBe("");
    expect(project.list()).toEqual([".gemini"]);
  });

  test("survives ten megabytes, and hands a prompt of that size on whole", async () => {
    const project = inSession();
    const large = "é".repeat(5_000_000);
    const tool_input = { agent_name: "coder", prompt: `Phase: 1\n${large}\nend` };
    const inputs: Record<HookEvent, object> = {
      SessionStart: { source: large },
      SessionEnd: { reason: large },
      BeforeAgent: { prompt: large },
      AfterAgent: { ...work.AfterAgent, prompt_response: `${large}\n\n${report()}` },
      BeforeTool: { tool_name: "invoke_agent", tool_input },
      AfterTool: { ...work.AfterTool, tool_response: { llmContent: [{ text: `${large}\n\n${report()}` }] } },
      BeforeToolSelection: { llm_request: { messages: [{ role: "user", content: large }] } },
      PreCompress: { trigger: large },
    };
    for (const event of hookEvents) {
      const { reply, stderr } = await startHook(project, event, { input: hookInput(project, event, inputs[event]) });
      expect([event, stderr, reply.decision === "deny"]).toEqual([event, "", false]);
      const given = reply.hookSpecificOutput?.tool_input?.prompt ?? "";
      if (event === "BeforeTool") expect(given.endsWith(`${large}\nend\n`)).toBe(true);
    }
    expect(statusesOf(project)).toEqual(["completed", "pending"]);
  });

  test("answers within its two seconds when standard input stays open with nothing, or with half a document", async () => {
    const project = inSession();
    const [nothing, half] = await Promise.all([
      every(() => ({ open: true }), project),
      every(() => ({ open: true, input: '{"session_id":"x","tool_input":{}' }), project),
    ]);
    for (const runs of [nothing, half]) {
      expect(repliesOf(runs)).toEqual(allSilent);
      // Sixteen programs have to start, too.
      for (const event of hookEvents) expect(runs[event].ms, event).toBeLessThan(4000);
    }
    expect(half.BeforeTool.stderr).toContain("stays open");
  });

  test("answers at once when it has a whole document, though standard input stays open", async () => {
    const project = inSession();
    const runs = await every((event) => ({ open: true, input: hookInput(project, event, work[event]) }), project);
    for (const event of hookEvents) expect(runs[event].ms, event).toBeLessThan(1700);
    expect(runs.BeforeTool.reply.hookSpecificOutput).toBeDefined();
  });

  test.each([
    ["a whole document", 0, 1500, '{"source":"startup"}'],
    ["half of one", 1700, 3000, '{"source"'],
  ])("takes a pipe that stays open with %s as it takes a socket", async (_, least, most, input) => {
    const project = emptyProject();
    project.run("mkfifo", ["pipe"]);
    const stdin = openSync(join(project.path, "pipe"), constants.O_RDWR | constants.O_NONBLOCK);
    try {
      writeSync(stdin, input);
      const { ms } = await startHook(project, "SessionStart", { stdin });
      expect(ms).toBeGreaterThan(least);
      expect(ms).toBeLessThan(most);
    } finally {
      closeSync(stdin);
    }
  });

  test.each(["", "Unknown", "beforetool", "__proto__", "constructor"])(
    "allows the call and says so for the unknown event %j",
    async (event) => {
      const { reply, stderr } = await startHook(emptyProject(), event, { input: "{}" });
      expect(reply).toEqual({ continue: true });
      expect(stderr).toContain("unknown event");
    },
  );

  test("judges by the project of its input when its own directory does not exist", () => {
    const project = shelf.keep(new Project());
    const call = { cwd: project.path, tool_name: "run_shell_command", tool_input: { command: "rm -rf /" } };
    const script = `mkdir gone && cd gone && rmdir ../gone && printf %s "$CALL" | '${process.execPath}' '${hookPath}' BeforeTool`;
    const run = project.run("sh", ["-c", script], { env: { CALL: JSON.stringify(call) } });
    expect([run.code, JSON.parse(run.stdout).decision]).toEqual([0, "deny"]);
  });

  test("exits with 0 when its standard output is closed", () => {
    const project = shelf.keep(new Project());
    const run = project.run("sh", ["-c", `echo '{}' | '${process.execPath}' '${hookPath}' BeforeTool >/dev/full`]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
  });

  test.each(["2>/dev/full", "2>&-"])("answers when its standard error is closed (%s)", (redirection) => {
    const script = `node "$1" BeforeTool ${redirection}; echo " code $?"`;
    const run = emptyProject().run("sh", ["-c", script, "sh", hookPath], { input: "not JSON" });
    expect(run.stdout).toBe('{"decision":"allow"} code 0\n');
  });

  test("writes one document, nothing else, and never asks a question", async () => {
    for (const run of Object.values(await everyHook(inSession()))) {
      expect(run.stdout).toBe(JSON.stringify(run.reply));
      expect(run.stdout).not.toContain('"ask"');
    }
  });
});

describe("every hook, whatever became of the state (C39, Q222, Q226)", () => {
  const readers = ["SessionStart", "SessionEnd", "BeforeAgent", "BeforeTool", "AfterTool", "PreCompress"] as const;

  /** The hook denies nothing, delays nothing, and gives a delegated agent the same prompt as every agent (N190). */
  async function goesOn(project: Project, env: Record<string, string> = {}): Promise<Runs> {
    const runs = await everyHook(project, env, readers);
    for (const event of readers) {
      expect(runs[event].reply.decision, event).not.toBe("deny");
      expect(runs[event].ms, event).toBeLessThan(4000);
    }
    const prompt = runs.BeforeTool.reply.hookSpecificOutput?.tool_input?.prompt;
    expect(prompt).toMatch(
      /^Agent: coder\n[\s\S]*# Agent Base Protocol[\s\S]*# Filesystem Safety Protocol[\s\S]*Do it\./,
    );
    return runs;
  }

  test.each<[string, (project: Project) => void]>([
    ["a journal with a damaged line", (project) => project.write(journal, `garbage\n${project.read(journal)}`)],
    ["a journal of binary noise", (project) => project.write(journal, Buffer.alloc(4096, "\u0081\n"))],
    [
      "a journal of a newer version",
      (project) => project.write(journal, project.read(journal).replaceAll('{"v":1', '{"v":2')),
    ],
  ])("%s is left as it is, and the hook says why it does nothing", async (_, damage) => {
    const project = inSession();
    damage(project);
    const before = readFileSync(join(project.path, journal));
    const runs = await goesOn(project);
    for (const event of readers) {
      const isTold = event === "SessionStart" || event === "BeforeAgent";
      if (isTold) expect(JSON.stringify(runs[event].reply)).toContain("the session cannot be read");
      else if (event !== "BeforeTool") expect(runs[event].reply).toEqual(silent(event));
      expect(runs[event].stderr).toMatch(/^maestro hook \w+: .+\n$/);
    }
    expect(readFileSync(join(project.path, journal)).equals(before)).toBe(true);
  });

  test.each<[string, (project: Project) => void]>([
    ["a journal that is a directory", (project) => replace(project, journal, "directory")],
    ["a journal that is a FIFO", (project) => replace(project, journal, "FIFO")],
    ["a checkpoint that is a FIFO", (project) => replace(project, ".gemini/state/compress-checkpoint.md", "FIFO")],
    ["a history that is a directory", (project) => replace(project, ".gemini/state/session-history.log", "directory")],
    ["a state directory that is a file", (project) => replace(project, ".gemini", "file")],
    ["a state directory that is a link", (project) => replace(project, ".gemini", "link")],
    ["a link inside it", (project) => replace(project, ".gemini/state", "link")],
  ])("%s does not delay the hook", async (_, damage) => {
    const project = inSession();
    damage(project);
    await goesOn(project);
    expect(project.exists("elsewhere") ? project.list("elsewhere") : []).toEqual([]);
  });

  test("a state directory that is a link to another session is not read", async () => {
    const [project, other] = [emptyProject(), inSession()];
    await everyHook(other, {}, ["SessionStart", "PreCompress"]);
    symlinkSync(join(other.path, ".gemini"), join(project.path, ".gemini"));
    const before = other.read(journal);
    const runs = await goesOn(project);
    for (const event of ["SessionStart", "BeforeAgent", "PreCompress", "SessionEnd"] as const) {
      expect(runs[event].reply).toEqual({ continue: true });
      expect(runs[event].stderr).toContain("must be a real directory, not a link");
    }
    expect(other.read(journal)).toBe(before);
  });

  test("a lock that a living process holds does not delay the hook, and nothing is half done", TIMED, async () => {
    const project = inSession();
    const before = project.read(journal);
    const runs = await whileHolding(project, LOCK_FILE, () => goesOn(project));
    expect(runs.BeforeTool.stderr).toContain(`State is locked by process ${process.pid}`);
    expect(project.read(journal)).toBe(before);
  });

  test("an invalid setting is named, and the call is allowed", async () => {
    const project = inSession();
    project.write(".env", "MAESTRO_MAX_CONCURRENT=x\n");
    const runs = await goesOn(project);
    expect(runs.BeforeTool.stderr).toContain("MAESTRO_MAX_CONCURRENT must be a non-negative integer (got: x)");
    expect(runs.SessionStart.reply.systemMessage).toContain("2026-02-14-task-api");
  });

  test("a state directory that would leave the project is not used", async () => {
    const project = inSession();
    const runs = await goesOn(project, { MAESTRO_STATE_DIR: "../escaped" });
    expect(runs.SessionStart.stderr).toContain("must not leave the project");
    expect(existsSync(join(project.path, "..", "escaped"))).toBe(false);
  });

  test("a project that cannot be written is not an error (C38)", (context) => {
    const project = inSession();
    project.write("input", hookInput(project, "SessionStart"));
    project.write("call", hookInput(project, "BeforeTool", work.BeforeTool));
    mkdirSync(join(project.path, "bare"));
    const script = `mount --bind . . && mount -o remount,bind,ro . && cd "$PWD" || exit 9
      for event in SessionStart BeforeAgent PreCompress SessionEnd; do node "$1" $event < input; echo; done
      node "$1" BeforeTool < call; echo
      cd bare && echo '{}' | node "$1" SessionStart`;
    const run = project.run("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", hookPath]);
    if (run.code === 9 || /unshare:|mount:/.test(run.stderr)) context.skip("user namespaces are not available here");
    const [start, turn, compress, end, call, bare] = run.stdout.split("\n").map((line) => JSON.parse(line));
    expect(start.systemMessage).toContain("2026-02-14-task-api");
    expect(contextOf(turn)).toContain("2026-02-14-task-api");
    expect([compress.continue, end, call.decision]).toEqual([true, { continue: true }, "allow"]);
    expect(bare).toEqual({ continue: true });
    expect(run.stderr).toContain("read-only file system");
  });
});

/** Something else where a file or a directory was. */
function replace(project: Project, path: string, by: "file" | "directory" | "FIFO" | "link"): void {
  const full = join(project.path, path);
  rmSync(full, { recursive: true, force: true });
  if (by === "file") project.write(path, "");
  if (by === "directory") mkdirSync(full);
  if (by === "FIFO") project.run("mkfifo", [full]);
  if (by === "link") {
    mkdirSync(join(project.path, "elsewhere"));
    symlinkSync(join(project.path, "elsewhere"), full);
  }
}

describe("hooks/hooks.json (Q217-Q221, S234, C5, C7, C27)", () => {
  const { hooks } = JSON.parse(readFileSync(join(root, "hooks/hooks.json"), "utf8"));
  type Entry = { matcher?: string; hooks: { type: string; command: string; timeout: number }[] };
  const entries = Object.entries(hooks) as [string, Entry[]][];

  test("registers every event with a command of ours, which has time to keep its own limit", () => {
    expect(entries.map(([event]) => event).sort()).toEqual([...hookEvents].sort());
    for (const [event, [entry]] of entries) {
      const [command] = entry?.hooks ?? [];
      expect(command).toMatchObject({ type: "command", command: `node "\${extensionPath}/dist/hook.cjs" ${event}` });
      expect(command?.timeout).toBeGreaterThan(2000);
    }
  });

  test("asks to be called for the tools that it judges, and for no others", () => {
    const isCalled = (event: string, tool: string) => new RegExp(hooks[event][0].matcher).test(tool);
    const judged = ["run_shell_command", "write_file", "replace", "invoke_agent", "complete_task"];
    expect(judged.filter((tool) => !isCalled("BeforeTool", tool))).toEqual([]);
    const others = ["read_file", "glob", "mcp_server_write_file", "replace_all", "x_run_shell_command"];
    expect(others.filter((tool) => isCalled("BeforeTool", tool))).toEqual([]);
    expect([...judged, ...others].filter((tool) => isCalled("AfterTool", tool))).toEqual(["invoke_agent"]);
  });
});

import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { initRepository } from "../support/empty-repository.ts";
import {
  complete,
  delegated,
  finished,
  handBack,
  hook,
  hookInput,
  hookPath,
  move,
  phasesOf,
  report,
  Shelf,
  startHook,
  statusesOf,
  succeed,
} from "../support/hooks.ts";
import { journalOf } from "../support/processes.ts";
import { createSession, type PhaseSpec, Project } from "../support/project.ts";
import { StandIn, scripted } from "../support/stand-in.ts";

const one: PhaseSpec[] = [{ id: 1, files_created: ["src/a.ts"] }];
const two: PhaseSpec[] = [
  { id: 1, files_created: ["src/a.ts"] },
  { id: 2, files_created: ["src/b.ts"] },
];

const shelf = new Shelf();
afterEach(() => shelf.clear());

function plainProject(phases = one, mode: "sequential" | "parallel" = "sequential"): Project {
  const project = shelf.keep(new Project());
  createSession(project, phases, mode);
  return project;
}

/** A project in a repository with a commit, an unstaged and a staged change, and a file that git ignores. */
function gitProject(phases = one, mode: "sequential" | "parallel" = "sequential"): Project {
  const project = plainProject(phases, mode);
  initRepository(project.path);
  project.write(".gitignore", "ignored/\n.gemini/\n.home/\n.bin/\n");
  project.write("README.md", "one\n");
  git(project, "add", "-A");
  git(project, "commit", "-q", "-m", "first");
  project.write("README.md", "one\ntwo\n");
  project.write("staged.txt", "staged\n");
  git(project, "add", "staged.txt");
  return project;
}

function git(project: Project, ...args: string[]): string {
  const { code, stdout, stderr } = project.run("git", args);
  if (code !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout.trimEnd();
}

const attemptsOf = (project: Project, index = 0) => phasesOf(project)[index]?.attempts ?? [];
const eventsOf = (project: Project) => journalOf(project).map(({ type }) => type);
const json = (project: Project, ...args: string[]) => JSON.parse(succeed(project, [...args, "--json"]));

/** A delegation whose conversation has ended: the shell that started the hook plays the conversation, and has exited. */
function delegatedAndLost(project: Project, prompt: string, conversation = "lost"): void {
  const input = { session_id: conversation, tool_name: "invoke_agent", tool_input: { agent_name: "coder", prompt } };
  project.write(".home/input.json", hookInput(project, "BeforeTool", input));
  const command = `"${process.execPath}" "${hookPath}" BeforeTool <.home/input.json; exit $?`;
  const { code, stdout } = project.run("sh", ["-c", command]);
  if (code !== 0 || !stdout.includes('"allow"')) throw new Error(stdout);
}

/** A transcript as Gemini CLI 0.61 writes it: each answer twice, the second time with its tool calls. */
function transcript(prompt: string, answers: { model: string; input: number; output: number }[]): string {
  const at = new Date().toISOString();
  const lines: object[] = [
    { sessionId: "x", startTime: at, lastUpdated: at, kind: "subagent" },
    { id: "p", timestamp: at, type: "user", content: [{ text: "\n<loaded_context>\n" }, { text: prompt }] },
  ];
  answers.forEach(({ model, input, output }, index) => {
    const tokens = { input, output, cached: 10, thoughts: 1, tool: 0, total: input + output + 1 };
    const answer = { id: `a${index}`, timestamp: at, type: "gemini", content: "", tokens, model };
    lines.push(answer, { $set: { lastUpdated: at } }, { ...answer, toolCalls: [] });
  });
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

describe("record A7: a native delegation in a git project", () => {
  test("is an attempt with number, times, changes, content and the agent's words (C49)", () => {
    const project = gitProject();
    const prompt = delegated(project, "coder", "Phase: 1\nWrite it.");
    expect(attemptsOf(project)).toMatchObject([
      { attempt: 1, agent: "coder", runtime: "native", run: expect.stringMatching(/^native-/), result: null },
    ]);
    expect(attemptsOf(project)[0]?.prompt_bytes).toBe(Buffer.byteLength(prompt));
    project.write("src/a.ts", "export const a = 1;\n");
    project.write("README.md", "one\ntwo\nthree\n");
    handBack(project, "coder", prompt, finished("coder", report({ created: "src/a.ts", summary: "Wrote a." })));
    const [attempt] = attemptsOf(project);
    expect(attempt).toMatchObject({
      placed: { worktree: null },
      changes: { total: 2, added: 2, removed: 0, outside: ["README.md"] },
      result: { outcome: "success", usage: null },
    });
    expect(attempt?.changes?.files.map(({ path, kind }) => [path, kind])).toEqual([
      ["README.md", "modified"],
      ["src/a.ts", "created"],
    ]);
    expect(statusesOf(project)).toEqual(["completed"]);
    expect(phasesOf(project)[0]?.warnings.map(({ code }) => code)).toEqual(["claims_differ", "outside_scope"]);
    expect(succeed(project, ["diff", "1"])).toContain("+export const a = 1;");
    expect(succeed(project, ["diff", "1"])).not.toContain("+two");
    expect(succeed(project, ["logs", "1"])).toContain("Summary: Wrote a.");
    expect(succeed(project, ["report"])).toMatch(/phase 1: 2 files \(\+2 -0\), 1 outside its files/);
    expect(json(project, "report").phases[0].attempts).toMatchObject([{ attempt: 1, outcome: "success" }]);
  });

  test("leaves index, branch, stash and reflog as they are, and keeps the work in one reference (C49)", () => {
    const project = gitProject();
    const look = () => [
      git(project, "status", "--porcelain"),
      git(project, "ls-files", "--stage"),
      git(project, "reflog", "--all"),
      git(project, "stash", "list"),
      git(project, "branch", "-a", "-v"),
    ];
    const before = look();
    const prompt = delegated(project, "coder", "Phase: 1");
    expect(look()).toEqual(before);
    project.write("src/a.ts", "a\n");
    handBack(project, "coder", prompt, report({ created: "src/a.ts" }));
    rmSync(join(project.path, "src"), { recursive: true });
    expect(look()).toEqual(before);
    const [ref, ...others] = git(project, "for-each-ref", "--format=%(refname) %(objectname)", "refs/maestro").split(
      "\n",
    );
    expect(others).toEqual([]);
    expect(ref).toBe(`refs/maestro/2026-02-14-task-api/1/1 ${attemptsOf(project)[0]?.changes?.commit}`);
    expect(git(project, "rev-parse", `${ref?.split(" ")[1]}^`)).toBe(attemptsOf(project)[0]?.placed?.base);
  });

  test("can be reverted and applied again like the work of every attempt (C49)", () => {
    const project = gitProject();
    const prompt = delegated(project, "coder", "Phase: 1");
    project.write("src/a.ts", "a\n");
    handBack(project, "coder", prompt, report({ created: "src/a.ts" }));
    succeed(project, ["revert", "1"]);
    expect(project.exists("src/a.ts")).toBe(false);
    expect(project.read("README.md")).toBe("one\ntwo\n");
    succeed(project, ["apply", "1"]);
    expect(project.read("src/a.ts")).toBe("a\n");
  });

  test("ends as a failed attempt when its agent reports failure, and the retry is the second one (C49)", () => {
    const project = gitProject();
    const first = delegated(project, "coder", "Phase: 1");
    handBack(project, "coder", first, finished("coder", "", "TIMEOUT"));
    const second = delegated(project, "coder", "Phase: 1\nAgain.");
    project.write("src/a.ts", "a\n");
    handBack(project, "coder", second, report({ created: "src/a.ts" }));
    expect(attemptsOf(project).map(({ attempt, result }) => [attempt, result?.outcome])).toEqual([
      [1, "timeout"],
      [2, "success"],
    ]);
    expect(phasesOf(project)[0]?.retry_count).toBe(1);
    expect(succeed(project, ["logs", "1", "--attempt", "1"])).toContain("TIMEOUT");
  });

  test("of a phase with validation commands has its proof when it is verified (C49)", () => {
    const project = gitProject([{ id: 1, files_created: ["src/a.ts"], validation: ["test -f src/a.ts"] }]);
    const prompt = delegated(project, "coder", "Phase: 1");
    project.write("src/a.ts", "a\n");
    handBack(project, "coder", prompt, report({ created: "src/a.ts" }));
    expect(statusesOf(project)).toEqual(["in_progress"]);
    succeed(project, ["verify", "1"]);
    expect(statusesOf(project)).toEqual(["completed"]);
    expect(attemptsOf(project)[0]).toMatchObject({ validated: { result: "pass" } });
  });

  test.each(["submodules", "sparse checkout"])(
    "with %s is recorded from git status, without a commit (C49)",
    (kind) => {
      const project = gitProject();
      if (kind === "submodules") {
        git(project, "update-index", "--add", "--cacheinfo", `160000,${git(project, "rev-parse", "HEAD")},sub`);
        mkdirSync(join(project.path, "sub"));
      } else git(project, "config", "core.sparseCheckout", "true");
      const prompt = delegated(project, "coder", "Phase: 1");
      project.write("src/a.ts", "a\n");
      project.write("README.md", "changed again\n");
      rmSync(join(project.path, "staged.txt"));
      git(project, "add", "src/a.ts");
      handBack(project, "coder", prompt, report({ created: "src/a.ts" }));
      const [attempt] = attemptsOf(project);
      expect(attempt?.changes).toMatchObject({ base: null, commit: null, total: 3 });
      expect(attempt?.changes?.files.map(({ path, kind: how }) => [path, how])).toEqual([
        ["README.md", "modified"],
        ["src/a.ts", "created"],
        ["staged.txt", "deleted"],
      ]);
      expect(succeed(project, ["diff", "1", "--stat"])).toContain("src/a.ts");
    },
  );

  test("starts although the repository cannot be read, and says that its changes are not recorded (C49)", () => {
    const project = gitProject();
    writeFileSync(join(project.path, ".git", "index"), "broken");
    const prompt = delegated(project, "coder", "Phase: 1");
    project.write("src/a.ts", "a\n");
    handBack(project, "coder", prompt, report({ created: "src/a.ts" }));
    expect(statusesOf(project)).toEqual(["completed"]);
    expect(attemptsOf(project)).toMatchObject([{ attempt: 1, result: { outcome: "success" } }]);
    expect(attemptsOf(project)[0]?.changes).toBeUndefined();
    expect(phasesOf(project)[0]?.warnings).toMatchObject([
      { code: "unjudged", message: expect.stringMatching(/changes of the delegated agent are not recorded: /) },
    ]);
  });
});

test("a delegation starts and returns although git takes too long, and only its changes are missing (C49)", async () => {
  const project = gitProject();
  chmodSync(project.write(".bin/git", "#!/bin/sh\nexec sleep 20\n"), 0o755);
  const env = { PATH: [join(project.path, ".bin"), process.env.PATH].join(delimiter) };
  const call = { tool_name: "invoke_agent", tool_input: { agent_name: "coder", prompt: "Phase: 1" } };
  const began = await startHook(project, "BeforeTool", { input: hookInput(project, "BeforeTool", call), env });
  const prompt = began.reply.hookSpecificOutput?.tool_input?.prompt ?? "";
  project.write("src/a.ts", "a\n");
  const back = { ...call, tool_input: { agent_name: "coder", prompt }, tool_response: { llmContent: report() } };
  const ended = await startHook(project, "AfterTool", { input: hookInput(project, "AfterTool", back), env });
  expect(Math.max(began.ms, ended.ms)).toBeLessThan(5000);
  expect(attemptsOf(project)).toMatchObject([{ attempt: 1, result: { outcome: "success" } }]);
  expect(phasesOf(project)[0]).toMatchObject({
    status: "completed",
    warnings: [{ code: "unjudged", message: expect.stringMatching(/was not read within \d+ ms/) }],
  });
});

describe("record A7: a native delegation outside git", () => {
  test("is an attempt whose changes are the names of files (C49)", () => {
    const project = plainProject();
    project.write("old.txt", "old\n");
    const prompt = delegated(project, "coder", "Phase: 1");
    project.write("src/a.ts", "a\n");
    project.write("old.txt", "new\n");
    handBack(project, "coder", prompt, report({ created: "src/a.ts" }));
    expect(attemptsOf(project)[0]?.changes).toMatchObject({
      commit: null,
      files: [
        { path: "old.txt", kind: "modified" },
        { path: "src/a.ts", kind: "created" },
      ],
    });
    expect(succeed(project, ["diff", "1", "--stat"])).toContain("src/a.ts");
    expect(readdirSync(join(project.path, ".gemini/parallel/2026-02-14-task-api/results")).sort()).toEqual(
      ["exit", "json", "log"].map((kind) => `coder.p1-1.${kind}`),
    );
  });

  test("that shares the project with another claims only files that its phase owns (C49)", () => {
    const project = plainProject(two, "parallel");
    const first = delegated(project, "coder", "Phase: 1");
    const second = delegated(project, "coder", "Phase: 2");
    project.write("src/a.ts", "a\n");
    project.write("src/b.ts", "b\n");
    project.write("stray.txt", "whose?\n");
    handBack(project, "coder", first, report({ created: "src/a.ts", context: null }));
    handBack(project, "coder", second, report({ created: "src/b.ts", context: null }));
    const [a, b] = phasesOf(project);
    expect(a?.attempts[0]?.changes?.files.map(({ path }) => path)).toEqual(["src/a.ts"]);
    expect(b?.attempts[0]?.changes?.files.map(({ path }) => path)).toEqual(["src/b.ts"]);
    for (const phase of [a, b]) {
      expect(phase?.warnings).toMatchObject([{ code: "unjudged", message: expect.stringContaining("stray.txt") }]);
    }
  });
});

describe("record A5: the tokens of a native delegation", () => {
  const chats = (project: Project) => join(project.path, ".home/tmp/project/chats");

  function withTranscripts(project: Project, transcripts: (prompt: string) => string[]): void {
    const conversation = "aaaa-bbbb";
    const common = { session_id: conversation, transcript_path: join(chats(project), "session-x.jsonl") };
    const call = { ...common, tool_name: "invoke_agent", tool_input: { agent_name: "coder", prompt: "Phase: 1" } };
    const prompt = hook(project, "BeforeTool", call).reply.hookSpecificOutput?.tool_input?.prompt ?? "";
    transcripts(prompt).forEach((text, at) => {
      project.write(`.home/tmp/project/chats/${conversation}/agent-${at}.jsonl`, text);
    });
    project.write("src/a.ts", "a\n");
    const tool_response = { llmContent: [{ text: report({ created: "src/a.ts" }) }] };
    hook(project, "AfterTool", { ...call, tool_input: { agent_name: "coder", prompt }, tool_response });
  }

  test("are those of the transcript whose prompt has its header, each answer once (M178, K156)", () => {
    const project = plainProject();
    withTranscripts(project, (prompt) => [
      transcript("Agent: coder\nPhase: 9\nSession: other\n\nPROJECT ROOT: /\n", [{ model: "m", input: 7, output: 7 }]),
      transcript(prompt, [
        { model: "flash", input: 1000, output: 50 },
        { model: "flash", input: 2000, output: 60 },
        { model: "pro", input: 500, output: 5 },
      ]),
    ]);
    expect(attemptsOf(project)[0]?.result?.usage).toEqual([
      { model: "flash", input: 3000, output: 110, cached: 20, thoughts: 2 },
      { model: "pro", input: 500, output: 5, cached: 10, thoughts: 1 },
    ]);
    expect(succeed(project, ["status"])).toContain("Tokens: 3,500 input (30 cached), 115 output");
    expect(succeed(project, ["report"])).toContain("Total Input: 3,500 tokens");
  });

  test.each<[string, (prompt: string) => string[]]>([
    ["none was found", () => []],
    ["two fit", (prompt) => [transcript(prompt, []), transcript(prompt, [{ model: "m", input: 1, output: 1 }])]],
    ["no answer is in it", (prompt) => [transcript(prompt, [])]],
  ])("are unknown and never 0 when %s (M178, K156)", (_, transcripts) => {
    const project = plainProject();
    withTranscripts(project, transcripts);
    expect(attemptsOf(project)[0]?.result?.usage).toBeNull();
    expect(succeed(project, ["status"])).toContain("Tokens: unknown");
    expect(succeed(project, ["report"])).toContain("- Unknown: none of 1 attempt reported any");
    expect(json(project, "status").token_usage).toMatchObject({ total_input: null, total_output: null });
    expect(project.read(".gemini/state/active-session.md")).toContain("token_usage:\n  total_input: null\n");
    expect(json(project, "report").tokens).toMatchObject({ input: null, output: null, cost: null });
    succeed(project, ["session", "complete"]);
    expect(project.read(".gemini/state/session-history.log")).toContain("tokens=unknown");
  });
});

describe("record A7: a delegation whose conversation died", () => {
  test("is shown as interrupted before anything is recorded about it (C49)", () => {
    const project = plainProject();
    delegatedAndLost(project, "Phase: 1");
    expect(succeed(project, ["status"])).toMatch(/1 +Phase 1 +coder +interrupted/);
    expect(json(project, "report").phases[0].attempts).toMatchObject([{ attempt: 1, outcome: "unseen" }]);
    expect(project.maestro(["watch", "--wait", "0"]).stdout).toContain("No engine is running");
    expect(eventsOf(project)).not.toContain("attempt.finished");
  });

  test("is shown as running while its conversation lives (C49)", () => {
    const project = plainProject();
    delegated(project, "coder", "Phase: 1");
    expect(succeed(project, ["status"])).toMatch(/1 +Phase 1 +coder +in progress/);
    expect(succeed(project, ["status"])).toContain("Running: phase 1");
  });

  test.each(["SessionStart", "BeforeAgent"])("is recorded as interrupted at %s, with its changes (C49)", (event) => {
    const project = gitProject();
    delegatedAndLost(project, "Phase: 1");
    project.write("src/a.ts", "half\n");
    hook(project, "PreCompress", {});
    expect(hook(project, event, { prompt: "hello" }).reply.continue).toBe(true);
    expect(attemptsOf(project)).toMatchObject([
      { attempt: 1, result: { outcome: "interrupted", usage: null }, changes: { total: 1 } },
    ]);
    expect(phasesOf(project)[0]).toMatchObject({ status: "in_progress", retry_count: 0, errors: [] });
    expect(succeed(project, ["diff", "1"])).toContain("+half");
    const recorded = journalOf(project).length;
    hook(project, event, { prompt: "hello" });
    expect(journalOf(project)).toHaveLength(recorded);
  });

  test.each(["in git", "outside git"])("is recorded by the next delegation of the phase, %s (C49)", (where) => {
    const project = where === "in git" ? gitProject() : plainProject();
    delegatedAndLost(project, "Phase: 1");
    project.write("src/a.ts", "half\n");
    const prompt = delegated(project, "coder", "Phase: 1\nFinish it.");
    project.write("src/more.ts", "rest\n");
    handBack(project, "coder", prompt, report({ created: "src/a.ts, src/more.ts" }));
    // The report may name what the first attempt left.
    expect(phasesOf(project)[0]?.warnings.map(({ code }) => code)).not.toContain("claims_differ");
    expect(project.maestro(["logs", "1", "--attempt", "1"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "Attempt 1 left no output: its conversation ended before its agent reported\n",
    });
    expect(
      attemptsOf(project).map(({ attempt, result, changes }) => [
        attempt,
        result?.outcome,
        changes?.files.map(({ path }) => path),
      ]),
    ).toEqual([
      [1, "interrupted", ["src/a.ts"]],
      [2, "success", ["src/more.ts"]],
    ]);
    expect(phasesOf(project)[0]).toMatchObject({ status: "completed", retry_count: 0 });
    const said = succeed(project, ["report"]);
    expect(said).toMatch(/Changes: 2 files/);
    expect(said).toMatch(/phase 1: 1 file.*attempt 1[\s\S]*phase 1: 1 file.*attempt 2/);
  });

  test("that the user cancelled is over when the conversation continues (C49)", () => {
    const project = plainProject();
    delegated(project, "coder", "Phase: 1");
    expect(complete(project, "bad").decision).toBe("deny");
    hook(project, "BeforeAgent", { prompt: "Stop that." });
    expect(attemptsOf(project)).toMatchObject([{ result: { outcome: "interrupted" } }]);
    expect(statusesOf(project)).toEqual(["in_progress"]);
  });

  test("is continued by an engine as another attempt, which ends no process of the conversation (C49)", () => {
    const work = scripted("1", { "*": [["report", { created: "src/a.ts" }]] }, { files_created: ["src/a.ts"] });
    const project = gitProject([work]);
    const agents = new StandIn(project);
    delegatedAndLost(project, "Phase: 1");
    project.write("src/a.ts", "half\n");
    // A process that has the delegation's run in its environment.
    const beside = project.start("sleep", ["60"], { MAESTRO_RUN: attemptsOf(project)[0]?.run ?? "" });
    const run = project.maestro(["resume", "--keep-open"], {
      env: agents.env({ MAESTRO_EXECUTION_MODE: "sequential" }),
    });
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toMatch(/Interrupted; they restart/);
    expect(beside.exitCode ?? beside.signalCode).toBeNull();
    beside.kill();
    expect(attemptsOf(project)).toMatchObject([
      { attempt: 1, runtime: "native", result: { outcome: "interrupted" }, changes: { total: 1 } },
      { attempt: 2, runtime: "gemini", result: { outcome: "success" } },
    ]);
    expect(phasesOf(project)[0]).toMatchObject({ status: "completed", retry_count: 0 });
  });

  test("is recorded before the session is archived (C49)", () => {
    const project = gitProject();
    delegatedAndLost(project, "Phase: 1");
    project.write("src/a.ts", "half\n");
    succeed(project, ["abort"]);
    succeed(project, ["archive"]);
    expect(succeed(project, ["diff", "1"])).toContain("+half");
  });
});

test("a journal from before delegations were attempts is read, verified and completed as before (C49)", () => {
  const project = gitProject([{ id: 1, validation: ["true"] }]);
  // As an earlier version recorded it: the start of the phase, and no attempt.
  move(project, "1", "in_progress");
  const prompt = `Agent: coder\nPhase: 1\nSession: 2026-02-14-task-api\n\nPROJECT ROOT: ${project.path}\n`;
  handBack(project, "coder", prompt, report());
  expect(attemptsOf(project)).toEqual([]);
  succeed(project, ["verify", "1"]);
  expect(statusesOf(project)).toEqual(["completed"]);
  expect(json(project, "status").token_usage.total_input).toBeNull();
});

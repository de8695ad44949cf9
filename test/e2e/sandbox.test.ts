// The real Gemini CLI, with the extension and a scripted model, in a real sandbox. A start of it costs seconds: all is asked of one run.

import { randomUUID } from "node:crypto";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { cellFor } from "../../src/engine/sandbox/cell.ts";
import { inSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { geminiRuntime } from "../../src/runtimes/gemini/gemini.ts";
import { bubblewrap, socketScope } from "../support/bubblewrap.ts";
import { haveExtension } from "../support/gemini.ts";
import { filesBelow } from "../support/git-repository.ts";
import { type ModelRequest, type Part, startModel } from "../support/model.ts";
import { createSession, Project, type Run, root } from "../support/project.ts";

const LIMIT_MS = 180_000;
const CANARY = `canary-${randomUUID()}`;
const shell = (command: string): Part => ({ functionCall: { name: "run_shell_command", args: { command } } });

const report = `## Task Report
- Status: success
- Files Created: src/made.ts
- Files Modified: none
- Files Deleted: none
- Validation: pass
- Summary: Tried it all.

## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

describe("an attempt of Gemini CLI in a sandbox", () => {
  const project = new Project();
  const worktree = join(project.path, ".cache", "place", "p1-1", "project");
  const requests: ModelRequest[] = [];
  let run: Run | undefined;
  let before: Record<string, string> = {};
  const write = (file_path: string): Part => ({
    functionCall: { name: "write_file", args: { file_path, content: "made\n" } },
  });
  const tries = {
    write: write(join(worktree, "src", "made.ts")),
    writeElsewhere: write(join(project.path, "src", "a.ts")),
    read: { functionCall: { name: "read_file", args: { file_path: join(worktree, "src", "a.ts") } } },
    git: shell("git status"),
    secrets: shell(`grep -rs ${CANARY} ~ ${project.path}; echo searched`),
    shellElsewhere: shell(`mkdir ${project.path}/made ~/made`),
    programs: shell("npm test"),
    guarded: shell("echo bad > src/by-shell.ts"),
    state: { functionCall: { name: "mcp_maestro_maestro_session_read", args: {} } },
  } satisfies Record<string, Part>;

  /** The result of a try, as the model sees it. */
  function answerTo(name: keyof typeof tries): string {
    const results: { response: { output?: string; error?: string } }[] = JSON.parse(requests[1]?.results ?? "[]");
    const { output, error } = results[Object.keys(tries).indexOf(name)]?.response ?? {};
    return output ?? `ERROR: ${error}`;
  }

  beforeEach(async (context) => {
    if (run !== undefined) return;
    const bwrap = bubblewrap(context);
    const model = await startModel((request) => {
      requests.push(request);
      return { parts: requests.length === 1 ? Object.values(tries) : [{ text: report }] };
    });
    try {
      await haveExtension(project, model.url);
      createSession(project);
      prepare();
      before = untouched();
      const { program, args } = inSandbox(
        bwrap,
        {
          program: join(root, "node_modules", ".bin", "gemini"),
          args: geminiRuntime.argv({
            agent: "coder",
            tier: "full",
            model: "gemini-2.5-flash",
            policyFile: null,
            isStreamed: true,
            extraArgs: [],
          }),
        },
        cellFor({
          worktree,
          projectRoot: project.path,
          stateDir: join(project.path, ".gemini"),
          repository: {
            toplevel: project.path,
            gitDir: join(project.path, ".git"),
            commonDir: join(project.path, ".git"),
            place: join(project.path, ".cache", "place"),
          },
          linked: [join(project.path, "node_modules")],
          program: join(root, "node_modules", ".bin", "gemini"),
          env: project.environment(),
        }),
        socketScope(),
      );
      run = await ended(program, args, model.url);
    } finally {
      await model.close();
    }
  }, LIMIT_MS);
  afterAll(() => project.remove());

  function prepare(): void {
    project.write("src/a.ts", "a\n");
    project.write(".git/HEAD", CANARY);
    project.write(".home/.ssh/id", CANARY);
    project.write(".home/.netrc", CANARY);
    project.write(".home/.gemini/tmp/other/chats/one.jsonl", CANARY);
    project.write(".cache/place/p2-1/project/src/a.ts", CANARY);
    project.write(".cache/place/p1-1/project/.git", CANARY);
    project.write(".cache/place/p1-1/project/src/a.ts", "a\n");
    project.write(
      ".cache/place/p1-1/project/package.json",
      '{ "scripts": { "test": "node -e \\"console.log(6 * 7)\\"" } }',
    );
    mkdirSync(join(project.path, "node_modules"), { recursive: true });
    symlinkSync(join(project.path, "node_modules"), join(worktree, "node_modules"));
  }

  /** Everything but the worktree. */
  function untouched(): Record<string, string> {
    return Object.fromEntries(
      Object.entries(filesBelow(project.path)).filter(([name]) => !name.startsWith(".cache/place/p1-1/")),
    );
  }

  function ended(program: string, args: string[], modelUrl: string): Promise<Run> {
    const child = project.start("/bin/sh", ["-c", 'cd "$1" && shift && exec "$@"', "sh", worktree, program, ...args], {
      ...geminiRuntime.environment,
      GEMINI_API_KEY: "a-key-that-is-long-enough-to-look-real",
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      MAESTRO_STATE_DIR: join(project.path, ".gemini"),
      MAESTRO_SESSION: "2026-02-14-task-api",
      MAESTRO_PHASE: "1",
      MAESTRO_AGENT: "coder",
      MAESTRO_ATTEMPT: "1",
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
    child.stdin.on("error", () => undefined).end("Do it.\n");
    return new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr })));
  }

  test("answers, and complains of nothing", () => {
    const outcome = geminiRuntime.judge({ ...(run as Run), exitCode: run?.code ?? null, killed: null });
    expect(outcome, run?.stderr).toMatchObject({ kind: "success", text: report });
    expect(run?.stderr).not.toMatch(/EROFS|EBUSY|EACCES|read-only|Failed to/);
  });

  test("reads and writes in its worktree", () => {
    expect(answerTo("read")).toBe("a\n");
    expect(answerTo("write")).toContain("Successfully created");
    expect(project.read(".cache/place/p1-1/project/src/made.ts")).toBe("made\n");
  });

  test("changes nothing else, not even what the CLI keeps in the user's home", () => {
    expect(answerTo("writeElsewhere")).toMatch(/^ERROR: /);
    expect(answerTo("shellElsewhere").match(/Read-only file system/g)).toHaveLength(2);
    expect(untouched()).toEqual(before);
  });

  test("has no repository, and finds no secret", () => {
    expect(answerTo("git")).toContain("fatal: not a git repository");
    expect(answerTo("secrets")).toMatch(/Output: searched\n/);
  });

  test("runs programs", () => {
    expect(answerTo("programs")).toContain("\n42\n");
  });

  test("has hooks, which guard it, and a server that knows the session", () => {
    expect(answerTo("guarded")).toMatch(/ERROR: Tool execution blocked: .*\[shell-write\]/);
    expect(answerTo("state")).toContain("2026-02-14-task-api");
  });

  test("is told where it is", () => {
    expect(requests[0]?.system).toContain("You are running in a sandbox container");
  });
});

// Where the guard's rules apply, in the built hook: in an idle project, during a session, in attempts and in delegated agents.

import { chmodSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { delegated, handBack, hook, report, Shelf, sessionProject } from "../support/hooks.ts";
import { Project } from "../support/project.ts";

const shelf = new Shelf();
afterEach(() => shelf.clear());

function idle(): Project {
  const project = new Project();
  shelf.keep(project);
  hook(project, "SessionStart");
  return project;
}

function during(): Project {
  const project = sessionProject([{ id: 1 }]);
  shelf.keep(project);
  return project;
}

function verdict(project: Project, command: string, env: Record<string, string> = {}): string {
  const input = { tool_name: "run_shell_command", tool_input: { command } };
  const { reply, stderr } = hook(project, "BeforeTool", input, env);
  expect(stderr).toBe("");
  return reply.decision === "deny" ? (/\[([\w-]+)\]$/.exec(reply.reason ?? "")?.[1] ?? "deny") : "allow";
}

const heredoc = "cat > notes.md <<'EOF'\nhello\nEOF";
const content = [
  heredoc,
  "echo hi > a.txt",
  "sed -i s/a/b/ a.txt",
  "cd src && printf x | tee a.txt",
  'python3 -c \'open("a", "w")\'',
];
const damage: [command: string, rule: string][] = [
  ["rm -rf /usr", "destructive-rm"],
  ["git push --force origin main", "force-push"],
  ["git reset --hard HEAD~1", "hard-reset"],
  ["git checkout .", "discard-work"],
  ["echo KEY=1 > .env", "sensitive-file"],
  ["sed -i s/a/b/ .git/config", "sensitive-file"],
  [`${heredoc}\nrm -rf /usr`, "destructive-rm"],
  ["echo hi > a.txt && cat secret > .env", "sensitive-file"],
];

describe("without a session, outside attempts and delegated agents (C47)", () => {
  test("the shell may write files, and the hooks say nothing", () => {
    const project = idle();
    expect(content.filter((command) => verdict(project, command) !== "allow")).toEqual([]);
    for (const event of ["SessionStart", "BeforeAgent", "PreCompress", "SessionEnd"]) {
      expect(hook(project, event, { prompt: "hello" }).reply, event).toEqual({ continue: true });
    }
  });

  test("damage is denied", () => {
    const project = idle();
    for (const [command, rule] of damage) expect(verdict(project, command), command).toBe(rule);
    const write = { tool_name: "write_file", tool_input: { file_path: join(project.path, ".env"), content: "" } };
    expect(hook(project, "BeforeTool", write).reply.decision).toBe("deny");
  });

  test("MAESTRO_GUARD=always denies content, and MAESTRO_GUARD=off nothing", () => {
    const project = idle();
    expect(
      content.filter((command) => verdict(project, command, { MAESTRO_GUARD: "always" }) !== "shell-write"),
    ).toEqual([]);
    for (const [command] of damage) expect(verdict(project, command, { MAESTRO_GUARD: "off" }), command).toBe("allow");
  });
});

describe("during a session (C47)", () => {
  test("content and damage are denied in every conversation, unless the user switches the guard off", () => {
    const project = during();
    for (const command of content) expect(verdict(project, command), command).toBe("shell-write");
    expect(verdict(project, "rm -rf /usr")).toBe("destructive-rm");
    expect(verdict(project, heredoc, { MAESTRO_GUARD: "off" })).toBe("allow");
  });

  test("a project's .env tightens the guard, and cannot lower it (C48)", () => {
    const [quiet, active] = [idle(), during()];
    for (const project of [quiet, active]) project.write(".env", "MAESTRO_GUARD=off\n");
    expect([verdict(quiet, "rm -rf /usr"), verdict(active, heredoc)]).toEqual(["destructive-rm", "shell-write"]);
    // As Gemini CLI hands the file's values to its hooks.
    const handed = { MAESTRO_GUARD: "off", GEMINI_CLI: "1" };
    expect([verdict(quiet, "rm -rf /usr", handed), verdict(active, heredoc, handed)]).toEqual([
      "destructive-rm",
      "shell-write",
    ]);
    quiet.write(".env", "MAESTRO_GUARD=always\n");
    expect(verdict(quiet, heredoc)).toBe("shell-write");
  });
});

describe("in an agent (C47)", () => {
  test("every rule applies in an attempt, whatever MAESTRO_GUARD says", () => {
    const project = idle();
    for (const setting of ["off", "auto"]) {
      const env = { MAESTRO_AGENT: "coder", MAESTRO_PHASE: "1", MAESTRO_ATTEMPT: "1", MAESTRO_GUARD: setting };
      expect([verdict(project, heredoc, env), verdict(project, "rm -rf /usr", env)]).toEqual([
        "shell-write",
        "destructive-rm",
      ]);
    }
  });

  test("every rule holds while a conversation without a session has delegated, and no longer", () => {
    const project = idle();
    const prompt = delegated(project, "coder", "Fix the typo.");
    expect(verdict(project, heredoc, { MAESTRO_GUARD: "off" })).toBe("shell-write");
    handBack(project, "coder", prompt, report());
    expect(verdict(project, heredoc)).toBe("allow");
  });

  test("every rule holds when the state cannot be read", () => {
    const project = idle();
    rmSync(join(project.path, ".gemini"), { recursive: true });
    symlinkSync("/nowhere", join(project.path, ".gemini"));
    const { reply } = hook(project, "BeforeTool", { tool_name: "run_shell_command", tool_input: { command: heredoc } });
    expect(reply.decision).toBe("deny");
  });
});

describe("record A17: a throw-away copy outside the project (S235, S240)", () => {
  const env = { MAESTRO_AGENT: "tester", MAESTRO_PHASE: "1", MAESTRO_ATTEMPT: "1" };

  test("may be changed by the agent that made it, in the same command and in a later one", () => {
    const project = during();
    const copy = mkdtempSync(join(tmpdir(), "tmp."));
    try {
      expect(verdict(project, 'd=$(mktemp -d) && cp -r src "$d" && sed -i s/a/b/ "$d/src/a.ts"', env)).toBe("allow");
      expect(verdict(project, `sed -i s/a/b/ ${copy}/src/a.ts`, env)).toBe("allow");
      symlinkSync(project.path, join(copy, "out"));
      expect(verdict(project, `sed -i s/a/b/ ${copy}/out/a.ts`, env)).toBe("shell-write");
      expect(verdict(project, `sed -i s/a/b/ ${copy}/../${project.path.split("/").at(-1)}/a.ts`, env)).toBe(
        "shell-write",
      );
      chmodSync(copy, 0o755);
      expect(verdict(project, `sed -i s/a/b/ ${copy}/src/a.ts`, env)).toBe("shell-write");
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
});

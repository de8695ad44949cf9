import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { manifest } from "../../src/store/workspace.ts";
import { hook, hookInput, hookPath, startHook } from "../support/hooks.ts";
import { maestroPath, Project, planText, type Run } from "../support/project.ts";

let project: Project;
beforeEach(() => {
  project = new Project();
});
afterEach(() => project.remove());

/** Killed from outside (124) if it does not exit: a test runner cannot interrupt a loop inside a system call. */
function within10s(args: string[], env: Record<string, string>, input = ""): Run {
  return project.run("timeout", ["-s", "KILL", "10", process.execPath, ...args], { env, input });
}

describe.runIf(existsSync("/proc/self"))("a state directory that the system does not create (A15)", () => {
  const env = { MAESTRO_STATE_DIR: "/proc/maestro/state" };

  test("is an error with its reason, at once", () => {
    const { code, stderr } = within10s([maestroPath, "workspace"], env);
    expect(code).toBe(1);
    expect(stderr).toContain("ERROR: Failed to create directory: /proc/maestro/state\n  Reason: ");
    expect(stderr).toContain("(ENOENT)");
  });

  test("does not delay a conversation", () => {
    const run = within10s([hookPath, "SessionStart"], env, hookInput(project, "SessionStart"));
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("Failed to create directory: /proc/maestro")]);
    expect(JSON.parse(run.stdout)).toEqual({ continue: true });
  });

  test("does not delay the installation of policies", () => {
    const run = within10s([maestroPath, "agents", "install-policies"], { HOME: "/proc/maestro" });
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("Cannot use the policy directory /proc/")]);
  });
});

describe("a session in a git repository", () => {
  const git = (...args: string[]) => project.run("git", ["-c", "user.name=u", "-c", "user.email=u@x", ...args]);

  const prepare = () => {
    git("init", "-q");
    project.write(".git/info/exclude", ".home\n");
    project.write(".gemini/plans/2026-02-14-x-impl-plan.md", planText([{ id: 1 }]));
    project.maestro(["session", "create", ".gemini/plans/2026-02-14-x-impl-plan.md"]);
  };

  test("is not committed, stashed or cleaned with the work, whatever the project ignores; its plans are", () => {
    prepare();
    project.write(".gemini/parallel/batch/prompts/coder.txt", "");
    git("add", "-A");
    expect(git("ls-files").stdout).toBe(".gemini/plans/2026-02-14-x-impl-plan.md\n");
    git("commit", "-qm", "all");
    project.write("new.txt", "");
    expect(git("stash", "-u").code).toBe(0);
    expect(git("clean", "-fdq").code).toBe(0);
    expect([project.exists("new.txt"), project.exists(".gemini/parallel/batch/prompts/coder.txt")]).toEqual([
      false,
      true,
    ]);
    expect(project.maestro(["session", "note", "here"]).code).toBe(0);
  });

  test("survives commands that include ignored files", () => {
    const command = "git stash --all";
    const input = { tool_name: "run_shell_command", tool_input: { command } };
    const judged = () => [
      project.maestro(["guard", "check", command]).code,
      hook(project, "BeforeTool", input).reply.decision,
    ];
    project.maestro(["workspace"]);
    expect(judged()).toEqual([0, "allow"]);
    prepare();
    expect(judged()).toEqual([1, "deny"]);
  });

  test("does not wait for an ignore file that is not a file", () => {
    git("init", "-q");
    project.maestro(["workspace"]);
    project.run("mkfifo", [".gemini/state/.gitignore"]);
    project.run("ln", ["-s", "/nowhere", ".gemini/parallel/.gitignore"]);
    project.write("plan.md", planText([{ id: 1 }]));
    const run = within10s([maestroPath, "session", "create", "plan.md"], {});
    expect([run.code, run.stderr]).toEqual([0, ""]);
  });

  test("leaves an ignore file of the user's as it is", () => {
    git("init", "-q");
    project.maestro(["workspace"]);
    project.write(".gemini/state/.gitignore", "mine\n");
    project.write("plan.md", planText([{ id: 1 }]));
    expect(project.maestro(["session", "create", "plan.md"]).code).toBe(0);
    expect(project.read(".gemini/state/.gitignore")).toBe("mine\n");
  });
});

describe("a git repository without a session", () => {
  const shown = () => project.run("git", ["status", "--porcelain", "-uall"]).stdout;

  test.each(["a conversation", "a workspace of an earlier version"])(
    "does not show what hooks note about agents: %s",
    (how) => {
      project.run("git", ["init", "-q"]);
      project.write(".git/info/exclude", ".home\n");
      if (how === "a conversation") hook(project, "SessionStart", { source: "startup" });
      else project.maestro(["workspace"]);
      const input = { tool_name: "invoke_agent", tool_input: { agent_name: "coder", prompt: "Do it." } };
      expect(hook(project, "BeforeTool", input).reply.decision).toBe("allow");
      expect(project.list(".gemini/state/delegations")).toHaveLength(1);
      expect(shown()).toBe("");
    },
  );

  test("does not show the baseline of a plan", () => {
    project.run("git", ["init", "-q"]);
    project.write(".git/info/exclude", ".home\nplan.md\n");
    project.write("plan.md", planText([{ id: 1, validation: ["true"] }]));
    const { code, stderr } = project.maestro(["validate", "plan.md", "--baseline", "--yes"]);
    expect([code, project.exists(".gemini/state/baseline.json")], stderr).toEqual([0, true]);
    expect(shown()).toBe("");
  });
});

describe("a state directory that begins with ~", () => {
  test.each([
    ["~/.x", "workspace"],
    ["~", "workspace"],
    ["~somebody/x", "workspace"],
    ["~/.x", "session create plan.md"],
    ["~/.x", "status"],
  ])("%s is refused by maestro %s, and nothing is made", (directory, command) => {
    project.write("plan.md", planText([{ id: 1 }]));
    const { code, stderr } = project.maestro(command.split(" "), { env: { MAESTRO_STATE_DIR: directory } });
    expect(code).not.toBe(0);
    expect(stderr).toContain(`ERROR: MAESTRO_STATE_DIR must not begin with ~ (got: ${directory})`);
    expect(stderr).toContain("write the path in full");
    expect(project.list()).toEqual(["plan.md"]);
  });

  test("is not used by a hook either, even if it exists", async () => {
    for (const path of manifest) mkdirSync(join(project.path, "~", ...path), { recursive: true });
    const env = { MAESTRO_STATE_DIR: "~" };
    const { reply, stderr } = await startHook(project, "SessionStart", {
      input: hookInput(project, "SessionStart"),
      env,
    });
    expect([reply, stderr]).toEqual([{ continue: true }, expect.stringContaining("must not begin with ~ (got: ~)")]);
  });
});

test("an absolute state directory is made with all that is missing above it, for its owner alone", () => {
  const directory = join(project.path, "a/b/../c/state");
  expect(project.maestro(["workspace"], { env: { MAESTRO_STATE_DIR: directory } }).code).toBe(0);
  expect(project.exists("a/c/state/plans/archive")).toBe(true);
  expect(statSync(join(project.path, "a/c")).mode & 0o777).toBe(0o700);
});

test("a file where the state directory should be is named with the reason (A15)", () => {
  project.write("taken", "");
  const directory = join(project.path, "taken");
  const { code, stderr } = project.maestro(["workspace"], { env: { MAESTRO_STATE_DIR: directory } });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`ERROR: Failed to create directory: ${directory}\n`)]);
  expect(stderr).toContain("(EEXIST)");
});

import { describe, expect, test } from "vitest";
import { machine, quickest, ruleOf } from "../../test/support/guard.ts";
import { processorMs } from "../../test/support/timed.ts";
import { judgeCommand, judgeToolCall } from "./judge.ts";
import type { Machine } from "./machine.ts";

const write = (path: string, place: Machine = machine, tool = "write_file") => {
  const verdict = judgeToolCall(tool, { file_path: path, content: "x" }, place);
  return verdict.verdict === "allow" ? "allow" : verdict.rule;
};

describe("write_file and replace (T4, T5, Y290)", () => {
  test.each([
    ".env",
    "./.env",
    "a/../.env",
    ".env.local",
    "config/.env.production",
    "/home/dev/project/.env",
    "server.pem",
    "certs/server.key",
    "SERVER.KEY",
    "aws.credentials",
    ".credentials",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/Hooks/pre-commit",
    "vendor/lib/.git/hooks/post-checkout",
    ".git/modules/lib/config",
    ".git\\hooks\\pre-commit",
    ".gemini/settings.json",
    ".gemini/hooks/own.sh",
    ".gemini/policies/own.toml",
    ".gemini/agents/coder.md",
    ".gemini/extensions/maestro/dist/hook.cjs",
    ".gemini/state/progress.jsonl",
    ".gemini/state/active-session.md",
    ".gemini/state/.lock",
    ".gemini/parallel/batch-1/results/coder.json",
    "/home/dev/.gemini/settings.json",
    "~/.gemini/settings.json",
    "/home/dev/.gemini/extensions/maestro/hooks/hooks.json",
    "/home/dev/.gitconfig",
    "~/.bashrc",
    "~/.zshrc",
    "~/.config/git/config",
    "hooks/hooks.json",
    "policies/safety-baseline.toml",
  ])("cannot write %j", (path) => {
    expect(write(path)).toBe("sensitive-file");
    expect(write(path, machine, "replace")).toBe("sensitive-file");
  });

  test.each([
    "src/index.ts",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".envrc",
    "src/env.ts",
    "src/key.ts",
    "docs/pem.md",
    "keyboard.json",
    ".gitignore",
    ".gitattributes",
    ".github/workflows/ci.yml",
    ".husky/pre-commit",
    "hooks/use-auth.ts",
    "src/hooks/hooks.ts",
    "src/policies/retry.ts",
    "policies/own.toml",
    "agents/notes.md",
    "settings.json",
    ".vscode/settings.json",
    ".gemini/plans/2026-02-14-task-api-impl-plan.md",
    ".gemini/parallel/batch-1/prompts/coder.txt",
    ".gemini/GEMINI.md",
    ".gemini/commands/own.toml",
    "docs/.bashrc",
    "/tmp/notes.txt",
  ])("can write %j", (path) => {
    expect(write(path)).toBe("allow");
  });

  test("cannot write a protected file through a link", () => {
    const realpath = (path: string) => (path === "/home/dev/project/notes.txt" ? "/home/dev/project/.env" : path);
    expect(write("notes.txt", { ...machine, realpath })).toBe("sensitive-file");
    expect(write("other.txt", { ...machine, realpath })).toBe("allow");
    expect(judgeCommand("npm run keys > notes.txt", { ...machine, realpath })).toMatchObject({
      rule: "sensitive-file",
    });
  });

  test("can build the extension only when it is not the running one", () => {
    const own = { ...machine, extensionRoot: machine.projectRoot };
    expect(write("dist/hook.cjs", own)).toBe("sensitive-file");
    expect(write("src/hooks/main.ts", own)).toBe("allow");
    expect(write("dist/hook.cjs")).toBe("allow");
  });

  test("recognize the state directory wherever it is", () => {
    const elsewhere = { ...machine, stateDir: "/home/dev/project/var/maestro" };
    expect(write("var/maestro/state/progress.jsonl", elsewhere)).toBe("sensitive-file");
    expect(write("var/maestro/plans/x.md", elsewhere)).toBe("allow");
    expect(write(".gemini/state/x", elsewhere)).toBe("allow");
  });
});

describe("other tool calls", () => {
  test.each([
    ["read_file", { file_path: ".env" }],
    ["glob", { pattern: "**/*.pem" }],
    ["write_file", {}],
    ["write_file", { file_path: 7 }],
    ["run_shell_command", {}],
    ["run_shell_command", { command: ["rm", "-rf", "/"] }],
  ])("%s %j is always allowed (S234)", (tool, input) => {
    expect(judgeToolCall(tool, input, machine)).toEqual({ verdict: "allow" });
  });

  test.each([
    [{ command: "rm -rf *" }, "destructive-rm"],
    [{ command: "rm -rf *", dir_path: "dist" }, "allow"],
    [{ command: "rm -rf *", directory: "dist" }, "allow"],
    [{ command: "rm -rf ..", dir_path: "dist" }, "destructive-rm"],
    [{ command: "rm -rf ../build", dir_path: "packages/api" }, "allow"],
    [{ command: "cp draft hooks/pre-commit", dir_path: ".git" }, "sensitive-file"],
  ])("run_shell_command %j is judged in its own directory: %s", (input, expected) => {
    const verdict = judgeToolCall("run_shell_command", input, machine);
    expect(verdict.verdict === "allow" ? "allow" : verdict.rule).toBe(expected);
  });
});

describe("a denial", () => {
  test.each([
    ["echo hi > notes.md", /write_file.*notes\.md/],
    ["rm -rf ~", /home|project/],
    ["rm -rf $UNSET/bin", /variable is empty/],
    ["git push -f", /git push origin <branch>/],
    ["git reset --hard", /git restore <file>/],
    ["cp a .env", /\.env\.example/],
    ["cp a .git/config", /ask the user/],
    ["echo 'a", /unterminated single quote/],
  ])("of %j says what to do instead (S239)", (command, expected) => {
    expect(judgeCommand(command, machine)).toMatchObject({ verdict: "deny", reason: expect.stringMatching(expected) });
  });
});

describe("without a known home or temporary directory", () => {
  const bare: Machine = { ...machine, home: undefined, tmpdir: undefined };

  test.each(["rm -rf ~", 'rm -rf "$HOME"', "rm -rf /tmp"])("%j is denied", (command) => {
    expect(judgeCommand(command, bare)).toMatchObject({ rule: "destructive-rm" });
  });

  test.each(['rm -rf "$TMPDIR/x"', "d=$(mktemp -d); rm -rf $d"])("%j is allowed", (command) => {
    expect(judgeCommand(command, bare)).toEqual({ verdict: "allow" });
  });
});

describe("a command that cannot be checked is denied (P13, C39)", () => {
  test.each(["echo 'a", 'echo "a', "echo )", "if true", "bash -c 'echo \"'", "eval 'if'", "ls &&", "$(", "echo `ls"])(
    "%j",
    (command) => {
      expect(ruleOf(command)).toBe("unparsable");
    },
  );

  const nested = (levels: number) => `${"$(echo ".repeat(levels)}hi${")".repeat(levels)}`;

  test("judges 64 levels, and denies 65 (T3)", () => {
    expect(ruleOf(`echo ${nested(64)}`)).toBe("allow");
    expect(ruleOf(`echo ${nested(65)}`)).toBe("too-deep");
    expect(ruleOf(`${"( ".repeat(65)}ls${" )".repeat(65)}`)).toBe("too-deep");
  });

  test("judges 256 kB, and denies one byte more (T3)", () => {
    const limit = 256 * 1024;
    expect(ruleOf(`: ${"a".repeat(limit - 2)}`)).toBe("allow");
    expect(ruleOf(`: ${"a".repeat(limit - 1)}`)).toBe("too-large");
    expect(ruleOf(`: ${"é".repeat(limit / 2)}`)).toBe("too-large");
  });

  test.each([
    ["$( 10,000 times", "$(".repeat(10_000)],
    ["1 MB of quotes", '\\"'.repeat(500_000)],
    ["100 kB of braces side by side", `echo ${"{a,b}".repeat(20_000)}`],
    ["100 kB of braces nested in each other", `echo ${"{a,".repeat(25_000)}b${"}".repeat(25_000)}`],
    ["braces that multiply", `echo ${"{a,b}".repeat(40)}`],
    ["braces over braces", `echo ${"{a,b} ".repeat(30_000)}`],
    ["a quarter of a megabyte of commands", "a;".repeat(130_000)],
    ["a very long pipeline", `${"a|".repeat(130_000)}a`],
    ["arithmetic in arithmetic", "$[".repeat(100_000)],
    ["heredocs in a row", "<<a ".repeat(60_000)],
    ["functions of functions", "f()".repeat(80_000)],
    ["very many words", "a ".repeat(130_000)],
    ["a text that doubles itself", `x=aaaaaaaa;${"x=$x$x;".repeat(2000)}${"eval $x;".repeat(5000)}`],
    ["code that runs itself", `x='${"a ".repeat(30_000)}';${'eval "$x";'.repeat(1000)}`],
    ["a loop of links", `ln -s x y; ln -s y x; for i in {1..250}; do ln -s ../{1..60} d$i/; touch x/{1..60}; done`],
    ["thousands of links", `ln -s ${"../a ".repeat(2000)}d/; ${"ln -s a b; touch b/c; ".repeat(2000)}rm -rf /`],
    ["loops in loops", `${"for i in {1..50}; do ".repeat(20)}a${"; done".repeat(20)}; ${"echo $(ls) ".repeat(6000)}`],
  ])("answers in time: %s (T3)", (_, command) => {
    const took = quickest(200, () => expect(judgeCommand(command, machine).verdict).toBe("deny"));
    expect(took).toBeLessThan(200);
  });

  test.each(["f() { f; }; f", ":(){ :|:& };:", "alias a=a; a", "a() { b; }; b() { a; }; a", "trap 'trap x 0' 0"])(
    "terminates for %j",
    (command) => {
      expect(ruleOf(command)).toBe("allow");
    },
  );
});

test("judges thousands of commands per second", () => {
  const commands = [
    "npm test 2>&1 | tail -20",
    "git add . && git commit -m 'x'",
    "rm -rf dist",
    "echo hi > f",
    "ls -la src",
  ];
  const rates = Array.from({ length: 10 }, () => {
    const start = processorMs();
    for (let i = 0; i < 200; i++) for (const command of commands) judgeCommand(command, machine);
    return (200 * commands.length * 1000) / (processorMs() - start);
  });
  expect(Math.max(...rates)).toBeGreaterThan(2000);
});

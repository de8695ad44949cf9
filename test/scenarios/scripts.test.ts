import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSession, Project, root } from "../support/project.ts";

let project: Project;
beforeEach(() => {
  project = new Project();
});
afterEach(() => project.remove());

const tree = () => project.run("find", [".", "-printf", "%p %y %m %s %T@\n"]).stdout.split("\n").sort();

describe("ensure-workspace.sh", () => {
  const directories = ["parallel", "plans", "plans/archive", "state", "state/archive"];

  test.each([
    [[], ".gemini"],
    [["custom"], "custom"],
    [["a/b/c"], "a/b/c"],
    [["a..b"], "a..b"],
    [[".gemini/"], ".gemini"],
    [["./x"], "x"],
  ])("%j makes the whole tree, silently (A1-A7, A9, A10, A13)", (args, stateDir) => {
    expect(project.script("ensure-workspace.sh", args)).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
    for (const directory of directories) expect(project.exists(join(stateDir, directory)), directory).toBe(true);
  });

  test("changes nothing the second time, not even a time stamp (A8)", () => {
    project.script("ensure-workspace.sh");
    const before = tree();
    expect(project.script("ensure-workspace.sh")).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
    expect(tree()).toEqual(before);
  });

  test("ignores MAESTRO_STATE_DIR, which its callers read (A2)", () => {
    project.script("ensure-workspace.sh", [], { env: { MAESTRO_STATE_DIR: "other" } });
    expect(project.list()).toContain(".gemini");
  });

  test.each([
    ["/abs", "ERROR: STATE_DIR must be a relative path within the project (got: /abs)"],
    ["../up", "ERROR: STATE_DIR must not contain path traversal components (got: ../up)"],
    ["a/../b", "ERROR: STATE_DIR must not contain path traversal components (got: a/../b)"],
    ["a\\..\\b", "ERROR: STATE_DIR must not contain path traversal components (got: a\\..\\b)"],
  ])("refuses %s and makes nothing (A11-A13, C3)", (stateDir, message) => {
    expect(project.script("ensure-workspace.sh", [stateDir])).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `${message}\n`,
    });
    expect(project.list()).toEqual([]);
  });

  test.each([
    ["the directory itself", ".gemini", ".gemini", ".gemini"],
    ["the directory, named with a slash", ".gemini", ".gemini/", ".gemini/"],
    ["a parent", "link", "link/state-dir", "link/state-dir"],
    ["a child", ".gemini/state", ".gemini", ".gemini/state"],
  ])("refuses a symlink: %s (A14)", (_what, link, stateDir, shown) => {
    mkdirSync(join(project.path, "elsewhere"));
    mkdirSync(join(project.path, ".gemini"), { recursive: true });
    if (link === ".gemini") project.run("rmdir", [".gemini"]);
    symlinkSync(join(project.path, "elsewhere"), join(project.path, link));
    const run = project.script("ensure-workspace.sh", [stateDir]);
    expect([run.code, run.stderr]).toEqual([1, `ERROR: STATE_DIR must not be a symlink (got: ${shown})\n`]);
    expect(project.list("elsewhere")).toEqual([]);
  });

  test("says which directory it could not make, and why (A15, A17)", () => {
    project.write(".gemini", "a file in the way");
    const run = project.script("ensure-workspace.sh");
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(
      /^ERROR: Failed to create directory: \.gemini\/state\n {2}Reason: a component of the path is not a directory \(ENOTDIR\)/,
    );
    expect(project.read(".gemini")).toBe("a file in the way");
  });

  test("says which directory it cannot write, also as root: a read-only file system (A16, A17)", (context) => {
    project.script("ensure-workspace.sh");
    const script = `mount -t tmpfs -o mode=700 none .gemini/plans/archive && mount -o remount,ro .gemini/plans/archive && "${root}scripts/ensure-workspace.sh"`;
    const run = project.run("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    if (/unshare|mount:/.test(run.stderr)) context.skip("user namespaces are not available here");
    expect([run.code, run.stderr.split("\n")[0]]).toEqual([1, "ERROR: Directory not writable: .gemini/plans/archive"]);
    expect(run.stderr).toContain("read-only file system (EROFS). Mount it for writing, or set MAESTRO_STATE_DIR to a ");
  });

  test("says that a full disk needs space, not other permissions (A16)", (context) => {
    const script = `mkdir -p .gemini && mount -t tmpfs -o size=4k,mode=700 none .gemini && head -c 9000 /dev/zero >.gemini/full 2>/dev/null; "${root}scripts/ensure-workspace.sh"`;
    const run = project.run("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    if (/unshare|mount:/.test(run.stderr)) context.skip("user namespaces are not available here");
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(
      "(ENOSPC). Free some space, or set MAESTRO_STATE_DIR to a directory you can write to.\n",
    );
  });

  test("says which directory it cannot write to a user without the right (A16)", (context) => {
    project.script("ensure-workspace.sh");
    chmodSync(project.path, 0o755);
    for (const path of [".gemini", ".gemini/state", ".gemini/state/archive"])
      chmodSync(join(project.path, path), 0o755);
    chmodSync(join(project.path, ".gemini/state"), 0o555);
    const asNobody =
      process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"];
    if (spawnSync(asNobody[0] as string, [...asNobody.slice(1), "node", "-e", ""]).status !== 0)
      context.skip("cannot become another user here");
    const run = project.run(asNobody[0] as string, [...asNobody.slice(1), join(root, "scripts/ensure-workspace.sh")]);
    if (/Cannot find module|EACCES.*dist/.test(run.stderr)) context.skip("the other user cannot read this checkout");
    expect([run.code, run.stderr.split("\n")[0]]).toEqual([1, "ERROR: Directory not writable: .gemini/state"]);
  });
});

describe("read-state.sh", () => {
  test("prints the bytes as they are, ignored or not (B20, B21, B26)", () => {
    const bytes = Buffer.from([0, 1, 2, 255, 254, 10, 13, 10, 0xef, 0xbb, 0xbf]);
    project.write(".gemini/state/x.bin", bytes);
    project.write(".gitignore", ".gemini/\n");
    project.write(".geminiignore", ".gemini/\n");
    const { status, stdout } = spawnSync(join(root, "scripts/read-state.sh"), [".gemini/state/x.bin"], {
      cwd: project.path,
    });
    expect([status, stdout]).toEqual([0, bytes]);
  });

  test("prints ten megabytes through a pipe without losing one", () => {
    const bytes = Buffer.alloc(10_000_000, "0123456789abcdef");
    project.write("big", bytes);
    const { stdout } = spawnSync("sh", ["-c", `"${root}scripts/read-state.sh" big | cat`], {
      cwd: project.path,
      maxBuffer: 20_000_000,
    });
    expect(stdout.equals(bytes)).toBe(true);
  });

  test.each([
    ["/etc/hostname", "ERROR: Path must be relative (got: /etc/hostname)"],
    ["../x", "ERROR: Path traversal not allowed (got: ../x)"],
    ["a/../../x", "ERROR: Path traversal not allowed (got: a/../../x)"],
    ["..\\x", "ERROR: Path traversal not allowed (got: ..\\x)"],
    ["none.md", "ERROR: State file not found: none.md"],
    ["none/none.md", "ERROR: State file not found: none/none.md"],
    ["-x", "ERROR: State file not found: -x"],
  ])("refuses %s (B22-B24, C4)", (path, message) => {
    expect(project.script("read-state.sh", [path])).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `${message}\n`,
    });
  });

  test("says how it is used when the argument is missing (B25)", () => {
    const run = project.script("read-state.sh");
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("missing required argument 'path'");
  });

  test("does not follow a link out of the project (B28)", () => {
    symlinkSync("/etc/hostname", join(project.path, "link"));
    const run = project.script("read-state.sh", ["link"]);
    expect([run.code, run.stdout]).toEqual([1, ""]);
  });
});

describe("write-state.sh", () => {
  test("writes what it is given, verbatim, into directories it makes (B29, B32, B37)", () => {
    const content = "---\nkey: \"value\" # comment\n---\n`code` $HOME !event \\n 'quotes'\r\nno newline at the end";
    expect(project.script("write-state.sh", [".gemini/state/deep/x.md"], { input: content })).toEqual({
      code: 0,
      signal: null,
      stdout: "",
      stderr: "",
    });
    expect(project.read(".gemini/state/deep/x.md")).toBe(content);
    expect(project.list(".gemini/state/deep")).toEqual(["x.md"]);
  });

  test("keeps the old content when its input cannot be read (B36)", () => {
    project.write("file", "old");
    const run = project.run("sh", ["-c", `"${root}scripts/write-state.sh" file < .`]);
    expect([run.code, run.stderr, project.read("file")]).toEqual([
      1,
      "ERROR: Cannot read standard input: it is a directory\n",
      "old",
    ]);
  });

  test("keeps the old content when its input is closed (B36)", () => {
    project.write("file", "old");
    const run = project.run("sh", ["-c", `"${root}scripts/write-state.sh" file <&-`]);
    expect([run.code, run.stderr, project.read("file")]).toEqual([
      1,
      "ERROR: Cannot read standard input: it is closed\n",
      "old",
    ]);
  });

  test("leaves the journal to Maestro", () => {
    createSession(project);
    const journal = project.read(".gemini/state/progress.jsonl");
    const run = project.script("write-state.sh", [".gemini/state/progress.jsonl"], { input: "x" });
    expect([run.code, run.stderr.split("\n")[0]]).toEqual([
      1,
      "ERROR: Only Maestro itself writes the journal (got: .gemini/state/progress.jsonl)",
    ]);
    expect(project.read(".gemini/state/progress.jsonl")).toBe(journal);
  });

  test("writes an empty file from empty input", () => {
    project.script("write-state.sh", ["empty"], { input: "" });
    expect(project.read("empty")).toBe("");
  });

  test.each([
    ["/tmp/x", "ERROR: Path must be relative (got: /tmp/x)"],
    ["../x", "ERROR: Path traversal not allowed (got: ../x)"],
  ])("refuses %s and writes nothing (B30, B31)", (path, message) => {
    expect(project.script("write-state.sh", [path], { input: "x" })).toEqual({
      code: 1,
      signal: null,
      stdout: "",
      stderr: `${message}\n`,
    });
    expect(project.list()).toEqual([]);
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "leaves the old content and no litter when %s comes while it waits (B34, B36)",
    async (signal) => {
      project.write("file", "old");
      const child = project.start(join(root, "scripts/write-state.sh"), ["file"]);
      child.stdin.on("error", () => undefined);
      // More than a pipe holds: when it has gone through, the command is reading.
      await new Promise((resolve) => child.stdin.write(Buffer.alloc(1_000_000), resolve));
      child.kill(signal);
      const code = await new Promise((resolve) => child.once("close", resolve));
      expect(code).toBe({ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal]);
      expect([project.list(), project.read("file")]).toEqual([["file"], "old"]);
    },
  );

  test("shows readers the old or the new content, never a part (B35)", async () => {
    const [a, b] = ["a".repeat(300_000), "b".repeat(300_000)];
    project.write("file", a);
    const reader = project.start(process.execPath, [
      "-e",
      `const { readFileSync } = require("node:fs"); process.stdout.write("go\\n"); let bad = 0, n = 0;
       process.stdin.on("data", () => { console.log(bad + " bad of " + n); process.exit(); });
       (function look() { const t = readFileSync("file", "utf8"); n++; if (t.length !== 300000 || t[0] !== t[299999]) bad++; setImmediate(look); })();`,
    ]);
    let said = "";
    reader.stdout.on("data", (chunk) => (said += chunk));
    await new Promise((resolve) => reader.stdout.once("data", resolve));
    for (let i = 0; i < 10; i++) project.script("write-state.sh", ["file"], { input: i % 2 ? a : b });
    reader.stdin.write("stop");
    await new Promise((resolve) => reader.once("close", resolve));
    expect(said).toMatch(/\n0 bad of \d{2,}/);
  });

  test("keeps the old content and cleans up when the disk is full (F5, P11)", (context) => {
    mkdirSync(join(project.path, "disk"));
    const script = `mount -t tmpfs -o size=64k none disk && echo old > disk/file && head -c 500000 /dev/zero | "${root}scripts/write-state.sh" disk/file; echo "code $?"; cat disk/file; ls -A disk`;
    const run = project.run("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    if (/unshare|mount:/.test(run.stderr)) context.skip("user namespaces are not available here");
    expect(run.stdout).toBe("code 1\nold\nfile\n");
    expect(run.stderr).toBe("ERROR: Cannot write disk/file: no space left on device (ENOSPC)\n");
  });
});

describe("read-active-session.sh", () => {
  test("says so when no session exists, also in an empty directory (D39, D40)", () => {
    expect(project.script("read-active-session.sh")).toEqual({
      code: 0,
      signal: null,
      stdout: "No active session\n",
      stderr: "",
    });
    expect(project.list()).toEqual([]);
  });

  test("record A8: is not stopped by an invalid value of another setting, with and without a session (D40)", () => {
    project.write(".env", "MAESTRO_MAX_RETRIES=often\n");
    const env = { MAESTRO_AGENT_TIMEOUT: "soon" };
    const warned = [
      "WARNING: MAESTRO_AGENT_TIMEOUT must be a positive integer of minutes, or a duration such as 90s (got: soon)",
      "WARNING: MAESTRO_MAX_RETRIES must be a non-negative integer (got: often) It is set in the workspace .env.",
      "",
    ].join("\n");
    const none = project.script("read-active-session.sh", [], { env });
    expect(none).toEqual({ code: 0, signal: null, stdout: "No active session\n", stderr: warned });
    project.write(".gemini/state/active-session.md", "hello\n");
    const one = project.script("read-active-session.sh", [], { env });
    expect(one).toEqual({ code: 0, signal: null, stdout: "hello\n", stderr: warned });
  });

  test("prints the file as it is, whatever it says, and does not change it (D39)", () => {
    project.write(".gemini/state/active-session.md", "hello\n");
    expect(project.script("read-active-session.sh")).toEqual({ code: 0, signal: null, stdout: "hello\n", stderr: "" });
    expect(project.list(".gemini/state")).toEqual(["active-session.md"]);
  });

  test("prints the document of the session (D39)", () => {
    createSession(project);
    const { code, stdout } = project.script("read-active-session.sh");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^---\nsession_id: "2026-02-14-task-api"\n/);
  });

  test.each([
    ["relative", "custom/state"],
    ["absolute", "/elsewhere"],
  ])("finds a %s state directory by the chain of settings (D41, D42, J126, C3, C4)", (_what, where) => {
    const stateDir = where.startsWith("/") ? join(project.path, ".home", where) : where;
    const env = { MAESTRO_STATE_DIR: stateDir };
    createSession(project);
    expect(project.script("read-active-session.sh", [], { env }).stdout).toBe("No active session\n");
    expect(
      project.maestro(["session", "create", ".gemini/plans/2026-02-14-task-api-impl-plan.md"], { env }).stderr,
    ).toBe("");
    expect(project.script("read-active-session.sh", [], { env }).stdout).toContain("2026-02-14-task-api");
    project.write(".env", `MAESTRO_STATE_DIR="${stateDir}"\n`);
    expect(project.script("read-active-session.sh").stdout).toContain("2026-02-14-task-api");
    project.write(".env", "");
    project.write(".home/.gemini/extensions/maestro/.env", `export MAESTRO_STATE_DIR='${stateDir}'\n`);
    expect(project.script("read-active-session.sh").stdout).toContain("2026-02-14-task-api");
    expect(project.script("read-active-session.sh", [], { env: { MAESTRO_STATE_DIR: "nowhere" } }).stdout).toBe(
      "No active session\n",
    );
  });
});

describe("validate-agent-permissions.sh (I116-I122)", () => {
  const extension = () => {
    cpSync(join(root, "agents"), join(project.path, "ext/agents"), { recursive: true });
    return { MAESTRO_EXTENSION_PATH: join(project.path, "ext") };
  };
  const edit = (agent: string, from: string | RegExp, to: string) => {
    const path = join(project.path, `ext/agents/${agent}.md`);
    writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
  };

  test("is silent and exits 0 for the agents that come with Maestro", () => {
    expect(project.script("validate-agent-permissions.sh")).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
  });

  test("names every violation and exits with their number", () => {
    const env = extension();
    edit("architect", /tools:\n/, "tools:\n  - write_file\n  - run_shell_command\n");
    edit("coder", /tools:\n/, "tools:\n  - make_coffee\n");
    const run = project.script("validate-agent-permissions.sh", [], { env });
    expect([run.code, run.stderr]).toEqual([
      3,
      [
        "ERROR: Read-only agent architect has forbidden tool: write_file",
        "ERROR: Read-only agent architect has forbidden tool: run_shell_command",
        "ERROR: coder has unrecognized tool: make_coffee",
        "FAILED: 3 permission violation(s) found.",
        "",
      ].join("\n"),
    ]);
  });
});

describe("every launcher", () => {
  test("works through a link, from a directory with spaces", () => {
    mkdirSync(join(project.path, "a b"));
    symlinkSync(join(root, "scripts/read-state.sh"), join(project.path, "a b", "rs"));
    project.write("a b/file", "content");
    expect(project.run("./rs", ["file"], { cwd: join(project.path, "a b") })).toMatchObject({
      code: 0,
      stdout: "content",
    });
  });
});

describe("sync-version.js (I112-I114)", () => {
  test("copies the version, keeps the rest, and is wired to npm version", () => {
    cpSync(join(root, "scripts/sync-version.js"), join(project.path, "scripts/sync-version.js"));
    project.write("package.json", '{"version":"1.2.3"}');
    project.write("gemini-extension.json", '{"name":"maestro","version":"0.0.1","x":[1]}');
    expect(project.run("node", ["scripts/sync-version.js"])).toEqual({
      code: 0,
      signal: null,
      stdout: "Synced gemini-extension.json to v1.2.3\n",
      stderr: "",
    });
    expect(project.read("gemini-extension.json")).toBe(
      '{\n  "name": "maestro",\n  "version": "1.2.3",\n  "x": [\n    1\n  ]\n}\n',
    );
    expect(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts.version).toMatch(
      /^node scripts\/sync-version\.js/,
    );
  });
});

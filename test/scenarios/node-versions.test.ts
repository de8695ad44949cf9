// What depends on the version of Node: which one runs the programs, its warnings, its internals, and its compile cache.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hookInput, startHook } from "../support/hooks.ts";
import { until } from "../support/processes.ts";
import { createSession, Project, type Run, root } from "../support/project.ts";

let project: Project;

beforeEach(() => {
  project = new Project();
});

afterEach(() => project.remove());

const initialize = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
})}\n${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n${JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" })}\n`;

/** Environment in which every Node process runs `code` first. */
function preloaded(code: string): Record<string, string> {
  return { NODE_OPTIONS: `--require=${project.write(".preload/preload.cjs", code)}` };
}

describe("the version of Node", () => {
  test("is the same for the tests, the programs in dist/ and node on the PATH, and no program causes a warning", () => {
    const wanted = process.env.MAESTRO_TEST_NODE ?? process.versions.node;
    expect(process.versions.node).toBe(wanted);
    // Launchers with "#!/usr/bin/env node" take the one on the PATH.
    expect(project.run("node", ["-p", "process.versions.node"]).stdout.trim()).toBe(wanted);
    const seen = join(project.path, ".preload", "seen");
    // A hook exits before Node prints a warning, so warnings are recorded where Node emits them.
    const env = preloaded(`
      const { appendFileSync } = require("node:fs");
      const note = (what) => appendFileSync(${JSON.stringify(seen)}, JSON.stringify(what) + "\\n");
      note({ program: process.argv[1], version: process.versions.node });
      const { emitWarning } = process;
      process.emitWarning = (warning, ...more) => {
        note({ program: process.argv[1], warning: String(warning) });
        return emitWarning.call(process, warning, ...more);
      };`);
    const phase = {
      id: "1",
      title: "Phase 1",
      description: "Work.",
      agent: "coder",
      files_created: [],
      files_modified: [],
      files_deleted: [],
      ms: 1,
    };
    const script = project.write("script.json", JSON.stringify({ phases: [phase], validation_ms: 1, failing: null }));
    const node = (name: string, args: string[], input = "", more = {}) =>
      project.run(process.execPath, [join(root, "dist", name), ...args], { env: { ...env, ...more }, input });
    const runs: Run[] = [
      node("maestro.js", ["status"]),
      node("mcp.js", [], initialize),
      ...["SessionStart", "BeforeTool"].map((event) => node("hook.cjs", [event], hookInput(project, event))),
      node("warden.cjs", ["no-such-run", "1"]),
      node("player.js", ["agent", script], "", { MAESTRO_PHASE: "1" }),
    ];
    for (const { code, stderr } of runs) {
      expect(code, stderr).toBe(0);
      expect(stderr).not.toMatch(/Warning|DEP\d+/);
    }
    const notes: { program: string; version?: string; warning?: string }[] = readFileSync(seen, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(notes.filter(({ warning }) => warning !== undefined)).toEqual([]);
    const programs = new Set(notes.map(({ program }) => basename(program ?? "")));
    for (const program of ["maestro.js", "mcp.js", "hook.cjs", "warden.cjs", "player.js"]) {
      expect(programs, [...programs].join()).toContain(program);
    }
    expect(notes.filter(({ version }) => version !== wanted)).toEqual([]);
  });
});

describe("a hook on a Node that hides its internals", () => {
  /** Hides the internals from the hooks alone: Node's own public functions need them too. */
  const hide = `
    const { appendFileSync } = require("node:fs");
    const askedBy = () => {
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 3;
      const frame = new Error().stack.split("\\n")[3] ?? "";
      Error.stackTraceLimit = stackTraceLimit;
      return frame;
    };
    const hide = (object, name) => {
      const value = object[name];
      Object.defineProperty(object, name, {
        configurable: true,
        get() {
          if (!/hook[\\w-]*\\.cjs/.test(askedBy())) return value;
          appendFileSync(process.env.HIDDEN, name + "\\n");
          return VALUE;
        },
      });
    };
    hide(process, "binding");
    hide(process, "reallyExit");
    hide(Buffer.prototype, "utf8Slice");`;
  const missing = hide.replace("VALUE", "undefined");
  const command = (text: string) => ({ tool_name: "run_shell_command", tool_input: { command: text } });
  const calls: [what: string, event: string, input: object][] = [
    ["a start", "SessionStart", { source: "startup" }],
    ["a prompt", "BeforeAgent", { prompt: "What does this function do? äöü 🎼" }],
    ["a plain command", "BeforeTool", command("npm test")],
    ["a denied command", "BeforeTool", command("echo 'ä 🎼' > src/ö.ts")],
    ["a command for the whole judge", "BeforeTool", command("for f in *.ts; do rm -rf ~; done")],
    ["a document in many pieces", "BeforeTool", { ...command("npm test"), filler: "é".repeat(200_000) }],
    ["a byte order mark and half a character", "BeforeTool", command("echo \ufeff \ud83c > src/a.ts")],
    ["a compression", "PreCompress", { trigger: "auto" }],
  ];

  test.each(calls)("gives the same answer to %s", async (_, event, input) => {
    const other = new Project();
    try {
      createSession(other);
      const usual = await startHook(other, event, { input: hookInput(other, event, input) });
      createSession(project);
      const hidden = join(project.path, ".hidden");
      const env = { ...preloaded(missing), HIDDEN: hidden };
      const without = await startHook(project, event, { input: hookInput(project, event, input), env });
      expect(without.stdout.replaceAll(project.path, other.path)).toBe(usual.stdout);
      expect(without.stderr).toBe(usual.stderr);
      const asked = new Set(readFileSync(hidden, "utf8").trim().split("\n"));
      expect(asked).toEqual(new Set(["binding", "utf8Slice", "reallyExit"]));
    } finally {
      other.remove();
    }
  });

  test.each([
    ["is missing", missing],
    [
      "throws",
      missing.replace("undefined", 'name === "binding" ? () => { throw new Error("No such module") } : undefined'),
    ],
  ])("does not wait for a standard input that stays open when process.binding %s", async (_, code) => {
    const env = { ...preloaded(code), HIDDEN: join(project.path, ".hidden") };
    const input = hookInput(project, "BeforeTool", command("git reset --hard"));
    const whole = await startHook(project, "BeforeTool", { input, open: true, env });
    expect(whole.reply).toMatchObject({ decision: "deny" });
    const half = await startHook(project, "BeforeTool", { input: input.slice(0, 40), open: true, env });
    expect(half.stderr).toContain("stays open");
    expect(half.reply).toMatchObject({ decision: "allow" });
  });
});

describe("the compile cache", () => {
  /** Node's own cache writes nothing else into it. */
  const isOurs = !("enableCompileCache" in nodeModule);
  let installation: string;

  beforeEach(() => {
    installation = mkdtempSync(join(tmpdir(), "maestro-installed-"));
    for (const part of ["dist", "package.json", "agents"])
      cpSync(join(root, part), join(installation, part), { recursive: true });
  });

  afterEach(() => rmSync(installation, { recursive: true, force: true }));

  const cacheOf = (directory: string) => join(directory, ".compile-cache");
  const filesIn = (directory: string): number =>
    existsSync(directory)
      ? readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length
      : 0;
  const status = (options: { cwd?: string; env?: Record<string, string> } = {}) =>
    project.run(process.execPath, [join(installation, "dist", "maestro.js"), "status"], options);

  test("is in the installation, closed to other users, and changes no answer", () => {
    const first = status();
    const second = status();
    const server = () => project.run(process.execPath, [join(installation, "dist", "mcp.js")], { input: initialize });
    const cold = server();
    expect(server()).toEqual(cold);
    expect(cold.code).toBe(0);
    expect(second).toEqual(first);
    expect(project.maestro(["status"])).toEqual(first);
    expect(filesIn(cacheOf(installation))).toBeGreaterThan(0);
    expect(statSync(cacheOf(installation)).mode & 0o777).toBe(0o700);
    expect(project.list().filter((name) => name.includes("cache"))).toEqual([]);
  });

  test("is ignored where it is damaged or truncated, and is written again", () => {
    const first = status();
    const kept = readdirSync(cacheOf(installation), { recursive: true, encoding: "utf8" })
      .map((name) => join(cacheOf(installation), name))
      .filter((path) => statSync(path).isFile());
    const whole = kept.map((path) => readFileSync(path));
    kept.forEach((path, at) => {
      const bytes = Buffer.from(whole[at] ?? []);
      const middle = Math.floor(bytes.length / 2);
      bytes.writeUInt8(bytes.readUInt8(middle) ^ 0x41, middle);
      writeFileSync(path, at % 3 === 0 ? bytes.subarray(0, middle) : bytes);
    });
    const damaged = kept.map((path) => readFileSync(path));
    expect(status()).toEqual(first);
    const changed = kept.filter((path, at) => !readFileSync(path).equals(damaged[at] ?? Buffer.alloc(0)));
    if (isOurs) expect(changed).toEqual(kept);
    expect(status()).toEqual(first);
  });

  test("is left out where it cannot be written, and nothing else is left there", () => {
    const first = status();
    const names = readdirSync(cacheOf(installation));
    for (const name of names) {
      rmSync(join(cacheOf(installation), name), { recursive: true });
      mkdirSync(join(cacheOf(installation), name));
    }
    expect(status()).toEqual(first);
    if (isOurs) expect(readdirSync(cacheOf(installation))).toEqual(names);
  });

  test("is not used for a program that was replaced, and what belongs to the old one is deleted", () => {
    expect(status().code).toBe(0);
    const before = readdirSync(cacheOf(installation));
    const main = readdirSync(join(installation, "dist")).find((name) => /^maestro-main-/.test(name)) ?? "";
    const path = join(installation, "dist", main);
    const text = readFileSync(path, "utf8");
    const { atime, mtime } = statSync(path);
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const other = version.replace(/\d$/, (digit: string) => (digit === "9" ? "8" : "9"));
    expect(text).toContain(`"${version}"`);
    writeFileSync(path, text.replaceAll(`"${version}"`, `"${other}"`));
    const draft = join(cacheOf(installation), `${before[0]}.4121`);
    writeFileSync(draft, "half");
    utimesSync(draft, new Date(0), new Date(0));
    // Of the same size and, like a copy that keeps times, as old.
    utimesSync(path, atime, mtime);
    const { stdout } = project.run(process.execPath, [join(installation, "dist", "maestro.js"), "--version"]);
    expect(stdout).toContain(other);
    if (!isOurs) return;
    const after = readdirSync(cacheOf(installation)).filter((name) => name.startsWith(main));
    expect(after).toHaveLength(1);
    expect(before).not.toContain(after[0]);
    expect(existsSync(draft)).toBe(false);
  });

  test("is written by a server that only a signal ends", async () => {
    const server = project.start(process.execPath, [join(installation, "dist", "mcp.js")]);
    server.stdin.write(initialize);
    const ended = new Promise((resolve) => server.once("close", resolve));
    await until("the server has kept its code", () => filesIn(cacheOf(installation)) > 0, 20_000);
    server.kill("SIGTERM");
    await ended;
  });

  test("is not used when another user could write to it", () => {
    mkdirSync(cacheOf(installation));
    chmodSync(cacheOf(installation), 0o770);
    expect(status().code).toBe(0);
    expect(filesIn(cacheOf(installation))).toBe(0);
  });

  test("is not used when the installation is in the project, or is the project", () => {
    const answers = [installation, join(installation, "dist"), tmpdir()].map((cwd) => status({ cwd }));
    expect(answers.map(({ stderr }) => stderr).join("")).not.toMatch(/Error:/);
    expect(existsSync(cacheOf(installation))).toBe(false);
  });

  test("is not written when NODE_DISABLE_COMPILE_CACHE is set", () => {
    expect(status({ env: { NODE_DISABLE_COMPILE_CACHE: "1" } }).code).toBe(0);
    expect(filesIn(cacheOf(installation))).toBe(0);
  });

  describe("of a hook", () => {
    const judge = (command: string, options: { cwd?: string } = {}) => {
      const input = hookInput(project, "BeforeTool", { tool_name: "run_shell_command", tool_input: { command } });
      return project.run(process.execPath, [join(installation, "dist", "hook.cjs"), "BeforeTool"], {
        input,
        ...options,
      });
    };
    /** For the whole judge. */
    const denied = "for f in *.ts; do git reset --hard; done";
    const kept = () => readdirSync(cacheOf(installation)).filter((name) => name.startsWith("hook-"));

    test("holds the parts that a command needed, and changes no answer", () => {
      const first = judge(denied);
      expect(first).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(first.stdout)).toMatchObject({ decision: "deny" });
      expect(kept().map((name) => name.split("@")[0])).toEqual(["hook-guard.cjs", "hook-tool-call.cjs"]);
      const times = kept().map((name) => statSync(join(cacheOf(installation), name)).mtimeMs);
      expect(judge(denied)).toEqual(first);
      expect(kept().map((name) => statSync(join(cacheOf(installation), name)).mtimeMs)).toEqual(times);
      expect(judge("npm test")).toMatchObject({ code: 0, stdout: '{"decision":"allow"}' });
      expect(judge(denied.replace("git reset --hard", "ls"))).toMatchObject({ stdout: '{"decision":"allow"}' });
      expect(project.list().filter((name) => name.includes("cache"))).toEqual([]);
    });

    test("is ignored where it is damaged or truncated, and is written again", () => {
      const first = judge(denied);
      kept().forEach((name, at) => {
        const path = join(cacheOf(installation), name);
        const bytes = readFileSync(path);
        bytes.writeUInt8(bytes.readUInt8(bytes.length >> 2) ^ 0x41, bytes.length >> 2);
        writeFileSync(path, at === 0 ? bytes.subarray(0, bytes.length >> 1) : bytes);
      });
      const damaged = kept().map((name) => readFileSync(join(cacheOf(installation), name)));
      expect(judge(denied)).toEqual(first);
      kept().forEach((name, at) => {
        expect(readFileSync(join(cacheOf(installation), name)).equals(damaged[at] ?? Buffer.alloc(0))).toBe(false);
      });
      expect(judge(denied)).toEqual(first);
    });

    test("is not used for a part that was replaced by one of the same size and age", () => {
      expect(judge(denied).code).toBe(0);
      const path = join(installation, "dist", "hook-guard.cjs");
      const text = readFileSync(path, "utf8");
      const { atime, mtime } = statSync(path);
      expect(text).toContain("hard-reset");
      writeFileSync(path, text.replaceAll("hard-reset", "HARD-reset"));
      utimesSync(path, atime, mtime);
      expect(judge(denied).stdout).toContain("HARD-reset");
      expect(kept().filter((name) => name.startsWith("hook-guard"))).toHaveLength(1);
    });

    test("is not used when another user could write to it, or when the hook runs in the installation", () => {
      mkdirSync(cacheOf(installation));
      chmodSync(cacheOf(installation), 0o770);
      expect(JSON.parse(judge(denied).stdout)).toMatchObject({ decision: "deny" });
      expect(kept()).toEqual([]);
      chmodSync(cacheOf(installation), 0o700);
      for (const cwd of [installation, tmpdir()]) judge(denied, { cwd });
      expect(kept()).toEqual([]);
    });

    test("lets the hook answer where the directory cannot be made", () => {
      cpSync(join(root, "package.json"), cacheOf(installation));
      expect(judge(denied)).toMatchObject({ code: 0, stderr: "" });
    });
  });

  test("lets the program run where the directory cannot be made", () => {
    cpSync(join(root, "package.json"), cacheOf(installation));
    expect(status()).toEqual(project.maestro(["status"]));
  });
});

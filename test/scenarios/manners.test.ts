import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { createSession, Project, root } from "../support/project.ts";
import { TIMED } from "../support/timed.ts";

/** A hint names the command that works when it is pasted: here `maestro` is not on the PATH. */
const shown = (words: string) => `\`node "${root}dist/maestro.js" ${words}\``;

let project: Project;
beforeEach(() => {
  project = new Project();
});
afterEach(() => project.remove());

describe("the command line", () => {
  test.each([[[]], [["--help"]], [["session", "--help"]], [["session", "transition", "--help"]]])(
    "prints help on stdout for %j",
    (args) => {
      const run = project.maestro(args);
      expect([run.code, run.stderr]).toEqual([0, ""]);
      expect(run.stdout).toMatch(/^Usage: maestro/);
    },
  );

  test.each([[["--version"]], [["status"]], [["guard", "check", "ls"]]])(
    "loads neither streams, sockets nor cryptography to answer %j into a pipe",
    (args) => {
      project.write(
        "loaded.cjs",
        `process.on("exit", () => require("fs").writeFileSync("loaded", process.moduleLoadList.join("\\n")))`,
      );
      expect(project.maestro(args, { env: { NODE_OPTIONS: "--require ./loaded.cjs" } }).code).toBe(0);
      const loaded = project.read("loaded").split("\n");
      expect(loaded).toContain("NativeModule fs");
      for (const builtin of ["stream", "net", "tty", "crypto", "child_process", "readline"]) {
        expect(loaded).not.toContain(`NativeModule ${builtin}`);
      }
    },
  );

  test.each([
    [
      ["valdate"],
      `ERROR: unknown command 'valdate' (Did you mean validate?)\n  List the commands with ${shown("--help")}.\n`,
    ],
    [["status", "--jsn"], "ERROR: unknown option '--jsn' (Did you mean --json?)\n  Usage: maestro status [options]\n"],
    [["validate"], "ERROR: missing required argument 'plan'\n  Usage: maestro validate [options] <plan>\n"],
    [
      ["validate", "a", "b"],
      "ERROR: too many arguments for 'validate'. Expected 1 argument but got 2.\n  Usage: maestro validate [options] <plan>\n",
    ],
    [
      ["session"],
      "ERROR: session needs a command\n  Use one of: create, transition, files, error, note, mode, revise, requirement, complete.\n",
    ],
    [
      ["session", "crate"],
      `ERROR: unknown command 'crate' (Did you mean create?)\n  List the commands with ${shown("session --help")}.\n`,
    ],
    [
      ["help", "stauts"],
      `ERROR: unknown command 'stauts' (Did you mean status?)\n  List the commands with ${shown("--help")}.\n`,
    ],
    [["frob", "--help"], `ERROR: unknown command 'frob'\n  List the commands with ${shown("--help")}.\n`],
    [
      ["session", "help", "crate"],
      `ERROR: unknown command 'crate' (Did you mean create?)\n  List the commands with ${shown("session --help")}.\n`,
    ],
    [
      ["validate", "none.md"],
      "ERROR: Cannot read the plan none.md: no such file or directory (ENOENT)\n  Check the path. Maestro keeps plans in .gemini/plans.\n",
    ],
    [["handoff", "check", "none.md"], "ERROR: Cannot read none.md: no such file or directory (ENOENT)\n"],
  ])("exits with 2 and says what was wrong and what to do for %j", async (args, stderr) => {
    expect(await commandLine(project, args)).toEqual({ code: 2, signal: null, stdout: "", stderr });
    expect(project.list()).toEqual([]);
  });

  test("says the same as a program of its own", async () => {
    for (const args of [["stauts"], ["status", "--jsn"], ["validate", "none.md"]])
      expect(project.maestro(args)).toEqual(await commandLine(project, args));
  });

  test.each([
    [["help"], ["--help"]],
    [
      ["help", "guard", "check"],
      ["guard", "check", "--help"],
    ],
    [
      ["help", "--", "workspace"],
      ["workspace", "--help"],
    ],
    [
      ["session", "help", "create"],
      ["session", "create", "-h"],
    ],
  ])("%j is %j", async (asked, plain) => {
    expect(await commandLine(project, asked)).toEqual(await commandLine(project, plain));
    expect(await commandLine(project, asked)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Usage: maestro"),
    });
    expect(project.list()).toEqual([]);
  });

  test("has examples in the help of every command", async () => {
    const commandsOf = async (words: string[]): Promise<string[][]> => {
      const { stdout } = await commandLine(project, [...words, "--help"]);
      expect(stdout, words.join(" ")).toMatch(/\nExamples:\n {2}maestro /);
      const listed = /\nCommands:\n([\s\S]*?)(\n\n|$)/.exec(stdout)?.[1] ?? "";
      const names = [...listed.matchAll(/^ {2}([a-z-]+)/gm)]
        .map((match) => match[1] as string)
        .filter((name) => name !== "help");
      const found: string[][] = [];
      for (const name of names) found.push([...words, name], ...(await commandsOf([...words, name])));
      return found;
    };
    expect((await commandsOf([])).length).toBeGreaterThan(20);
  }, 60_000);

  test("says so when the answer cannot be written, and when the directory does not exist", () => {
    const full = project.run("sh", ["-c", `node "${root}dist/maestro.js" --help > /dev/full`]);
    expect(full).toMatchObject({
      code: 1,
      stderr: "ERROR: Cannot write the answer: no space left on device (ENOSPC)\n",
    });
    const gone = project.run("sh", [
      "-c",
      `mkdir gone && cd gone && rmdir ../gone && node "${root}dist/maestro.js" status`,
    ]);
    expect(gone).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^ERROR: The current directory does not exist any more\n/),
    });
  });

  test("does not wait for a FIFO, wherever it is", async () => {
    project.run("mkfifo", [".env"]);
    expect((await commandLine(project, ["status"])).stdout).toBe("No active session\n");
    const run = project.run("sh", [
      "-c",
      `mkfifo plan.md; timeout 5 node "${root}dist/maestro.js" validate plan.md & sleep 1; kill %1 2>/dev/null; wait; echo over`,
    ]);
    expect(run.stdout).toBe("over\n");
  });

  test("reads a FIFO whose writer is already waiting, and process substitution", () => {
    createSession(project);
    const plan = ".gemini/plans/2026-02-14-task-api-impl-plan.md";
    const command = `node "${root}dist/maestro.js" validate`;
    const run = project.run("bash", [
      "-c",
      `mkfifo f; cat ${plan} > f & sleep 0.3; timeout 10 ${command} f > /dev/null; echo $?; ${command} <(cat ${plan}) > /dev/null; echo $?; ${command} - < ${plan} > /dev/null; echo $?`,
    ]);
    expect(run.stdout).toBe("0\n0\n0\n");
  });

  test.each([
    [["validate", "."], "Cannot read the plan .: it is a directory"],
    [["validate", ""], "Cannot read the plan : the path is empty"],
    [["handoff", "check", "."], "Cannot read .: it is a directory"],
  ])("refuses %j with a readable message", async (args, message) => {
    expect(await commandLine(project, args)).toMatchObject({ code: 2, stderr: `ERROR: ${message}\n` });
  });

  test("says where the session is when it runs in a directory of the project", () => {
    createSession(project);
    project.write("src/deep/x", "");
    const run = project.maestro(["status"], { cwd: `${project.path}/src/deep` });
    expect([run.stdout, run.stderr]).toEqual([
      "No active session\n",
      `A session exists in ${project.path}. Run the command there.\n`,
    ]);
  });

  test("prints its version", () => {
    expect(project.maestro(["--version"]).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test.each([
    ["MAESTRO_STAGGER_DELAY", "x", "must be a non-negative integer (got: x)"],
    ["MAESTRO_MAX_CONCURRENT", "-1", "must be a non-negative integer (got: -1)"],
    ["MAESTRO_AGENT_TIMEOUT", "0", "must be a positive integer of minutes, or a duration such as 90s (got: 0)"],
  ])("refuses %s=%s with exit 3 (E61)", async (name, value, message) => {
    const run = await commandLine(project, ["status"], { env: { [name]: value } });
    expect(run).toEqual({ code: 3, signal: null, stdout: "", stderr: `ERROR: ${name} ${message}\n` });
    expect(await commandLine(project, ["doctor"], { env: { [name]: value } })).toMatchObject({
      code: 3,
      stdout: expect.stringContaining(message),
    });
  });

  test("exits quietly when the reader of its output stops reading", () => {
    createSession(
      project,
      Array.from({ length: 400 }, (_, index) => ({ id: index + 1 })),
    );
    const run = project.run("bash", [
      "-c",
      `node "${root}dist/maestro.js" status --json | head -1; echo "\${PIPESTATUS[0]}"`,
    ]);
    expect([run.stdout, run.stderr]).toEqual(["{\n0\n", ""]);
  });

  test("uses colour on a terminal, and none elsewhere or with NO_COLOR", () => {
    createSession(project);
    const screen = (before: string) => {
      const command = `${before} TERM=xterm node "${root}dist/maestro.js" status`;
      return project.run("script", ["-qec", command, "/dev/null"]).stdout;
    };
    expect(project.run("env", ["-u", "NO_COLOR", "node", `${root}dist/maestro.js`, "status"]).stdout).not.toContain(
      "\u001b",
    );
    expect(screen("env NO_COLOR=1")).not.toContain("\u001b[");
    expect(screen("env -u NO_COLOR")).toContain("\u001b[");
  });
});

describe("npm start", () => {
  test("rehearses the example plan on a fresh clone, without an install, in less than 20 s", TIMED, () => {
    project.run("git", ["clone", "-q", "--no-hardlinks", root, "clone"]);
    for (const name of ["dist", "protocols", "agents", "examples", "package.json"]) {
      project.run("rm", ["-rf", `clone/${name}`]);
      project.run("cp", ["-r", `${root}${name}`, `clone/${name}`]);
    }
    const before = performance.now();
    const run = project.run("npm", ["start", "--silent"], { cwd: `${project.path}/clone` });
    expect([run.code, performance.now() - before < 20_000]).toEqual([0, true]);
    expect(run.stderr).toContain("to be retried");
    expect(run.stderr).toContain("validation passed");
    expect(run.stdout).toContain("Critical path  1 → 3 → 5 → 8 → 11");
    expect(run.stdout).toContain("No model was called and none of your files were touched.");
  });
});

describe("doctor", () => {
  test("finds everything in place, and says where each setting comes from", async () => {
    createSession(project);
    project.write(".env", "MAESTRO_MAX_RETRIES=4\n");
    const run = project.maestro(["doctor", "--json"]);
    const report = JSON.parse(run.stdout);
    expect([run.code, report.healthy]).toEqual([0, true]);
    expect(report.settings.MAESTRO_MAX_RETRIES).toEqual({ value: 4, source: "workspace .env" });
    const PATH = `${root}node_modules/.bin:${process.env.PATH}`;
    const linked = { source: root, type: "link" };
    project.write(".home/.gemini/extensions/maestro/.gemini-extension-install.json", JSON.stringify(linked));
    expect((await commandLine(project, ["doctor"], { env: { PATH } })).stdout).toContain(
      "Everything Maestro needs is in place.",
    );
    const bare = await commandLine(project, ["doctor"], { env: { PATH: "/nowhere" } });
    expect([bare.code, bare.stdout]).toEqual([0, expect.stringMatching(/\nNothing is broken; \d warnings\.\n$/)]);
  });

  test("says so when an agent is switched off that does not exist", async () => {
    const run = await commandLine(project, ["doctor"], { env: { MAESTRO_DISABLED_AGENTS: "codr" } });
    expect(run.stdout).toContain('names "codr", which is not in agents/ and is ignored (did you mean "coder"?)');
  });
});

describe("disabled agents (E58)", () => {
  test("may not be used by a plan", () => {
    createSession(project);
    const run = project.maestro(["validate", ".gemini/plans/2026-02-14-task-api-impl-plan.md", "--json"], {
      env: { MAESTRO_DISABLED_AGENTS: "tester, Coder" },
    });
    expect(run.code).toBe(2);
    expect(JSON.parse(run.stdout).errors[0]).toMatchObject({ code: "disabled_agent", phase: "1" });
  });
});

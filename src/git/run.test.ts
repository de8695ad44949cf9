import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { searchPath } from "../search-path.ts";
import { runGit } from "./run.ts";
import { allowGit, limitGit, stopGit, wasStopped, watchGit } from "./running.ts";

let base: string;
const path = process.env.PATH;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "maestro-run-")));
});
afterEach(() => {
  process.env.PATH = path;
  delete process.env.GIT_DIR;
  delete process.env.GIT_EXTERNAL_DIFF;
  rmSync(base, { recursive: true });
});

/** Installs a shell script as git. */
const standIn = (script: string, bin = join(base, "bin")) => {
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "git"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, "git"), 0o755);
  process.env.PATH = [bin, path].join(delimiter);
};

describe("runGit", () => {
  test("returns the output as bytes", async () => {
    standIn("printf 'a\\000\\377'; cat");
    const { stdout } = await runGit({ args: ["x"], cwd: base, input: Buffer.from([1, 2]) });
    expect([...stdout]).toEqual([0x61, 0, 0xff, 1, 2]);
  });

  test("does not search PATH again while git is where it was", async () => {
    standIn("echo far", join(base, "far"));
    const far = process.env.PATH;
    process.env.PATH = [join(base, "near"), far].join(delimiter);
    const both = process.env.PATH;
    const said = async () => (await runGit({ args: ["x"], cwd: base })).stdout.toString();
    expect(await said()).toBe("far\n");
    standIn("echo near", join(base, "near"));
    process.env.PATH = both;
    expect(await said()).toBe("far\n");
    rmSync(join(base, "far", "git"));
    expect(await said()).toBe("near\n");
  });

  test("passes none of the user's GIT_ variables, and sets the C locale", async () => {
    process.env.GIT_DIR = "/elsewhere";
    process.env.GIT_EXTERNAL_DIFF = "touch PWNED";
    standIn("env");
    const { stdout } = await runGit({ args: ["x"], cwd: base });
    const names = stdout
      .toString()
      .split("\n")
      .filter((line) => line.startsWith("GIT_"))
      .sort();
    expect(names).toEqual([
      "GIT_ALLOW_PROTOCOL=none",
      "GIT_ATTR_NOSYSTEM=1",
      "GIT_CONFIG_GLOBAL=/dev/null",
      "GIT_CONFIG_NOSYSTEM=1",
      "GIT_EDITOR=true",
      "GIT_NO_LAZY_FETCH=1",
      "GIT_NO_REPLACE_OBJECTS=1",
      "GIT_OPTIONAL_LOCKS=0",
      "GIT_PAGER=cat",
      "GIT_TERMINAL_PROMPT=0",
    ]);
    expect(stdout.toString()).toMatch(/^LC_ALL=C$/m);
    expect(stdout.toString()).toMatch(/^HOME=\/dev\/null$/m);
  });

  test("disables on the command line every program that a repository could configure (T14)", async () => {
    standIn('printf "%s\\n" "$@"');
    const { stdout } = await runGit({ args: ["status", "-z"], cwd: base });
    const given = stdout.toString().trim().split("\n");
    expect(given).toEqual(
      expect.arrayContaining([
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "protocol.allow=never",
        "--no-pager",
      ]),
    );
    expect(given.slice(-2)).toEqual(["status", "-z"]);
  });

  test("never runs through a shell (T15)", async () => {
    standIn("");
    await runGit({ args: ["$(touch PWNED)", "; touch PWNED", "`touch PWNED`"], cwd: base });
    expect(existsSync(join(base, "PWNED"))).toBe(false);
  });

  test("never runs a git from the current directory", async () => {
    standIn("touch PWNED", join(base, "here"));
    process.env.PATH = [".", "", "here", path].join(delimiter);
    await runGit({ args: ["version"], cwd: join(base, "here") });
    expect(existsSync(join(base, "here", "PWNED"))).toBe(false);
    expect(searchPath([".", "", "bin", "/usr/bin", "../x"].join(delimiter))).toBe("/usr/bin");
  });

  test("reports git's first error in one line", async () => {
    standIn("echo 'error: open(\"a\"): Permission denied' >&2; echo 'fatal: adding files failed' >&2; exit 128");
    await expect(runGit({ args: ["-c", "a=b", "add"], cwd: base })).rejects.toMatchObject({
      code: "environment",
      message: 'git add failed: open("a"): Permission denied',
    });
    standIn("exit 3");
    await expect(runGit({ args: ["add"], cwd: base })).rejects.toThrow("git add failed: exit code 3");
    standIn("kill -9 $$");
    await expect(runGit({ args: ["add"], cwd: base })).rejects.toThrow("git add failed: killed by SIGKILL");
    standIn("printf 'fatal: \\033[31mred\\033[0m\\n' >&2; exit 1");
    await expect(runGit({ args: ["add"], cwd: base })).rejects.toThrow("git add failed: red");
  });

  test("accepts expected exit codes, and returns warnings", async () => {
    standIn("echo 'warning: careful' >&2; exit 1");
    expect(await runGit({ args: ["x"], cwd: base, codes: [0, 1] })).toMatchObject({
      code: 1,
      warnings: ["warning: careful"],
    });
  });

  test("kills git and its children on timeout, even when they ignore SIGTERM", async () => {
    standIn("trap '' TERM; sleep 60 & echo $! > child; wait; sleep 60");
    const began = performance.now();
    await expect(runGit({ args: ["gc"], cwd: base, timeoutMs: 300 })).rejects.toThrow(
      "git gc failed: timed out after 0.3 s",
    );
    expect(performance.now() - began).toBeLessThan(10_000);
  }, 20_000);

  test("tolerates a git that does not read its input", async () => {
    standIn("exit 0");
    await runGit({ args: ["x"], cwd: base, input: Buffer.alloc(1 << 20) });
  });

  test("fails when git is not installed", async () => {
    process.env.PATH = base;
    await expect(runGit({ args: ["x"], cwd: base })).rejects.toThrow("git is not installed, or not on the PATH");
  });
});

describe("stopping git", () => {
  afterEach(allowGit);
  const failure = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );

  test("kills git at once, even when it ignores SIGTERM, and starts no other git", async () => {
    standIn("trap '' TERM; echo > started; sleep 60");
    const began = performance.now();
    const waiting = failure(runGit({ args: ["gc"], cwd: base }));
    while (!existsSync(join(base, "started"))) await new Promise((resolve) => setTimeout(resolve, 10));
    stopGit();
    const error = await waiting;
    expect(error).toMatchObject({ code: "environment", message: "git gc failed: Maestro was told to stop" });
    expect(wasStopped(new Error("wrapped", { cause: error }))).toBe(true);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(wasStopped(await failure(runGit({ args: ["gc"], cwd: base })))).toBe(true);
    allowGit();
    standIn("exit 3");
    expect(wasStopped(await failure(runGit({ args: ["gc"], cwd: base })))).toBe(false);
  });

  test("stops every git process when one exceeds the limit", async () => {
    standIn("sleep 60");
    const lift = limitGit(200);
    expect(wasStopped(await failure(runGit({ args: ["gc"], cwd: base })))).toBe(true);
    lift();
    allowGit();
    standIn("sleep 0.4");
    await runGit({ args: ["gc"], cwd: base });
  });

  test("reports each process group to watchers, from its start to its end", async () => {
    standIn("exit 0");
    const seen: string[] = [];
    const leave = watchGit({ started: (group) => seen.push(`+${group}`), ended: (group) => seen.push(`-${group}`) });
    await runGit({ args: ["x"], cwd: base });
    leave();
    await runGit({ args: ["x"], cwd: base });
    expect(seen).toHaveLength(2);
    expect(seen[1]).toBe(seen[0]?.replace("+", "-"));
  });
});

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../../../test/support/project.ts";
import { randomHex } from "../../disk/random.ts";
import { gitStarted } from "../../git/running.ts";
import { Lifeline } from "./lifeline.ts";
import { type Launch, Supervisor } from "./supervisor.ts";

const GRACE_MS = 2_000;
let directory: string;
let supervisor: Supervisor;
let run: string;
const at = (name: string) => join(directory, name);

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "maestro-supervisor-"));
  run = `run${randomHex(8)}`;
  supervisor = new Supervisor(new Lifeline(join(root, "dist", "warden.cjs"), run, GRACE_MS, () => undefined), GRACE_MS);
});
afterEach(async () => {
  await supervisor.close();
  rmSync(directory, { recursive: true });
});

function launch(name: string, command: string, more: Partial<Launch> = {}) {
  return supervisor.launch({
    ...{ program: "/bin/sh", args: ["-c", command], cwd: directory, env: { PATH: process.env.PATH ?? "" } },
    ...{ marker: name, stdin: devNull, stdout: at(`${name}.out`), stderr: at(`${name}.err`) },
    ...{ exitFile: at(`${name}.exit`), timeoutMs: 60_000, check: () => null, ...more },
  });
}

const text = (name: string) => readFileSync(at(name), "utf8");

/** Runs processes until the warden is their parent, and returns its id. */
async function warden(): Promise<number> {
  for (;;) {
    const pid = wardens().at(-1);
    await launch("who", 'cat "/proc/$PPID/status"', { exitFile: devNull }).exit;
    const parent = Number(
      text("who.out")
        .match(/^PPid:\s+(\d+)$/gm)
        ?.at(-1)
        ?.split(/\s+/)[1],
    );
    if (pid !== undefined && parent === pid) return pid;
  }
}

function wardens(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => commandOf(name).includes(`warden.cjs\0${run}\0`))
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // It has ended.
    return "";
  }
}

describe.runIf(process.platform === "linux")("a process that the warden has started", () => {
  test("ends with its exit code, its output and its exit file", async () => {
    await warden();
    const { exit } = launch("one", "echo out; echo err >&2; exit 3");
    expect(await exit).toMatchObject({ code: 3, killed: null });
    expect([text("one.out"), text("one.err"), text("one.exit")]).toEqual(["out\n", "err\n", "3\n"]);
  });

  test("is stopped even when the request came before it had started", async () => {
    await warden();
    const { exit, stop } = launch("stopped", "sleep 60");
    stop("stopped");
    // Its shell may start the program after the signal; the program is then killed at the end of the grace period.
    expect(await exit).toMatchObject({ code: expect.toBeOneOf([143, 137]), killed: "stopped" });
  });

  test("says why it could not be started", async () => {
    await warden();
    expect(await launch("nowhere", ":", { cwd: at("missing") }).exit).toMatchObject({
      code: null,
      failure: "no such file or directory (ENOENT)",
    });
    const long = launch("long", ":", { args: ["x".repeat(3_000_000)] });
    expect(await long.exit).toMatchObject({ code: null, failure: expect.stringContaining("E2BIG") });
  });

  test("ends with its exit code although the warden was killed, and so does a process that starts later", async () => {
    const pid = await warden();
    const { exit } = launch("orphan", "echo here; while [ ! -e go ]; do sleep 0.05; done; exit 5");
    await expect.poll(() => text("orphan.out"), { timeout: 10_000 }).toBe("here\n");
    process.kill(pid, "SIGKILL");
    expect(await launch("next", "exit 6").exit).toMatchObject({ code: 6 });
    writeFileSync(at("go"), "");
    expect(await exit).toMatchObject({ code: 5, killed: null });
    expect(await warden()).not.toBe(pid);
  });

  test("has failed when the warden was killed and no file says how it ended", async () => {
    const pid = await warden();
    const { exit } = launch("unknown", "echo here; sleep 0.3", { exitFile: devNull });
    await expect.poll(() => text("unknown.out"), { timeout: 10_000 }).toBe("here\n");
    process.kill(pid, "SIGKILL");
    expect(await exit).toMatchObject({ code: null, failure: "the warden, which started it, was killed" });
  });
});

test("a git process of other work continues when the supervisor is closed", async () => {
  const other = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  const ended = gitStarted(other.pid ?? 0, () => undefined);
  try {
    await supervisor.close();
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
  } finally {
    ended();
    other.kill("SIGKILL");
  }
});

test("a process is started without a warden that can run", async () => {
  await supervisor.close();
  supervisor = new Supervisor(new Lifeline(at("missing.cjs"), "none", GRACE_MS, () => undefined), GRACE_MS);
  expect(await launch("alone", "exit 4").exit).toMatchObject({ code: 4 });
});

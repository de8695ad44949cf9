import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Io } from "../io.ts";
import { type GuardOptions, guardCheck } from "./guard.ts";

let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "maestro-guard-"));
});

afterAll(() => {
  rmSync(project, { recursive: true });
});

async function check(command: string | undefined, options: GuardOptions = {}, stdin = "", interactive = false) {
  let out = "";
  let err = "";
  const io: Io = {
    cwd: project,
    env: { HOME: "/home/dev", MAESTRO_EXTENSION_PATH: "/home/dev/.gemini/extensions/maestro" },
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    readStdin: async () => new TextEncoder().encode(stdin),
    deferSignals: () => undefined,
    beforeSignalEnds: () => () => undefined,
    now: () => new Date(0),
    onSignal: () => () => undefined,
    interactive,
    ask: async () => null,
    screen: () => undefined,
    frames: () => ({ draw: () => undefined, close: () => undefined }),
    terminal: false,
    color: false,
  };
  const code = await guardCheck(io, command, options);
  return { code, out, err };
}

describe("maestro guard check", () => {
  test("prints allow and exits with 0", async () => {
    expect(await check("npm test")).toEqual({ code: 0, out: "allow\n", err: "" });
  });

  test("prints deny, the rule and the reason, and exits with 1", async () => {
    const { code, out } = await check("echo hi > notes.md");
    expect(code).toBe(1);
    expect(out).toMatch(/^deny shell-write: Use write_file .*notes\.md.*\n$/);
  });

  test("prints the verdict as JSON", async () => {
    expect(JSON.parse((await check("npm test", { json: true })).out)).toEqual({
      verdict: "allow",
      rule: "none",
      reason: "",
    });
    expect(JSON.parse((await check("rm -rf ~", { json: true })).out)).toMatchObject({
      verdict: "deny",
      rule: "destructive-rm",
    });
  });

  test.each([undefined, "-"])("reads the command from standard input (%s)", async (command) => {
    expect((await check(command, {}, "cat <<E > f\nx\nE\n")).out).toMatch(/^deny shell-write/);
  });

  test("does not wait for a command to be typed on a terminal", async () => {
    await expect(check(undefined, {}, "", true)).rejects.toMatchObject({ code: "usage" });
  });

  test("follows a link whose target does not exist yet", async () => {
    symlinkSync(".env", join(project, "link"));
    expect((await check("npm run keys > link")).out).toMatch(/^deny sensitive-file/);
  });
});

describe("maestro guard check --jsonl", () => {
  const ask = async (...lines: string[]) => {
    const { code, out, err } = await check(undefined, { jsonl: true }, lines.join("\n"));
    const answers = out.split("\n").filter((line) => line !== "");
    return { code, err, answers: answers.map((line) => JSON.parse(line)) };
  };

  test("answers every line with its id", async () => {
    const { code, answers } = await ask(
      '{"id": 1, "command": "ls"}',
      '{"id": "b", "command": "rm -rf /"}',
      "",
      '{"id": 3, "tool_name": "write_file", "tool_input": {"file_path": ".env"}}',
      '{"id": 4, "tool_name": "run_shell_command", "tool_input": {"command": "rm -rf *", "dir_path": "dist"}}',
      '{"id": 5, "tool_name": "read_file", "tool_input": {"file_path": ".env"}}',
    );
    expect(code).toBe(0);
    expect(answers.map(({ id, verdict, rule }) => [id, verdict, rule])).toEqual([
      [1, "allow", "none"],
      ["b", "deny", "destructive-rm"],
      [3, "deny", "sensitive-file"],
      [4, "allow", "none"],
      [5, "allow", "none"],
    ]);
    expect(answers.every(({ reason }) => typeof reason === "string")).toBe(true);
  });

  test("judges the other lines when one cannot be read, reports that line and exits with 1", async () => {
    const { code, err, answers } = await ask(
      '{"id": 1, "command": "ls"}',
      "nonsense",
      "[]",
      '{"id": 4}',
      '{"id": 5, "command": "ls"}',
    );
    expect(code).toBe(1);
    expect(answers.map(({ id, verdict }) => [id, verdict])).toEqual([
      [1, "allow"],
      [null, "error"],
      [null, "error"],
      [4, "error"],
      [5, "allow"],
    ]);
    expect(err).toMatch(/Line 2: .*\n.*Line 3: .*\n.*Line 4: /);
  });

  test("rejects a command argument", async () => {
    await expect(check("ls", { jsonl: true })).rejects.toMatchObject({ code: "usage" });
  });
});

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attemptReader, describedRuntimes } from "./described.ts";

let root: string;
let project: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "maestro-described-"));
  project = join(root, "project");
  mkdirSync(project);
});

afterEach(() => rmSync(root, { recursive: true }));

const description = (name: string, program = "agent") =>
  JSON.stringify({ name, program, args: [], output: { form: "text" }, tiers: { full: [] } });

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const found = (env: Record<string, string> = { HOME: join(root, "home") }) => describedRuntimes(env, project);

test("files of the user and of the project are found, and a path is relative to its file", () => {
  put("home/.config/maestro/runtimes/a.json", description("mine", "./run.sh"));
  put("home/.config/maestro/runtimes/notes.txt", "no description");
  put("project/.maestro/runtimes/b.json", description("ours"));
  const { found: all, problems } = found();
  expect(all.map(({ runtime, isProjects }) => [runtime.name, isProjects])).toEqual([
    ["mine", false],
    ["ours", true],
  ]);
  expect(all[0]?.runtime.program).toBe(join(root, "home/.config/maestro/runtimes/run.sh"));
  expect(problems).toEqual([]);
});

test("the user's file wins over a project's file of the same name, which a warning names", () => {
  put("home/.config/maestro/runtimes/a.json", description("mine"));
  put("project/.maestro/runtimes/b.json", description("mine", "evil"));
  const { found: all, problems } = found();
  expect(all.map(({ runtime }) => runtime.program)).toEqual(["agent"]);
  expect(problems).toEqual([expect.stringMatching(/b\.json: name must be another one: .*a\.json has it/)]);
});

test.each(["gemini", "acp", "rehearsal"])("%s cannot be described", (name) => {
  put("home/.config/maestro/runtimes/a.json", description(name));
  expect(found().problems).toEqual([expect.stringContaining(`name must be another one: ${name} is built in`)]);
});

test("a link of the user is followed; one of the project that leads out is not", () => {
  put("elsewhere/a.json", description("mine"));
  put("elsewhere/b.json", description("stolen"));
  mkdirSync(join(root, "home/.config/maestro/runtimes"), { recursive: true });
  mkdirSync(join(project, ".maestro/runtimes"), { recursive: true });
  symlinkSync(join(root, "elsewhere/a.json"), join(root, "home/.config/maestro/runtimes/a.json"));
  symlinkSync(join(root, "elsewhere/b.json"), join(project, ".maestro/runtimes/b.json"));
  const { found: all, problems } = found();
  expect(all.map(({ runtime }) => runtime.name)).toEqual(["mine"]);
  expect(problems).toEqual([expect.stringContaining("b.json: ")]);
});

test("XDG_CONFIG_HOME counts when it is absolute and not from an env file of the project", () => {
  put("config/maestro/runtimes/a.json", description("mine"));
  const env = { HOME: join(root, "home"), XDG_CONFIG_HOME: join(root, "config") };
  expect(found(env).found).toHaveLength(1);
  expect(found({ ...env, XDG_CONFIG_HOME: "config" }).found).toEqual([]);
  put("project/.env", `XDG_CONFIG_HOME=${env.XDG_CONFIG_HOME}\n`);
  expect(found({ ...env, GEMINI_CLI: "1" }).found).toEqual([]);
});

test("the output of an attempt is read by the runtime that played it", () => {
  put("project/.maestro/runtimes/b.json", description("ours"));
  const reader = attemptReader({ HOME: join(root, "home") }, project);
  expect(["ours", "claude", "acp:x --y"].map((runtime) => reader({ runtime }).name)).toEqual([
    "ours",
    "claude",
    "acp:x --y",
  ]);
  expect(reader({ runtime: "gone" }).name).toBe("gemini");
});

// A state directory that another user owns or can write: it is read, and nothing is written or run there.

import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSession, type Project, planPath, planText, type Run, withProject } from "../support/project.ts";
import { played, prepare } from "../support/stand-in.ts";

const OTHER = 4242;
const isRoot = process.getuid?.() === 0;

function contents(project: Project): string[] {
  const files = readdirSync(join(project.path, ".gemini"), { recursive: true, encoding: "utf8" }).sort();
  return files.map((name) => {
    const path = join(project.path, ".gemini", name);
    return statSync(path).isFile() ? `${name} ${readFileSync(path, "latin1")}` : name;
  });
}

const writing = [
  ["session", "note", "hello"],
  ["session", "transition", "1", "in_progress"],
  ["skip", "1"],
  ["abort"],
  ["archive"],
  ["resume"],
  ["run", "plan.md", "--mode", "parallel"],
  ["workspace"],
];

function refusesAll(project: Project, refused: RegExp): void {
  const agent = prepare(project, [played(1, [])]);
  project.write("plan.md", planText([{ id: 1 }]));
  const before = contents(project);
  for (const words of writing) {
    const run = project.maestro(words, { env: agent.env() });
    expect([words.join(" "), run.code, run.stderr]).toEqual([words.join(" "), 3, expect.stringMatching(refused)]);
  }
  expect(contents(project)).toEqual(before);
  expect(agent.notes()).toEqual([]);
}

function isRead(run: Run): void {
  expect([run.code, run.stdout], run.stderr).toEqual([0, expect.stringContaining("2026-02-14-task-api")]);
}

describe("a state directory that every user can write", () => {
  test.each([".gemini", ".gemini/state"])("(%s) is read, and refused for everything else, with the way out", (path) =>
    withProject((project) => {
      createSession(project);
      chmodSync(join(project.path, path), 0o777);
      refusesAll(
        project,
        /^ERROR: Every user can write to the state directory \S+ \(owner \d+, mode 0777\)\n {2}.*"chmod o-w /,
      );
      isRead(project.maestro(["status"]));
      chmodSync(join(project.path, path), 0o775);
      expect(project.maestro(["session", "note", "hello"]).code).toBe(0);
    }),
  );

  test.each(["plans", "parallel"])("(%s) keeps a run from starting", (part) =>
    withProject((project) => {
      createSession(project);
      mkdirSync(join(project.path, ".gemini", part), { recursive: true });
      chmodSync(join(project.path, ".gemini", part), 0o777);
      const agent = prepare(project, [played(1, [])]);
      const run = project.maestro(["resume", "--mode", "parallel"], { env: agent.env() });
      expect([run.code, run.stderr]).toEqual([
        3,
        expect.stringContaining(`Every user can write to the state directory .gemini/${part}`),
      ]);
      expect(agent.notes()).toEqual([]);
    }),
  );

  test("given by its whole path is refused as well", () =>
    withProject((project) => {
      const directory = join(project.path, "elsewhere");
      mkdirSync(directory);
      chmodSync(directory, 0o777);
      project.write(planPath, planText([{ id: 1 }]));
      const run = project.maestro(["session", "create", planPath], { env: { MAESTRO_STATE_DIR: directory } });
      expect([run.code, run.stderr]).toEqual([3, expect.stringContaining(`state directory ${directory} (owner`)]);
      expect(readdirSync(directory)).toEqual([]);
    }));
});

describe("a state directory of another user", () => {
  test("is read, and refused for everything else", (context) => {
    if (!isRoot) context.skip("needs root to give a directory away");
    return withProject((project) => {
      createSession(project);
      project.run("chown", ["-R", String(OTHER), ".gemini"]);
      refusesAll(
        project,
        /^ERROR: The state directory \.gemini belongs to another user \(owner 4242, mode \d+, you are 0\)/,
      );
      isRead(project.maestro(["status"]));
    });
  });

  test("is fine for root when it belongs to the owner of the project", (context) => {
    if (!isRoot) context.skip("needs root to give a directory away");
    return withProject((project) => {
      createSession(project);
      project.run("chown", ["-R", String(OTHER), "."]);
      const run = project.maestro(["session", "note", "hello"]);
      expect(run.code, run.stderr).toBe(0);
    });
  });
});

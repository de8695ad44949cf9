// The completions that `maestro setup` installs, in the real shells.

import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { Project } from "../support/project.ts";
import { type Completer, inBash, inFish, inZsh, shell } from "../support/shell-completion.ts";

/** A machine without a shell installs it first. */
vi.setConfig({ testTimeout: 360_000 });

let project: Project;
beforeEach(async () => {
  project = new Project();
  project.write("plan.md", "");
  project.write(".home/.local/bin/.keep", "");
  expect((await commandLine(project, ["setup", "--yes"], { env: env() })).code).toBe(0);
});
afterEach(() => project.remove());

function env() {
  const home = join(project.path, ".home");
  return { HOME: home, PATH: [join(home, ".local/bin"), process.env.PATH].join(delimiter) };
}

const words: Record<string, string[]> = {
  "maestro ru": ["run", "runtimes"],
  "maestro --js": [],
  "maestro --ver": ["--version"],
  "maestro session cr": ["create"],
  "maestro session create --m": ["--mode"],
  "maestro session --m": [],
  "maestro run plan.md --json --max-c": ["--max-concurrent"],
  "maestro run session create --too": [],
  "maestro run session create --mo": ["--mode", "--model"],
  "maestro exchange ": ["init"],
  "maestro run --mode ": ["ask", "parallel", "sequential"],
  "maestro run plan.md --json --review b": ["batch"],
  "maestro rehearse --mode ": ["parallel", "sequential"],
  "maestro session error --type val": ["validation"],
  // Once more: zsh has loaded the function by now.
  "maestro run": ["run", "runtimes"],
};
const files: Record<string, string[]> = {
  "maestro run ": ["plan.md"],
  "maestro run pl": ["plan.md"],
  "maestro run session ": ["plan.md"],
  "maestro run --review batch ": ["plan.md"],
  "maestro session create ": ["plan.md"],
};
const offered = (complete: Completer, cases: Record<string, string[]>) => {
  const lines = Object.keys(cases);
  return Object.fromEntries(complete(project, lines, env()).map((found, at) => [lines[at], found]));
};

describe("setup completes commands, their options and files", () => {
  test("in zsh", (context) => {
    expect(offered(inZsh(shell(context, "zsh")), { ...words, ...files })).toEqual({ ...words, ...files });
  });

  test("in fish", (context) => {
    expect(offered(inFish(shell(context, "fish")), { ...words, ...files })).toEqual({ ...words, ...files });
  });

  test("in bash", () => {
    // Where it offers nothing, bash completes files.
    const none = Object.fromEntries(Object.keys(files).map((line) => [line, []]));
    expect(offered(inBash, { ...words, ...none })).toEqual({ ...words, ...none });
  });
});

import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { resolveSettings } from "../../settings.ts";
import { engineOptions } from "../options.ts";
import { commandOption } from "../program.ts";
import { type EngineFlags, engineSettings } from "./engine-options.ts";

/** The engine settings that result from command line arguments and an environment. */
function settingsFor(words: string[], env: Record<string, string> = {}) {
  const verb = new Command("run").exitOverride().configureOutput({ writeErr: () => undefined });
  for (const option of engineOptions) verb.addOption(commandOption(option));
  const flags: EngineFlags = verb.parse(words, { from: "user" }).opts();
  return engineSettings(resolveSettings("/nowhere", { HOME: "/nowhere", ...env }), flags);
}

describe("isolation, ownership and sandbox", () => {
  test.each([
    [[], {}, { isolation: "auto", ownership: "auto", sandbox: false, setup: "" }],
    [
      ["--isolation", "worktree", "--ownership", "warn", "--sandbox"],
      {},
      { isolation: "worktree", ownership: "warn", sandbox: true },
    ],
    [["--isolation", "none", "--ownership", "strict"], {}, { isolation: "none", ownership: "strict" }],
    [[], { MAESTRO_ISOLATION: "none", MAESTRO_OWNERSHIP: "strict" }, { isolation: "none", ownership: "strict" }],
    [[], { MAESTRO_SANDBOX: "yes", MAESTRO_WORKTREE_SETUP: "npm ci" }, { sandbox: true, setup: "npm ci" }],
    [["--isolation", "worktree"], { MAESTRO_ISOLATION: "none" }, { isolation: "worktree" }],
    [["--ownership", "warn"], { MAESTRO_OWNERSHIP: "strict" }, { ownership: "warn" }],
    [["--sandbox"], { MAESTRO_SANDBOX: "false" }, { sandbox: true }],
  ] as [string[], Record<string, string>, object][])("%j with %j: flags win over settings", (words, env, expected) => {
    expect(settingsFor(words, env)).toMatchObject(expected);
  });

  test.each([["--isolation"], ["--ownership"]])("%s rejects unknown values", (option) => {
    expect(() => settingsFor([option, "auto"])).toThrow(/argument 'auto' is invalid/);
  });
});

describe("--allow-overlap", () => {
  test.each([
    ["--isolation none", ["--isolation", "none"], {}],
    ["MAESTRO_ISOLATION=none", [], { MAESTRO_ISOLATION: "none" }],
  ])("is rejected with %s, because only worktrees can be merged", (source, words, env) => {
    expect(() => settingsFor(["--allow-overlap", ...words], env)).toThrow(
      expect.objectContaining({ code: "usage", message: `--allow-overlap cannot be used with ${source}` }),
    );
  });

  test.each([
    ["worktrees", ["--isolation", "worktree"], {}],
    ["worktrees, even if the setting says none", ["--isolation", "worktree"], { MAESTRO_ISOLATION: "none" }],
    ["no isolation flag", [], {}],
  ])("is accepted with %s", (_name, words, env) => {
    expect(settingsFor(["--allow-overlap", ...words], env).isolation).not.toBe("none");
  });
});

describe("--pass-env", () => {
  test("takes names and the globs of MAESTRO_PASS_ENV, and adds to that", () => {
    const { passEnv } = settingsFor(["--pass-env", "ONE,DB_?", "--pass-env", "*_URL"], { MAESTRO_PASS_ENV: "APP_?" });
    expect(passEnv).toEqual(["APP_?", "ONE", "DB_?", "*_URL"]);
  });

  test.each(["A=B", "-x", "A;B"])("rejects %j", (names) => {
    expect(() => settingsFor([`--pass-env=${names}`])).toThrow(/must be a list of variable names and globs/);
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Io } from "../io.ts";
import { mayRunCommands } from "./commands-consent.ts";

test("commands of a plan run after a yes, which holds for exactly these commands in this project (C55)", async () => {
  const home = mkdtempSync(join(tmpdir(), "maestro-test-"));
  try {
    const asked: string[] = [];
    const shown: string[] = [];
    const answering = (reply: string | undefined, interactive = true) =>
      ({
        ...{ cwd: home, env: { XDG_STATE_HOME: join(home, "state") }, interactive, now: () => new Date() },
        err: (text: string) => void shown.push(text),
        ask: async (question: string) => {
          asked.push(question);
          return reply;
        },
      }) as unknown as Io;
    const may = (io: Io, ...commands: string[]) => mayRunCommands(io, commands, "", {});
    expect(await may(answering("n"), "npm test")).toBe(false);
    expect(await may(answering(undefined), "npm test")).toBe(false);
    expect(await may(answering("y"), "npm test")).toBe(true);
    expect(shown).toContain("  npm test\n");
    expect(asked).toHaveLength(3);
    expect(await may(answering("n"), "npm test")).toBe(true);
    expect(await may(answering("y", false), "npm test")).toBe(true);
    expect(asked).toHaveLength(3);
    expect(await may(answering("n"), "npm test", "rm -rf x")).toBe(false);
    expect(await mayRunCommands(answering("n"), ["npm test"], "npm ci", {})).toBe(false);
    expect(await may(answering("y", false), "rm -rf x")).toBe(false);
    expect(await mayRunCommands(answering("n", false), ["rm -rf x"], "", { yes: true })).toBe(true);
  } finally {
    rmSync(home, { recursive: true });
  }
});

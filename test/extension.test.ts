import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { verbNames } from "../src/cli/verb.ts";
import { verbs as verbTable } from "../src/cli/verb-table.ts";
import { MAX_RUN_TOKENS } from "../src/extension/budget.ts";
import { lintExtension } from "../src/extension/lint.ts";
import { describeProblem } from "../src/extension/problem.ts";
import { attemptTools, maestroTools } from "../src/extension/vocabulary.ts";
import { toolTable } from "../src/mcp/tool-table.ts";
import { definitions } from "../src/settings.ts";
import { root } from "./support/project.ts";

const manifest = JSON.parse(readFileSync(join(root, "gemini-extension.json"), "utf8"));
const meanings = Object.fromEntries(Object.entries(definitions).map(([name, definition]) => [name, definition]));

describe("the manifest", () => {
  test("has the version of package.json (I112)", () => {
    expect(manifest.version).toBe(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
  });

  test("asks only for settings that exist, in the words of the one table", () => {
    expect(manifest.settings.length).toBeGreaterThan(0);
    for (const setting of manifest.settings) {
      expect(meanings[setting.envVar]?.meaning, setting.envVar).toBe(setting.description);
    }
  });
});

describe("the extension", () => {
  vi.stubGlobal("MAESTRO_VERSION", manifest.version);
  const verbs = verbNames(verbTable);

  test("has nothing that Gemini CLI would drop, and names nothing that does not exist (O210, X282, Y293, Q218, Q219)", async () => {
    const { problems, budget } = await lintExtension(root, verbs);
    expect(problems.map(describeProblem)).toEqual([]);
    expect(budget.total).toBeLessThanOrEqual(MAX_RUN_TOKENS);
    expect(budget.total).toBeGreaterThan(1_000);
  });

  test("is checked with the verbs of the program and the tools of its server", () => {
    expect(verbs).toEqual(expect.arrayContaining(["run", "session create", "agents install-policies"]));
    const offered = (isForAttempts: boolean) =>
      toolTable.filter(({ offeredTo }) => (offeredTo === "attempts") === isForAttempts).map(({ tool }) => tool.name);
    expect([...maestroTools].sort()).toEqual(offered(false).sort());
    expect([...attemptTools].sort()).toEqual(offered(true).sort());
  });
});

describe("docs/settings.md", () => {
  test("lists every setting with its default, meaning and rule for a project's .env, and no other", () => {
    const rows = [
      ...readFileSync(join(root, "docs/settings.md"), "utf8").matchAll(
        /^\| `(MAESTRO_\w+)` \| (?:`(.*?)`)? ?\| ([a-z ]+) \| (.*) \|$/gm,
      ),
    ].map((row) => row.slice(1));
    const rules = {
      obeyed: "obeyed",
      ignored: "ignored",
      tightens: "may tighten",
      inside: "a path in the project",
      proposed: "a proposal",
    };
    const expected = Object.entries(definitions).map(([name, definition]) => [
      name,
      String(definition.default) || undefined,
      rules["fromProject" in definition ? definition.fromProject.rule : "obeyed"],
      definition.meaning,
    ]);
    expect(rows).toEqual(expected);
  });
});

// Compares the texts for models with what the design documents require. The extension's own lint checks whether the names
// in those texts exist.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { proseOf } from "../src/extension/prose.ts";
import { readToml } from "../src/extension/toml.ts";
import { definitions } from "../src/settings.ts";
import { proseForAgents } from "./support/agent-prose.ts";
import { root } from "./support/project.ts";
import type { Sought } from "./support/prose-rule.ts";
import { agentNames, proseForTechLead } from "./support/techlead-prose.ts";

const requiredProse = [...proseForTechLead, ...proseForAgents];

describe.each([...new Set(requiredProse.map(({ file }) => file))])("%s", (file) => {
  const required = requiredProse.filter((row) => row.file === file);

  test.each(required.map((row) => [row.name, row] as const))("%s", (_name, { section, sought }) => {
    const text = section === null ? textOf(file) : sectionOf(textOf(file), section);
    expect(text, `the section ${section}`).toBeDefined();
    expect(sought.flatMap((chain) => missing(text ?? "", [chain].flat()))).toEqual([]);
  });
});

describe("the extension has", () => {
  test.each([
    [
      "nine commands (O211, C14)",
      "commands/maestro",
      ["archive", "debug", "execute", "orchestrate", "perf-check", "resume", "review", "security-audit", "status"].map(
        (name) => `${name}.toml`,
      ),
    ],
    [
      "seven skills",
      "skills",
      [
        "code-review",
        "delegation",
        "design-dialogue",
        "execution",
        "implementation-planning",
        "session-management",
        "validation",
      ],
    ],
    ["three templates", "templates", ["design-document.md", "implementation-plan.md", "session-state.md"]],
    ["two protocols", "protocols", ["agent-base-protocol.md", "filesystem-safety-protocol.md"]],
    ["twelve agents (P214)", "agents", agentNames.map((name) => `${name}.md`)],
  ])("%s, and no other", (_what, folder, names) => {
    expect(readdirSync(join(root, folder)).sort()).toEqual(names);
  });
});

describe("every command", () => {
  const names = readdirSync(join(root, "commands/maestro")).map((file) => file.replace(/\.toml$/, ""));

  test.each(names)("opens with the mark of its name: %s", (name) => {
    const read = readToml(textOf(`commands/maestro/${name}.toml`));
    expect(read).toMatchObject({ value: { prompt: expect.stringMatching(new RegExp(`^\\[maestro:${name}\\]\\s`)) } });
  });

  test.each(names)("finds the state directory wherever it is: %s (O213)", (name) => {
    expect(textOf(`commands/maestro/${name}.toml`)).not.toMatch(/@\{|\.gemini\b/);
  });
});

describe("GEMINI.md", () => {
  test("names settings with the defaults that they have (E60)", () => {
    const table = sectionOf(textOf("GEMINI.md"), "Settings Resolution") ?? "";
    const listed = [...table.matchAll(/^\| `(MAESTRO_\w+)` \| (.*?) \|/gm)].map(([, name, value]) => [name, value]);
    const defaults = new Map(
      Object.entries(definitions).map(([name, definition]) => [name, String(definition.default)]),
    );
    expect(listed.length).toBeGreaterThan(5);
    expect(listed).toEqual(listed.map(([name = ""]) => [name, defaults.get(name)]));
  });

  test("leaves to hooks and tools what they do: raw state, shell rules, tools of each agent, context by hand (O208)", () => {
    const moved =
      /active-session\.md|summary\.json|downstream_context|heredoc|printf|read[-+ ]only|grep_search|list_directory/;
    expect(textOf("GEMINI.md")).not.toMatch(moved);
  });
});

describe("the safety protocol", () => {
  test("adds about 300 tokens to a prompt (N189)", () => {
    expect(textOf("protocols/filesystem-safety-protocol.md").length / 4).toBeGreaterThan(200);
    expect(textOf("protocols/filesystem-safety-protocol.md").length / 4).toBeLessThan(350);
  });
});

describe("read_file in the state directory (B27)", () => {
  test.each([
    ["Read `<state_dir>/state/active-session.md` with `read_file`.", true],
    ["Never guess. Open the state directory with `read_file`.", true],
    ["Do not guess, use `read_file` on `summary.json`.", true],
    ["Read the sources with `read_file`.", false],
    ["`maestro_session_read`; never `read_file` in the state directory", false],
    ["`scripts/read-state.sh` reads the state directory, which `read_file` does not", false],
  ])("is told from other uses and from warnings: %s", (text, isAdvised) => {
    expect(advised(text)).toEqual(isAdvised ? [expect.stringContaining("read_file")] : []);
  });

  test("is what no text for models advises", () => {
    const texts = proseOf(root);
    expect(texts.length).toBeGreaterThan(20);
    expect(texts.flatMap(({ file, text }) => advised(text).map((sentence) => `${file}: ${sentence}`))).toEqual([]);
  });
});

/** Sentences that send a model to the state directory with read_file. */
function advised(text: string): string[] {
  return text
    .split(/(?<=[.!?:])\s+|\n/)
    .filter((sentence) => sentence.includes("read_file"))
    .filter((sentence) => /state[_ -]dir|STATE_DIR|\bstate\/|active-session|\.gemini\/|summary\.json/i.test(sentence))
    .filter(
      (sentence) => !/\b(?:never|not|no|instead of)\b[^.,;:]*read_file|read_file`? (?:does|can) ?not/i.test(sentence),
    );
}

function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** From a heading to the next one of the same or a higher level; a line in a fenced block is not a heading. */
function sectionOf(text: string, heading: string): string | undefined {
  const lines = text.split("\n");
  const level = headingLevels(lines);
  const first = lines.findIndex((line, at) => level[at] !== 0 && line.replace(/^#+ /, "").startsWith(heading));
  if (first === -1) return undefined;
  const length = level.slice(first + 1).findIndex((depth) => depth !== 0 && depth <= (level[first] ?? 0));
  return lines.slice(first, length === -1 ? undefined : first + 1 + length).join("\n");
}

/** 0 for a line that is not a heading. */
function headingLevels(lines: readonly string[]): number[] {
  let fenced = false;
  return lines.map((line) => {
    if (/^ *```/.test(line)) fenced = !fenced;
    return fenced ? 0 : (/^(#+) /.exec(line)?.[1]?.length ?? 0);
  });
}

/** The first element of a chain that is missing, or not after the one before it. */
function missing(text: string, chain: readonly Sought[]): string[] {
  let from = 0;
  for (const sought of chain) {
    const end = endOf(text, sought, from);
    if (end === undefined) return [String(sought)];
    from = end;
  }
  return [];
}

/** The end of the first match at or after `from`. */
function endOf(text: string, sought: Sought, from: number): number | undefined {
  if (typeof sought === "string") {
    const at = text.indexOf(sought, from);
    return at === -1 ? undefined : at + sought.length;
  }
  const pattern = new RegExp(sought, `${sought.flags}g`);
  pattern.lastIndex = from;
  return pattern.exec(text) === null ? undefined : pattern.lastIndex;
}

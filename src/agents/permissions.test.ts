import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkPermissions, permissionReport } from "./permissions.ts";
import { loadRoster } from "./roster.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "maestro-permissions-"));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

/** Writes an agent file with these front matter lines in addition to name and description. */
function put(agent: string, ...lines: string[]): void {
  const front = ["---", `name: ${agent}`, "description: d", ...lines, "---", "Body", ""];
  writeFileSync(join(dir, `${agent}.md`), front.join("\n"));
}

function violations(): string[] {
  return checkPermissions(loadRoster(dir));
}

describe("checking permissions", () => {
  test("accepts every valid tool in an agent that may have it (I116, I117, C28)", () => {
    put("coder", "tools: [read_file, glob, search_file_content, write_file, replace, run_shell_command]");
    put("tester", "tools: [google_web_search, grep_search, web_search, list_directory, mcp_maestro_*]");
    expect(violations()).toEqual([]);
  });

  test("names a tool that does not exist, once per agent (I119)", () => {
    put("coder", "tools: [read_file, edit_file, edit_file, save_memory]");
    put("helper", "tools: [bash]");
    expect(violations()).toEqual([
      "ERROR: coder has unrecognized tool: edit_file",
      "ERROR: coder has unrecognized tool: save_memory",
      "ERROR: helper has unrecognized tool: bash",
    ]);
  });

  test.each(["architect", "api-designer", "code-reviewer"])(
    "denies tools that change things to %s (I118, I120)",
    (agent) => {
      put(agent, "tools:", "  - read_file", "  - write_file", "  - replace", "  - run_shell_command");
      expect(violations()).toEqual([
        `ERROR: Read-only agent ${agent} has forbidden tool: write_file`,
        `ERROR: Read-only agent ${agent} has forbidden tool: replace`,
        `ERROR: Read-only agent ${agent} has forbidden tool: run_shell_command`,
      ]);
    },
  );

  test.each([
    ["architect", "*", "Read-only"],
    ["debugger", "write_file", "Read-shell"],
    ["performance-engineer", "replace", "Read-shell"],
    ["security-engineer", "*", "Read-shell"],
    ["refactor", "run_shell_command", "Read-write"],
    ["technical-writer", "*", "Read-write"],
  ])("applies to the other tiers and the wildcard: %s with %s (P215)", (agent, tool, tier) => {
    put(agent, `tools: [read_file, '${tool}']`);
    expect(violations()).toEqual([`ERROR: ${tier} agent ${agent} has forbidden tool: ${tool}`]);
  });

  test("recognises a read-only agent spelled with underscores (C11)", () => {
    put("api_designer", "tools: [replace]");
    expect(violations()).toEqual(["ERROR: Read-only agent api-designer has forbidden tool: replace"]);
  });

  test("lets a full agent and a user's own agent have everything", () => {
    put("coder", "tools: ['*']");
    put("helper", "tools: ['*']");
    put("other");
    expect(violations()).toEqual([]);
  });

  test("requires a tools list for each of the twelve (P216)", () => {
    put("architect");
    put("coder");
    expect(violations()).toEqual(["ERROR: architect has no tools list", "ERROR: coder has no tools list"]);
  });

  test.each([
    ["tools that are not a list", ["tools: read_file"], /^ERROR: architect has invalid front matter: tools must be /],
    [
      "a key that makes Gemini CLI drop it",
      ["tools: []", "color: red"],
      /^ERROR: architect has invalid .*color must be left out/,
    ],
    ["YAML that does not parse", ["tools: [read_file"], /^ERROR: architect has invalid front matter: /],
  ])("never skips a file: %s", (_, lines, message) => {
    put("architect", ...lines);
    expect(violations()).toEqual([expect.stringMatching(message)]);
  });

  test("checks the tools of a file that is invalid for another reason", () => {
    put("architect", "color: red", "tools: [write_file, bash]");
    expect(violations()).toEqual([
      "ERROR: architect has invalid front matter: color must be left out: it is not a known field",
      "ERROR: Read-only agent architect has forbidden tool: write_file",
      "ERROR: architect has unrecognized tool: bash",
    ]);
  });

  test.each(["", "none"])("rejects a folder without agents (%j)", (below) => {
    expect(checkPermissions(loadRoster(join(dir, below)))).toEqual(["ERROR: there are no agents to check"]);
  });
});

describe("the report", () => {
  test("of a clean roster is one line and exit code 0 (I122)", () => {
    put("coder", "tools: [read_file]");
    expect(permissionReport(loadRoster(dir))).toEqual({
      lines: ["OK: 1 agent(s), no permission violations."],
      exitCode: 0,
    });
  });

  test("ends with the count, which is the exit code (I121, I122)", () => {
    put("architect", "tools: [write_file, replace]");
    put("coder", "tools: [bash]");
    const { lines, exitCode } = permissionReport(loadRoster(dir));
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe("FAILED: 3 permission violation(s) found.");
    expect(exitCode).toBe(3);
  });

  test.each([255, 256, 300])("of %i violations exits with 255 (C37)", (count) => {
    put("coder", `tools: [${Array.from({ length: count }, (_, index) => `x${index}`).join(", ")}]`);
    const { lines, exitCode } = permissionReport(loadRoster(dir));
    expect(lines.at(-1)).toBe(`FAILED: ${count} permission violation(s) found.`);
    expect(exitCode).toBe(255);
  });
});

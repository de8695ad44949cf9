import { describe, expect, test } from "vitest";
import { agentTiers, deniedTools, type Tier, tierOf, tierTools } from "./tiers.ts";
import { isKnownTool } from "./tools.ts";

const tiers: Tier[] = ["read-only", "read-shell", "read-write", "full"];

describe("the tier table", () => {
  test("has the twelve agents in their tiers (P214, P215)", () => {
    expect(Object.fromEntries(agentTiers)).toEqual({
      architect: "read-only",
      "api-designer": "read-only",
      "code-reviewer": "read-only",
      debugger: "read-shell",
      "performance-engineer": "read-shell",
      "security-engineer": "read-shell",
      refactor: "read-write",
      "technical-writer": "read-write",
      coder: "full",
      "data-engineer": "full",
      "devops-engineer": "full",
      tester: "full",
    });
  });

  test.each<[Tier, string[]]>([
    ["read-only", ["write_file", "replace", "run_shell_command"]],
    ["read-shell", ["write_file", "replace"]],
    ["read-write", ["run_shell_command"]],
    ["full", []],
  ])("denies a %s agent %j (P215)", (tier, denied) => {
    expect(deniedTools[tier]).toEqual(denied);
  });

  test.each(tiers)("splits the tools that change things into given and denied for %s", (tier) => {
    const effects = ["write_file", "replace", "run_shell_command"];
    const given = tierTools[tier].filter((tool) => effects.includes(tool));
    expect([...given, ...deniedTools[tier]].sort()).toEqual(effects.sort());
  });

  test.each(tiers)("gives %s only tools that Gemini CLI knows, and those tools yield the same tier", (tier) => {
    expect(tierTools[tier].filter((tool) => !isKnownTool(tool))).toEqual([]);
    expect(tierOf(tierTools[tier])).toBe(tier);
  });
});

describe("the tier of an agent that is not in the table", () => {
  test.each<[string[] | undefined, Tier]>([
    [[], "read-only"],
    [["read_file", "search_file_content", "web_search", "mcp_github_*"], "read-only"],
    [["run_shell_command"], "read-shell"],
    [["replace"], "read-write"],
    [["read_file", "write_file"], "read-write"],
    [["write_file", "run_shell_command"], "full"],
    [["read_file", "*"], "full"],
    [undefined, "full"],
  ])("with tools %j is %s", (tools, tier) => {
    expect(tierOf(tools)).toBe(tier);
  });
});

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkPermissions } from "./permissions.ts";
import { loadRoster } from "./roster.ts";
import { agentTiers, type Tier, tierTools } from "./tiers.ts";
import { canonicalTool, isKnownTool } from "./tools.ts";

const roster = loadRoster(fileURLToPath(new URL("../../agents", import.meta.url)));
const each = roster.agents.map((agent) => [agent.name, agent] as const);
const webTools = ["google_web_search", "web_fetch"];

describe("the agents/ folder", () => {
  test("holds exactly the twelve agents, without problems (P214)", () => {
    expect(roster.problems).toEqual([]);
    expect(roster.agents.map(({ name }) => name).sort()).toEqual([...agentTiers.keys()].sort());
  });

  test("passes the permission check (I116-I122)", () => {
    expect(checkPermissions(roster)).toEqual([]);
  });

  test("does not repeat itself: any two agents share fewer than 3 % of their four-word runs", () => {
    const runs = roster.agents.map(({ name, body }) => ({ name, runs: fourWordRuns(body) }));
    const alike = runs.flatMap((a, index) =>
      runs.slice(index + 1).flatMap((b) => (jaccard(a.runs, b.runs) < 0.03 ? [] : [`${a.name} and ${b.name}`])),
    );
    expect(alike).toEqual([]);
  });
});

describe.each(each)("agents/%s.md", (_, { tools, tier, description, body, file, ...settings }) => {
  test("lists the tools of its tier, of which only the web tools are optional (P215, P216)", () => {
    const withoutWeb = (list: readonly string[] = []) => list.filter((tool) => !webTools.includes(tool));
    expect(tools?.filter((tool) => !tierTools[tier].includes(tool))).toEqual([]);
    expect(withoutWeb(tools)).toEqual(withoutWeb(tierTools[tier]));
  });

  test("uses the CLI's current tool names, because it drops an agent with an old one (C28)", () => {
    const written = [...readFileSync(file, "utf8").matchAll(/^ {2}- (\S+)$/gm)].map((match) => match[1]);
    expect(written).toEqual(tools);
  });

  test("leaves model and temperature to the user and sets its limits", () => {
    expect(Object.keys(settings).sort()).toEqual(["max_turns", "name", "timeout_mins"]);
    expect(settings.max_turns).toBeLessThanOrEqual(60);
    expect(settings.timeout_mins).toBeLessThanOrEqual(30);
  });

  test("has a description that says when to use it", () => {
    expect(description).toMatch(/\bUse (when|for|before|after|at|to)\b/);
    expect(description.length).toBeLessThan(400);
  });

  test("has a body of 200 to 700 words", () => {
    const count = words(body).length;
    expect(count).toBeGreaterThan(200);
    expect(count).toBeLessThan(700);
  });

  test("has no placeholder that the CLI would replace or fail on", () => {
    expect(body).not.toContain("${");
  });

  test("names no tool that it does not have", () => {
    const named = [...body.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g)]
      .map(([tool]) => canonicalTool(tool))
      .filter(isKnownTool);
    expect(named.filter((tool) => !tools?.includes(tool))).toEqual([]);
  });

  test("says once what its handoff adds to the contract", () => {
    expect(body.match(/hand-off contract/g)).toHaveLength(1);
    expect(body).toContain("Task Report summary");
    expect(body).toContain("Downstream Context");
  });
});

describe("an agent that is not in the full tier", () => {
  const limits: Record<Exclude<Tier, "full">, RegExp> = {
    "read-only": /you read and reason|you write no files|you cannot execute anything/i,
    "read-shell": /you (?:edit (?:nothing|no files)|change none)/i,
    "read-write": /you cannot (?:run|execute) anything/i,
  };

  test.each(roster.agents.flatMap(({ name, tier, body }) => (tier === "full" ? [] : [[name, tier, body] as const])))(
    "%s says in its first lines what %s means",
    (_, tier, body) => {
      expect(body.slice(0, 700)).toMatch(limits[tier]);
    },
  );
});

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}'-]+/gu) ?? [];
}

function fourWordRuns(text: string): Set<string> {
  const all = words(text);
  return new Set(all.slice(3).map((_, index) => all.slice(index, index + 4).join(" ")));
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((run) => b.has(run)).length;
  return shared / (a.size + b.size - shared);
}

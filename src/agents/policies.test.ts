import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { baselineRules, contentRules } from "./baseline.ts";
import {
  attemptPolicy,
  conversationTools,
  extensionPolicies,
  policyStateOf,
  tierPolicy,
  userPolicies,
} from "./policies.ts";
import { policyText } from "./policy-file.ts";
import { agentTiers, deniedTools, type Tier } from "./tiers.ts";

const folder = fileURLToPath(new URL("../../policies/", import.meta.url));
const committed = readdirSync(folder).sort();
const policies = [...extensionPolicies()];

interface Rule {
  subagent?: string;
  toolName: string | string[];
  commandRegex?: string;
  decision: string;
  priority: number;
  denyMessage: string;
}

function rulesOf(toml: string): Rule[] {
  return (parse(toml) as unknown as { rule?: Rule[] }).rule ?? [];
}

describe("policies/", () => {
  test("holds the safety baseline and a file for each tier (Y285, Y291)", () => {
    expect(committed).toEqual([
      "agent-full-access.toml",
      "agent-read-only.toml",
      "agent-read-shell.toml",
      "agent-read-write.toml",
      "safety-baseline.toml",
    ]);
    expect(policies.map(([name]) => name).sort()).toEqual(committed);
  });

  // After a change of the table: npx vitest run src/agents/policies.test.ts --update
  test.each(policies)("%s matches the table (Y293)", async (name, text) => {
    await expect(text).toMatchFileSnapshot(`${folder}${name}`);
  });

  test("denies every agent what its tier must not have, and no other agent (Y291)", () => {
    const rules = policies
      .filter(([name]) => name.startsWith("agent-"))
      .flatMap(([, text]) => rulesOf(text))
      .filter(({ commandRegex }) => commandRegex === undefined);
    const denied = Object.fromEntries(rules.map(({ subagent, toolName }) => [subagent, toolName]));
    const expected = [...agentTiers]
      .filter(([, tier]) => deniedTools[tier].length > 0)
      .map(([agent, tier]) => [agent, deniedTools[tier]]);
    expect(denied).toEqual(Object.fromEntries(expected));
    expect(rules).toHaveLength(expected.length);
  });

  test("denies file content through the shell to every agent that has one, and to no other conversation (C47)", () => {
    const rules = policies.flatMap(([, text]) => rulesOf(text));
    const content = rules.filter(({ denyMessage }) => denyMessage.startsWith("Write file content"));
    const withShell = [...agentTiers].filter(([, tier]) => !deniedTools[tier].includes("run_shell_command"));
    expect(new Set(content.map(({ subagent }) => subagent))).toEqual(new Set(withShell.map(([agent]) => agent)));
    expect(content).toHaveLength(withShell.length * contentRules.length);
  });

  test.each(policies)("%s only denies, below the CLI's limit, and says what to do instead", (_, text) => {
    for (const { decision, priority, denyMessage } of rulesOf(text)) {
      expect([decision, priority <= 999]).toEqual(["deny", true]);
      expect(denyMessage).toMatch(/\b(report|write_file|Name the directory)\b|with replace/);
    }
  });
});

describe("the policy of an attempt", () => {
  test("does not exist for a tier that denies nothing (Y291)", () => {
    expect(tierPolicy("full")).toBeNull();
  });

  test("denies the tools of the tier, above everything that a user allows (Y291, Y293)", () => {
    expect(tierPolicy("read-only")).toBe(`# Written by Maestro for one attempt: what a read-only agent must not have.
[[rule]]
toolName = ["write_file", "replace", "run_shell_command"]
decision = "deny"
priority = 999
denyMessage = "A read-only agent has no such tool. Say in your report what should be done instead."
`);
  });

  test.each<Tier>(["read-only", "read-shell", "read-write", "full"])(
    "gives a %s agent the whole baseline, no tools of a conversation, and only denies (Y285, C58)",
    (tier) => {
      const baseline = rulesOf(policyText([], baselineRules));
      const own = rulesOf(tierPolicy(tier) ?? "");
      const all = rulesOf(attemptPolicy(tier));
      const rules = all.filter(({ toolName }) => !toolName.includes("invoke_agent"));
      expect(all.length - rules.length).toBe(1);
      expect(all).toContainEqual(expect.objectContaining({ toolName: conversationTools, decision: "deny" }));
      expect(baseline.length).toBeGreaterThan(5);
      expect(rules).toEqual([...own, ...baseline.map((rule) => ({ ...rule, priority: 999 }))]);
      expect(rules.filter(({ decision }) => decision !== "deny")).toEqual([]);
    },
  );

  test.each<Tier>(["read-only", "read-shell", "read-write"])(
    "denies a %s agent what its committed file denies",
    (tier) => {
      const [rule] = rulesOf(tierPolicy(tier) ?? "");
      expect(rule).toMatchObject({ toolName: deniedTools[tier] });
      expect(rule).not.toHaveProperty("subagent");
    },
  );
});

describe("policies for the user's own folder (Y292)", () => {
  test("are the tier files, each sealed in its first line", () => {
    const [head, ...rest] = userPolicies().map(({ text }) => text.split("\n")[0]);
    expect(userPolicies().map(({ name }) => name)).toEqual([
      "maestro-read-only.toml",
      "maestro-read-shell.toml",
      "maestro-read-write.toml",
      "maestro-full-access.toml",
    ]);
    for (const line of [head, ...rest]) expect(line).toMatch(/sha256 [0-9a-f]{64}$/);
    for (const { name, text } of userPolicies()) {
      expect(rulesOf(text)).toEqual(rulesOf(extensionPolicies().get(name.replace("maestro-", "agent-")) ?? ""));
    }
  });

  const [policy] = userPolicies();
  if (policy === undefined) throw new Error("there are none");
  const [other] = userPolicies().slice(1);

  test.each([
    ["nothing", undefined, "absent"],
    ["what this version writes", policy.text, "current"],
    ["what another version wrote", other?.text, "older"],
    ["one with an added rule", `${policy.text}# mine\n`, "edited"],
    ["one with a changed rule", policy.text.replace("999", "100"), "edited"],
    ["one with other line endings", policy.text.replaceAll("\n", "\r\n"), "foreign"],
    ["one that lost its first line", policy.text.replace(/^.*\n/, ""), "foreign"],
    ["a foreign one", '[[rule]]\ntoolName = "*"\n', "foreign"],
    ["an empty one", "", "foreign"],
  ])("recognises %s", (_, found, standing) => {
    expect(policyStateOf(policy, found)).toBe(standing);
  });
});

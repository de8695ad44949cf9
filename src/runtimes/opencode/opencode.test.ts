import { expect, test } from "vitest";
import type { Tier } from "../../agents/tiers.ts";
import { opencodeRuntime } from "./opencode.ts";

/** As OpenCode reads it: the last rule that fits counts. */
function mayUse(tier: Tier, tool: string): boolean {
  const { OPENCODE_PERMISSION: text = '{"*":"allow"}' } = opencodeRuntime.tierEnvironment?.(tier) ?? {};
  const rules = Object.entries(JSON.parse(text));
  return rules.findLast(([name]) => name === "*" || name === tool)?.[1] === "allow";
}

test("an agent gets the tools of its tier, and those of the user's servers and subagents in the tier full alone", () => {
  const asked = ["read", "bash", "edit", "task", "server_tool"];
  const held = (tier: Tier) => asked.filter((tool) => mayUse(tier, tool));
  expect(held("read-only")).toEqual(["read"]);
  expect(held("read-shell")).toEqual(["read", "bash"]);
  expect(held("read-write")).toEqual(["read", "edit"]);
  expect(held("full")).toEqual(asked);
});

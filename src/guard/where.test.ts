import { describe, expect, test } from "vitest";
import { rulesThatHold } from "./where.ts";

describe("where the guard's rules hold (C47)", () => {
  test.each([
    ["auto", false, false, "damage"],
    ["auto", false, true, "all"],
    ["auto", true, false, "all"],
    ["always", false, false, "all"],
    ["off", false, false, "none"],
    ["off", false, true, "none"],
    ["off", true, false, "all"],
    ["off", true, true, "all"],
  ] as const)("MAESTRO_GUARD=%s, in an agent: %s, with a session: %s: %s", (setting, isAgent, hasSession, held) => {
    expect(rulesThatHold({ setting, isAgent: () => isAgent, hasSession })).toBe(held);
  });
});

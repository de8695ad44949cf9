import { describe, expect, test } from "vitest";
import { newSessionId, revisedPlanName } from "./identify.ts";

const now = new Date("2026-11-15T10:00:00Z");
const none = new Set<string>();

describe("a session's id (J128, J129)", () => {
  test.each([
    ["2026-02-14-task-api-impl-plan.md", "Anything", "2026-02-14-task-api"],
    ["2026-02-14-task-api-impl-plan-v3.md", "Anything", "2026-02-14-task-api"],
    ["task-api-impl-plan.md", "Anything", "2026-11-15-task-api"],
    ["plan.md", "Task API: search & more", "2026-11-15-task-api-search-more"],
    ["plan.md", "  ../../etc  ", "2026-11-15-etc"],
    ["plan.md", "日本語", "2026-11-15-日本語"],
    ["plan.md", "!!!", "2026-11-15-session"],
    ["plan.md", "x".repeat(500), `2026-11-15-${"x".repeat(80)}`],
  ])("%s, %j: %s", (file, title, id) => {
    expect(newSessionId(file, title, now, none)).toBe(id);
  });

  test("is never an id that is already taken", () => {
    const taken = new Set(["2026-02-14-a", "2026-02-14-a-2"]);
    expect(newSessionId("2026-02-14-a-impl-plan.md", "", now, taken)).toBe("2026-02-14-a-3");
  });
});

describe("a revised plan's name (L166)", () => {
  test.each([
    ["2026-02-14-a-impl-plan.md", "2026-02-14-a-impl-plan-v2.md"],
    ["2026-02-14-a-impl-plan-v2.md", "2026-02-14-a-impl-plan-v3.md"],
    ["plan.md", "2026-02-14-s-impl-plan-v2.md"],
  ])("%s becomes %s", (before, after) => {
    expect(revisedPlanName("2026-02-14-s", before)).toBe(after);
  });
});

import { describe, expect, test } from "vitest";
import { checkedPatch, patchedPlan, readPatch } from "./patch.ts";

const plan = `---
title: "Task API" # kept
total_phases: 2
phases:
  - id: 1
    title: Schema
    # why this agent
    agent: coder
    description: |
      Two
      lines.
    validation: ["npm test"]
    files_created: [src/a.ts]
  - id: two
    title: Routes
    agent: coder
    description: "b"
    blocked_by: [1]
---

# Plan: kept
`;

const changed = (...phases: Record<string, unknown>[]) => patchedPlan(plan, checkedPatch(phases));

describe("a patch of phases", () => {
  test("changes the named fields and keeps every other line, comments included", () => {
    const text = changed({ id: "1", validation: ["npm test", { run: "npx tsd", expect: "not_worse" }] });
    expect(text).toContain("not_worse");
    const lines = (source: string) =>
      source.split("\n").filter((line) => !/validation|npm test|npx tsd|expect/.test(line));
    expect(lines(text)).toEqual(lines(plan));
  });

  test("adds a field, deletes one with null, and adds a phase whose id is new", () => {
    const text = changed(
      { id: "two", files_created: ["b.ts"], blocked_by: null },
      { id: 3, title: "Docs", agent: "coder" },
    );
    expect(text).not.toContain("blocked_by");
    expect(text).toMatch(/files_created:\s+- b\.ts\n/);
    expect(text).toMatch(/- id: 3\n\s+title: Docs\n/);
    expect(text).toContain("total_phases: 3");
  });

  test("removes a phase only when the patch says so", () => {
    const text = changed({ id: "two", remove: true });
    expect(text).not.toContain("Routes");
    expect(text).toContain("total_phases: 1");
    expect(() => changed({ id: 9, remove: true })).toThrow("which the plan does not have");
    expect(() => changed({ id: 1, remove: true, title: "x" })).toThrow("and nothing else");
  });

  test.each([
    ["an unknown field", [{ id: 1, validations: [] }], 'unknown field "validations" (did you mean "validation"?)'],
    ["no id", [{ title: "x" }], "no valid id"],
    ["an id twice", [{ id: 1 }, { id: "1" }], "names phase 1 twice"],
    ["no list", { id: 1 }, "A patch is a list of phases"],
    ["nothing", [], "A patch is a list of phases"],
  ])("is refused with %s", (_, list, message) => {
    expect(() => checkedPatch(list)).toThrow(message);
  });

  test("is refused when the text would mean something else", () => {
    const shared = plan.replace('["npm test"]', "&all [npm test]").replace("blocked_by: [1]", "validation: *all");
    const patch = checkedPatch([{ id: 1, validation: ["true"] }]);
    // The anchor is lost with the value that it stands on.
    expect(() => patchedPlan(shared, patch)).toThrow("cannot be applied");
    expect(() => patchedPlan("# no front matter\n", patch)).toThrow("cannot be applied");
  });

  test("is read from YAML or JSON, with or without the key phases", () => {
    const patch = [{ id: 2, validation: ["npm test"] }];
    expect(readPatch(JSON.stringify(patch))).toEqual(patch);
    expect(readPatch(JSON.stringify({ phases: patch }))).toEqual(patch);
    expect(readPatch("phases:\n  - id: 2\n    validation: [npm test]\n")).toEqual(patch);
    expect(() => readPatch("phases: [")).toThrow("Line 1 of the patch");
  });
});

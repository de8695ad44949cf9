import { describe, expect, test } from "vitest";
import { type MissingPart, readHandoff } from "../../handoff/handoff.ts";
import { judgeHandoff, lacks, missingParts } from "./judge-handoff.ts";

const context = "\n## Downstream Context\n- Key Interfaces Introduced: `A`\n";

function report(status: string, summary = "Did it."): string {
  return `## Task Report
- Status: ${status}
- Files Created: a.ts
- Files Modified: none
- Files Deleted: none
- Summary: ${summary}
`;
}

const read = (text: string) => readHandoff(text, { format: "text" });

describe("the verdict on a hand-off (P9)", () => {
  test("is success when it says so and has every part that later phases need", () => {
    expect(judgeHandoff(read(report("success") + context), true)).toEqual({ kind: "success" });
    expect(judgeHandoff(read(report("success")), false)).toEqual({ kind: "success" });
  });

  test("names every part as missing when the output cannot be read", () => {
    const verdict = judgeHandoff(null, true);
    expect(verdict).toMatchObject({ kind: "failure", reason: "handoff_incomplete", errorType: "validation" });
    for (const part of ["Task Report", "Status", "Files Created", "Files Deleted", "Downstream Context"])
      expect(verdict).toHaveProperty("message", expect.stringContaining(part));
    expect(judgeHandoff(null, false)).toHaveProperty("message", expect.not.stringContaining("Downstream"));
  });

  test.each(["partial", "failure"])("is failure when the agent says %s, with its own summary", (status) => {
    expect(judgeHandoff(read(report(status, "The API is down.") + context), true)).toEqual({
      kind: "failure",
      reason: `reported_${status}`,
      errorType: "runtime",
      message: `The agent reported ${status}: The API is down.`,
    });
  });

  test("names the missing parts of a failure report too", () => {
    const verdict = judgeHandoff(read(report("failure").replace(/- Files Created.*\n/, "")), true);
    expect(verdict).toHaveProperty(
      "message",
      expect.stringMatching(/reported failure: Did it\.\n.*Files Created.*Downstream/),
    );
  });

  test("limits the length of a summary, and accepts an empty one", () => {
    const { message } = judgeHandoff(read(report("failure", "x".repeat(50_000))), false) as { message: string };
    expect(message.length).toBeLessThan(8100);
    expect(judgeHandoff(read(report("failure", "none")), false)).toHaveProperty("kind", "failure");
  });

  test.each([
    ["src/a.ts was modified by another process while I worked.", "file_conflict"],
    ["There is a file conflict in src/a.ts.", "file_conflict"],
    ["No file conflicts, but the build broke.", "runtime"],
    ["I resolved the merge conflict; the tests still fail.", "runtime"],
  ])("recognizes a file conflict in the summary: %s", (summary, errorType) => {
    expect(judgeHandoff(read(report("failure", summary)), false)).toHaveProperty("errorType", errorType);
  });

  test.each([
    ["MAX_TURNS", "runtime"],
    ["TIMEOUT", "timeout"],
  ])("is failure for an agent that was stopped early (%s)", (reason, errorType) => {
    const text = `Subagent 'coder' finished.\nTermination Reason: ${reason}\nResult:\n${report("success")}${context}`;
    expect(judgeHandoff(read(text), true)).toMatchObject({ kind: "failure", errorType });
  });
});

describe("the missing parts", () => {
  const parts: MissingPart[] = [
    "downstream_context",
    "files_deleted",
    "task_report",
    "status",
    "files_modified",
    "files_created",
  ];

  test("are named in the order of a report, each in its required form", () => {
    const text = lacks(parts);
    const places = ['"## Task Report"', '"- Status:"', "Created", "Modified", "Deleted", '"## Downstream Context"'].map(
      (part) => text.indexOf(part),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(lacks(["status"])).toMatch(
      /Missing at the end of the answer: the line "- Status:" with success, partial or fail/,
    );
  });

  test("include Downstream Context only when another phase depends on it, however the report was parsed", () => {
    for (const dependents of [true, false]) {
      const { check } = readHandoff(report("success"), { format: "text", dependents });
      expect(missingParts(check, true)).toEqual(["downstream_context"]);
      expect(missingParts(check, false)).toEqual([]);
    }
  });
});

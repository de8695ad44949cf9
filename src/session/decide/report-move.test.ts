import { describe, expect, test } from "vitest";
import { moveByReport, type Reported } from "./report-move.ts";

const recording = { projectRoot: "/project", redact: (text: string) => text.replaceAll("hunter22", "[redacted]") };
const report = (status: string, context = true) =>
  `## Task Report\n- Status: ${status}\n- Files Created: /project/src/a.ts, /elsewhere/b.ts\n- Files Modified: none\n- Files Deleted: none\n- Summary: the key is hunter22\n${context ? "\n## Downstream Context\n- Warnings: hunter22 again\n" : ""}`;
const by = (over: Partial<Reported>) =>
  moveByReport({ to: "completed", reason: undefined, report: undefined, dependents: true, ...over }, recording);

describe("the report that comes with a move", () => {
  test("is recorded with paths of the project, and without secrets (K155)", () => {
    const { evidence, failure } = by({ report: report("success") });
    expect(failure).toBeUndefined();
    expect(evidence).toMatchObject({
      handoff: {
        status: "success",
        missing: [],
        summary: "the key is [redacted]",
        downstream_context: { warnings: ["[redacted] again"] },
      },
      files: { created: ["src/a.ts", "/elsewhere/b.ts"], modified: [], deleted: [] },
      tokens: null,
    });
  });

  test("may be missing, and then no evidence is recorded", () => {
    expect(by({})).toEqual({ evidence: undefined, failure: undefined });
    expect(by({ to: "skipped" })).toEqual({ evidence: undefined, failure: undefined });
  });

  test.each([
    ["says partial", { report: report("partial") }, /it says partial/],
    [
      "lacks the Downstream Context that other phases need",
      { report: report("success", false) },
      /it lacks downstream_context/,
    ],
    ["is not a report", { report: "All done!" }, /it lacks task_report/],
    [
      "comes with another move",
      { to: "skipped" as const, report: report("success") },
      /needs completed or failed, not skipped/,
    ],
  ])("does not complete a phase when it %s (P9)", (_, over, message) => {
    expect(() => by(over)).toThrow(message);
  });

  test("needs no Downstream Context when no phase depends on it", () => {
    expect(by({ report: report("success", false), dependents: false }).evidence?.handoff.missing).toEqual([]);
  });

  test.each([
    ["the given reason", { reason: "no network" }, { type: "runtime", message: "no network" }],
    [
      "the status of the report",
      { report: report("failure") },
      { type: "runtime", message: "The agent reported: failure" },
    ],
    ["no error, without a reason or a report", {}, undefined],
  ])("fails a phase with %s", (_, over, expected) => {
    expect(by({ to: "failed", ...over }).failure).toEqual(expected);
  });
});

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

  test("may be missing: then nothing is claimed", () => {
    expect(by({})).toEqual({ evidence: undefined, failure: undefined });
    expect(by({ to: "skipped" })).toEqual({ evidence: undefined, failure: undefined });
  });

  test.each([
    ["says partial", { report: report("partial") }, /it says partial/],
    ["lacks the context that others wait for", { report: report("success", false) }, /it lacks downstream_context/],
    ["is no report", { report: "All done!" }, /it lacks task_report/],
    ["comes with another move", { to: "skipped" as const, report: report("success") }, /goes with completed or failed/],
  ])("does not complete a phase when it %s (P9)", (_, over, message) => {
    expect(() => by(over)).toThrow(message);
  });

  test("needs no context that nobody waits for", () => {
    expect(by({ report: report("success", false), dependents: false }).evidence?.handoff.missing).toEqual([]);
  });

  test.each([
    ["the reason that was given", { reason: "no network" }, { type: "runtime", message: "no network" }],
    ["what it says", { report: report("failure") }, { type: "runtime", message: "The agent handed over: failure" }],
    ["nothing, when nothing is known", {}, undefined],
  ])("fails a phase with %s", (_, over, expected) => {
    expect(by({ to: "failed", ...over }).failure).toEqual(expected);
  });
});

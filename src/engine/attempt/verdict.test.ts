import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../../test/support/session.ts";
import { type Handoff, readHandoff } from "../../handoff/handoff.ts";
import type { Outcome } from "../../runtimes/runtime.ts";
import type { Shortfall } from "../../session/decide/judge-handoff.ts";
import type { SessionEvent } from "../../session/events.ts";
import { findPhase, type SessionPhase } from "../../session/session.ts";
import { judgeAttempt, OTHER_WORKER_KEY, stepAfter } from "./verdict.ts";

const context = `## Downstream Context
- Key Interfaces Introduced: none
- Patterns Established: none
- Integration Points: none
- Assumptions: none
- Warnings: none
`;

function report(status: string, summary = "Did it.", { without = "" } = {}): string {
  const lines = [
    "## Task Report",
    `- Status: ${status}`,
    "- Files Created: a.ts",
    "- Files Modified: none",
    "- Files Deleted: none",
    "- Validation: pass",
    `- Summary: ${summary}`,
    "",
  ];
  return lines.filter((line) => without === "" || !line.includes(without)).join("\n");
}

const done: Outcome = { kind: "success", text: "", usage: null };
const awaited = { hasDependents: true };
const last = { hasDependents: false };

function judge(text: string, phase = awaited) {
  return judgeAttempt(done, readHandoff(text, { format: "text", dependents: phase.hasDependents }), phase);
}

describe("an attempt succeeds (P9)", () => {
  test("when the runtime says so, the hand-off is complete, and its status is success", () => {
    expect(judge(report("success") + context)).toEqual({ kind: "success" });
  });

  test("without Downstream Context only when no phase depends on it, however the hand-off was parsed", () => {
    expect(judge(report("success"), last)).toEqual({ kind: "success" });
    const strict = readHandoff(report("success"), { format: "text" });
    expect(judgeAttempt(done, strict, last)).toEqual({ kind: "success" });
    const lenient = readHandoff(report("success"), { format: "text", dependents: false });
    expect(judgeAttempt(done, lenient, awaited)).toMatchObject({ kind: "failure", reason: "handoff_incomplete" });
  });

  test("not when the same output contains an error", () => {
    const output = JSON.stringify({ response: report("success") + context, error: { code: 500, message: "boom" } });
    const handoff = readHandoff(output, { format: "gemini-json" });
    expect(handoff.check).toMatchObject({ missing: [], status: "success", error_type: "runtime" });
    expect(judgeAttempt(done, handoff, awaited)).toEqual({
      kind: "failure",
      reason: "reported_error",
      errorType: "runtime",
      message: "The report says success, but the output contradicts it (runtime error)",
    });
  });
});

describe("an incomplete hand-off (F18)", () => {
  test.each([
    ["Status", '"- Status:" with success, partial or failure'],
    ["Files Created", '"- Files Created:" with paths or none'],
    ["Files Modified", '"- Files Modified:" with paths or none'],
    ["Files Deleted", '"- Files Deleted:" with paths or none'],
  ])("without %s fails as a validation error that says what is missing, and in which form", (field, form) => {
    expect(judge(report("success", "Did it.", { without: field }) + context)).toEqual({
      kind: "failure",
      reason: "handoff_incomplete",
      errorType: "validation",
      message: `The hand-off is incomplete. Missing at the end of the answer: the line ${form}`,
    });
  });

  test("names the Downstream Context and its parts when another phase depends on it", () => {
    expect(judge(report("success"))).toMatchObject({
      reason: "handoff_incomplete",
      message:
        'The hand-off is incomplete. Missing at the end of the answer: the section "## Downstream Context" with Key Interfaces ' +
        "Introduced, Patterns Established, Integration Points, Assumptions and Warnings",
    });
  });

  test("names every part, in the order of the form, when the whole hand-off is missing", () => {
    const nothing = judge("All done, everything works!");
    expect(nothing).toMatchObject({ kind: "failure", reason: "handoff_incomplete", errorType: "validation" });
    const parts = ["Task Report", "Status", "Files Created", "Files Modified", "Files Deleted", "Downstream Context"];
    const { message } = nothing as Shortfall;
    const places = parts.map((part) => message.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(judgeAttempt(done, null, awaited)).toEqual(nothing);
    expect((judgeAttempt(done, null, last) as Shortfall).message).not.toContain("Downstream");
  });

  test("is the verdict for a report inside a code fence and for an unfilled template", () => {
    expect(judge(`\`\`\`\n${report("success")}${context}\`\`\``)).toMatchObject({ reason: "handoff_incomplete" });
    expect(judge(report("success | partial | failure") + context)).toMatchObject({ reason: "handoff_incomplete" });
  });
});

describe("the status that the agent reports", () => {
  test.each(["partial", "failure"])("is a failure when it is %s, with the summary as the reason", (status) => {
    expect(judge(report(status, "The build fails: no module 'x'.") + context)).toEqual({
      kind: "failure",
      reason: `reported_${status}`,
      errorType: "runtime",
      message: `The agent reported ${status}: The build fails: no module 'x'.`,
    });
  });

  test.each(["success", "partial"])("is quoted as failed validation when the report says %s and that", (status) => {
    const text = report(status, "One test is red.").replace(/^- Validation:.*$/m, "- Validation: fail; npm test");
    expect(judge(text + context)).toMatchObject({
      reason: "reported_partial",
      message: "The agent reported that its validation failed: One test is red.",
    });
  });

  test("counts even when parts are missing, and the missing parts are named", () => {
    const { reason, message } = judge(report("failure", "It does not compile.")) as Shortfall;
    expect(reason).toBe("reported_failure");
    expect(message).toMatch(
      /^The agent reported failure: It does not compile\.\nThe hand-off is incomplete\..*Downstream Context/,
    );
  });

  test("mentions a missing summary, and cuts a very long one", () => {
    const mute = report("partial", "", { without: "Summary" }) + context;
    expect(judge(mute)).toMatchObject({ message: "The agent reported partial without a summary" });
    const { message } = judge(report("failure", "word ".repeat(100_000)) + context) as Shortfall;
    expect(message.length).toBeLessThan(10_000);
  });

  test.each([
    "File conflict: src/a.ts was changed while I worked.",
    "Detected a concurrent modification of src/a.ts.",
    "Stopped because of conflicting changes in src/a.ts.",
    "src/a.ts has been concurrently modified.",
    "The tests pass. But src/app.ts was modified by another agent after I had read it.",
    "src/a.ts was overwritten externally.",
    "My edit conflicts with work of another phase on src/a.ts.",
    "There is an unresolved file conflict in src/a.ts.",
  ])("is a file conflict when another author changed its files: %s (M175)", (summary) => {
    expect(judge(report("failure", summary) + context)).toMatchObject({
      errorType: "file_conflict",
      message: `The agent reported failure: ${summary}`,
    });
    expect(judge(report("partial", summary) + context)).toMatchObject({ errorType: "file_conflict" });
    expect(judge(report("success", summary) + context)).toEqual({ kind: "success" });
  });

  test.each([
    "Two tests fail; there were no file conflicts.",
    "Finished without any concurrent modification, but the build is red.",
    "Resolved file conflicts in the lock file; the build still fails.",
    "The requirements conflict with the design.",
    "java.util.ConcurrentModificationException in TaskTest.",
    "Peer dependency conflict: react 18 and react 19.",
    "The handler for concurrent requests is not done.",
    "I changed src/a.ts and the tests fail.",
  ])("is not a file conflict otherwise: %s", (summary) => {
    expect(judge(report("failure", summary) + context)).toMatchObject({ errorType: "runtime" });
  });
});

describe("the outcome that the runtime reports", () => {
  const complete: Handoff = readHandoff(report("success") + context, { format: "text" });

  test("overrides the hand-off", () => {
    const outcome: Outcome = {
      ...done,
      kind: "failure",
      reason: "no_result",
      errorType: "runtime",
      message: "No JSON.",
    };
    expect(judgeAttempt(outcome, complete, last)).toEqual({
      kind: "failure",
      reason: "no_result",
      errorType: "runtime",
      message: "No JSON.",
    });
  });

  test.each([
    ["failure", "runtime"],
    ["timeout", "timeout"],
    ["quota", "quota"],
    ["interrupted", "runtime"],
  ] as const)("gets a default message and type: %s is an error of type %s", (kind, errorType) => {
    const verdict = judgeAttempt({ ...done, kind }, null, last);
    expect(verdict).toMatchObject({ kind, reason: kind, errorType });
    expect((verdict as Shortfall).message).toMatch(/^The .{10,}/);
  });
});

describe("the next step", () => {
  const failure: Shortfall = { kind: "failure", reason: "x", errorType: "runtime", message: "x" };
  const retried = (times: number) =>
    Array.from({ length: times }, (): SessionEvent[] => [
      moved("1", "in_progress", "failed"),
      moved("1", "failed", "in_progress"),
    ]).flat();

  const attempt = { phase: "1", attempt: 1 };
  const timedOut: SessionEvent[] = [
    {
      type: "attempt.started",
      ...attempt,
      agent: "coder",
      run: "r",
      runtime: "gemini",
      model: null,
      batch: "2026-02-14-task-api",
      name: "coder.p1-1",
      prompt_bytes: 1,
      timeout_ms: 1000,
    },
    {
      type: "attempt.finished",
      ...attempt,
      outcome: "timeout",
      exit_code: 124,
      signal: null,
      duration_ms: 1000,
      usage: null,
    },
  ];

  const overspent = timedOut.map((event) =>
    event.type === "attempt.finished" ? { ...event, outcome: "failure" as const, reason: "over_budget" } : event,
  );

  function step(verdict: Partial<Shortfall>, { retries = 0, maxRetries = 2, later = [] as SessionEvent[] } = {}) {
    const session = sessionAfter(
      [frozenPhase("1")],
      moved("1", "pending", "in_progress"),
      ...retried(retries),
      ...later,
    );
    return stepAfter(session, findPhase(session, "1") as SessionPhase, { ...failure, ...verdict }, maxRetries);
  }

  test.each([
    ["a failure, retries left", {}, { retries: 1 }, "retry"],
    ["a failure, none left", {}, { retries: 2 }, "escalate"],
    ["a failure, none allowed", {}, { maxRetries: 0 }, "escalate"],
    ["a timeout, retries left", { kind: "timeout", errorType: "timeout" }, {}, "retry"],
    ["a timeout, none left", { kind: "timeout", errorType: "timeout" }, { retries: 2 }, "escalate"],
    [
      "a second timeout, retries left (C40)",
      { kind: "timeout", errorType: "timeout" },
      { later: timedOut },
      "escalate",
    ],
    ["a failure after a timeout, retries left", {}, { later: timedOut }, "retry"],
    ["more used than reserved", { reason: "over_budget" }, {}, "retry"],
    ["more used than reserved, again", { reason: "over_budget" }, { later: overspent }, "escalate"],
    ["a failure after that", {}, { later: overspent }, "retry"],
    ["an incomplete hand-off", { reason: "handoff_incomplete", errorType: "validation" }, {}, "retry"],
    ["a file conflict", { errorType: "file_conflict" }, {}, "escalate"],
    ["no credentials", { errorType: "auth" }, {}, "escalate"],
    ["a missing program", { reason: "not_found" }, {}, "escalate"],
    ["no worker with the engine's key, retries left", { reason: OTHER_WORKER_KEY }, {}, "escalate"],
    ["a quota, retries left", { kind: "quota", errorType: "quota" }, {}, "wait"],
    ["a quota, none left", { kind: "quota", errorType: "quota" }, { retries: 2 }, "wait"],
    ["an interruption", { kind: "interrupted" }, { retries: 2 }, "wait"],
    [
      "a failure in a session that has been aborted",
      {},
      { later: [{ type: "session.status_set", status: "failed", aborted: true }] },
      "escalate",
    ],
  ] as [string, Partial<Shortfall>, Parameters<typeof step>[1], string][])(
    "after %s",
    (_, verdict, given, expected) => {
      expect(step(verdict, given)).toBe(expected);
    },
  );
});

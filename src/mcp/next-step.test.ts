import { describe, expect, test } from "vitest";
import { begin, move, phase, sessionOf, type Timed } from "../../test/support/sample-session.ts";
import { positionOf } from "../session/position.ts";
import { nextStep } from "./next-step.ts";

const phases = [phase("1"), phase("2", { agent: "tester", blocked_by: ["1"] }), phase("3", { blocked_by: ["2"] })];

function said(events: readonly Timed[], engine: { pid: number } | null = null): string {
  const session = sessionOf(phases, events);
  return nextStep(session, positionOf(session), engine);
}

const done = (id: string): Timed[] => [move(1, id, "pending", "in_progress"), move(2, id, "in_progress", "completed")];

describe("the next step", () => {
  test.each<[string, Timed[], { pid: number } | null, string]>([
    ["at the start", [], null, "Phase 1 (coder) is ready to start."],
    ["after the first phase", done("1"), null, "Phase 2 (tester) is ready to start."],
    ["during a delegation", [move(1, "1", "pending", "in_progress")], null, "Phase 1 (coder) is in progress."],
    [
      "during a run",
      [move(1, "1", "pending", "in_progress"), begin(1, "1")],
      { pid: 7 },
      "An engine (process 7) runs the plan. Phase 1 (coder) is in progress.",
    ],
    [
      "when the engine is gone",
      [move(1, "1", "pending", "in_progress"), begin(1, "1")],
      null,
      "Phase 1 (coder) was interrupted: maestro_run resumes.",
    ],
    [
      "when a phase has failed",
      [move(1, "1", "pending", "in_progress"), move(2, "1", "in_progress", "failed")],
      null,
      "Phase 1 (coder) has failed: delegate again with what to change while retries are left; then ask the user, and maestro_decide retry, skip or abort.",
    ],
    [
      "when all phases are done",
      [...done("1"), ...done("2"), ...done("3")],
      null,
      'All phases are done. Complete the session: maestro_session_write {"action":"complete"}.',
    ],
    [
      "when the session is completed",
      [[3, { type: "session.status_set", status: "completed" }]],
      null,
      'The session is completed. "maestro archive" archives it.',
    ],
    [
      "when the session was aborted",
      [[3, { type: "session.status_set", status: "failed", aborted: true }]],
      null,
      'The session was aborted. "maestro archive" archives it.',
    ],
  ])("%s", (_, events, engine, expected) => {
    expect(said(events, engine)).toBe(expected);
  });

  test("asks for the execution mode until the user has chosen one", () => {
    const session = { ...sessionOf(phases, []), execution_mode: null };
    expect(nextStep(session, positionOf(session), null)).toMatch(/^The execution mode is not chosen: ask the user/);
  });

  test("names only the first of many phases", () => {
    const many = Array.from({ length: 20 }, (_, at) => phase(String(at + 1)));
    const session = sessionOf(many, []);
    const text = nextStep(session, positionOf(session), null);
    expect(text).toMatch(/^Phases 1 \(coder\), .* 8 \(coder\) and 12 more are ready to start\.$/);
  });
});

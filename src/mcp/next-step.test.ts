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

describe("what comes next", () => {
  test.each<[string, Timed[], { pid: number } | null, string]>([
    ["at the beginning", [], null, "Phase 1 (coder) is ready to start."],
    ["behind the first phase", done("1"), null, "Phase 2 (tester) is ready to start."],
    ["in a delegation", [move(1, "1", "pending", "in_progress")], null, "Phase 1 (coder) is in progress."],
    [
      "in a run",
      [move(1, "1", "pending", "in_progress"), begin(1, "1")],
      { pid: 7 },
      "An engine (process 7) carries the plan out. Phase 1 (coder) is in progress.",
    ],
    [
      "when the engine is gone",
      [move(1, "1", "pending", "in_progress"), begin(1, "1")],
      null,
      'Phase 1 (coder) was interrupted: "maestro resume" goes on.',
    ],
    [
      "when a phase has failed",
      [move(1, "1", "pending", "in_progress"), move(2, "1", "in_progress", "failed")],
      null,
      "Phase 1 (coder) has failed: delegate again with what to change while retries are left; then ask the user, and maestro_decide retry, skip or abort.",
    ],
    [
      "when all is done",
      [...done("1"), ...done("2"), ...done("3")],
      null,
      'All phases are done. Complete the session: maestro_session_write {"action":"complete"}.',
    ],
    [
      "when it is completed",
      [[3, { type: "session.status_set", status: "completed" }]],
      null,
      'The session is completed. "maestro archive" puts it away.',
    ],
    [
      "when it was aborted",
      [[3, { type: "session.status_set", status: "failed", aborted: true }]],
      null,
      'The session was aborted. "maestro archive" puts it away.',
    ],
  ])("%s", (_, events, engine, expected) => {
    expect(said(events, engine)).toBe(expected);
  });

  test("asks for the execution mode while nobody has chosen it", () => {
    const session = { ...sessionOf(phases, []), execution_mode: null };
    expect(nextStep(session, positionOf(session), null)).toMatch(/^The execution mode is not chosen: ask the user/);
  });

  test("names a few of many", () => {
    const many = Array.from({ length: 20 }, (_, at) => phase(String(at + 1)));
    const session = sessionOf(many, []);
    const text = nextStep(session, positionOf(session), null);
    expect(text).toMatch(/^Phases 1 \(coder\), .* 8 \(coder\) and 12 more are ready to start\.$/);
  });
});

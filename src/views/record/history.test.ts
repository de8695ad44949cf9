import { describe, expect, test } from "vitest";
import { begin, end, move, phase, runs, sessionOf, used } from "../../../test/support/sample-session.ts";
import { historyFacts } from "./history.ts";

describe("a session's line in the history (R232)", () => {
  test("shows its id, its status, how much is done and what it cost", () => {
    const phases = [phase("1"), phase("2"), phase("3")];
    expect(historyFacts(sessionOf(phases, []))).toBe("2026-02-14-task-api in_progress phases=0/3 tokens=0/0");
    const timed = [
      ...runs(1, 2, "1", [used(1200, 34)]),
      move(3, "2", "pending", "skipped"),
      move(3, "3", "pending", "in_progress"),
      begin(3, "3"),
      end(4, "3", 1, { outcome: "failure", usage: [used(100, 6)] }),
      move(4, "3", "in_progress", "failed"),
    ];
    expect(historyFacts(sessionOf(phases, timed))).toBe("2026-02-14-task-api in_progress phases=2/3 tokens=1300/40");
  });
});

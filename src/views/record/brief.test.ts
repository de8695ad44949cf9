import { describe, expect, test } from "vitest";
import {
  begin,
  end,
  fails,
  move,
  phase,
  place,
  reported,
  runs,
  sessionOf,
  type Timed,
} from "../../../test/support/sample-session.ts";
import type { FrozenPlan } from "../../session/events.ts";
import { positionOf } from "../../session/position.ts";
import { briefLines, continueLines, nextLines, short } from "./brief.ts";

type Phases = FrozenPlan["phases"];

function brief(phases: Phases, timed: readonly Timed[] = []): string[] {
  const session = sessionOf(phases, timed);
  return briefLines(session, positionOf(session), false);
}

const three = [phase("1"), phase("2", { agent: "tester", blocked_by: ["1"] }), phase("3")];

describe("a session in a few lines", () => {
  test("shows its state and what can start (U245)", () => {
    expect(brief(three)).toEqual([
      "Maestro session 2026-02-14-task-api: in_progress, parallel mode, 0 of 3 phases done.",
      "Ready: 1 Phase 1 (coder); 3 Phase 3 (coder).",
    ]);
  });

  test("shows what runs, what failed, and the last unresolved error", () => {
    const timed = [
      ...runs(1, 2, "1"),
      move(3, "2", "pending", "in_progress"),
      move(3, "3", "pending", "in_progress"),
      ...fails(5, "3", "runtime", "older\nof two lines"),
    ];
    expect(brief(three, timed)).toEqual([
      "Maestro session 2026-02-14-task-api: in_progress, parallel mode, 1 of 3 phases done.",
      "In progress: 2 Phase 2 (tester).",
      "Failed: 3 Phase 3 (coder).",
      "Last error, phase 3: older of two lines",
    ]);
    const both = brief(three, [...timed, ...fails(9, "2", "validation", "newer")]);
    expect(both.at(-1)).toBe("Last error, phase 2: newer");
  });

  test("keeps the error of a phase that is retried until it completes", () => {
    const retried = [
      move(1, "1", "pending", "in_progress"),
      ...fails(5, "1", "validation", "declared but missing: a"),
      move(6, "1", "failed", "in_progress"),
    ];
    expect(brief(three, retried).at(-1)).toBe("Last error, phase 1: declared but missing: a");
    expect(brief(three, [...retried, move(9, "1", "in_progress", "completed")]).join("\n")).not.toContain("error");
  });

  test("asks to verify reported phases, unless integration validates them", () => {
    const plan = [phase("1", { validation: ["npm test"] })];
    const done = [move(1, "1", "pending", "in_progress"), begin(1, "1"), end(9, "1", 8), reported(9, "1")];
    expect(brief(plan, done)[1]).toBe("Reported, to be verified (maestro verify <id>): 1 Phase 1 (coder).");
    expect(brief(plan, [...done, place(1, "1")])[1]).toBe("Agent done, to be integrated: 1 Phase 1 (coder).");
  });

  test("says when all phases are done, and nothing more once the session is completed or aborted", () => {
    const done = runs(1, 2, "1");
    expect(brief([phase("1")], done).at(-1)).toBe("All phases are done: review the whole, then complete the session.");
    const completed: Timed = [3, { type: "session.status_set", status: "completed" }];
    expect(brief([phase("1")], [...done, completed])).toEqual([
      "Maestro session 2026-02-14-task-api: completed, parallel mode, 1 of 1 phases done.",
    ]);
    const aborted: Timed = [3, { type: "session.status_set", status: "failed", aborted: true }];
    expect(brief(three, [...runs(1, 2, "1"), aborted])).toEqual([
      "Maestro session 2026-02-14-task-api: aborted, parallel mode, 1 of 3 phases done.",
    ]);
  });

  test("says when no mode is chosen", () => {
    const session = { ...sessionOf([phase("1")], []), execution_mode: null };
    expect(briefLines(session, positionOf(session), false)[0]).toContain("execution mode not chosen");
  });

  test("stays short for any plan and any errors", () => {
    const many = Array.from({ length: 500 }, (_, index) => phase(String(index), { title: "long ".repeat(2000) }));
    const lines = brief(many, [move(1, "0", "pending", "in_progress"), ...fails(2, "0", "runtime", "y ".repeat(9000))]);
    expect(lines.join("\n").length).toBeLessThan(1000);
    expect(lines).toContainEqual(expect.stringMatching(/^Ready: 1 long .*; and 493 more\.$/));
  });

  test("counts a skipped phase as done", () => {
    const lines = brief([phase("1"), phase("2", { blocked_by: ["1"] })], [move(1, "1", "pending", "skipped")]);
    expect(lines).toEqual([expect.stringContaining("1 of 2 phases done"), "Ready: 2 Phase 2 (coder)."]);
  });

  test("can show only what comes next", () => {
    const session = sessionOf(three, []);
    expect(nextLines(session, positionOf(session), false)).toEqual(
      briefLines(session, positionOf(session), false).slice(1),
    );
  });
});

describe("how to continue a session", () => {
  const done = runs(1, 2, "1");
  const completed: Timed = [3, { type: "session.status_set", status: "completed" }];
  const aborted: Timed = [3, { type: "session.status_set", status: "failed", aborted: true }];
  test.each([
    ["names the skill that leads on", [], false, [expect.stringMatching(/skill session-management.*\/maestro:resume/)]],
    ["points to the engine that runs it", [], true, [expect.stringContaining("maestro_wait")]],
    ["says nothing about a completed one", [...done, completed], false, []],
    ["says nothing about an aborted one", [aborted], false, []],
  ])("%s", (_what, timed, isDriven, lines) => {
    expect(continueLines(sessionOf([phase("1")], timed), isDriven)).toEqual(lines);
  });
});

describe("a short text", () => {
  test.each([
    ["  one\n two\t", 20, "one two"],
    ["exactly ten", 11, "exactly ten"],
    ["one too many", 11, "one too ma…"],
    ["cut at a space", 8, "cut at…"],
  ])("%j in %i characters: %j", (text, length, shown) => {
    expect(short(text, length)).toBe(shown);
  });
});

import { describe, expect, test } from "vitest";
import {
  at,
  begin,
  check,
  end,
  integrate,
  move,
  phase,
  place,
  runs,
  sessionOf,
} from "../../../test/support/sample-session.ts";
import { phaseSign } from "./sign.ts";
import { axisOf, ticksOf, timelineOf } from "./timeline.ts";

const second = (time: number) => (time - at(0).getTime()) / 1000;
const look = { now: at(100).getTime(), isDriven: true, critical: new Set(["1"]) };

describe("a row of the timeline", () => {
  test("has a bar per attempt, with validation and integration as its parts", () => {
    const session = sessionOf(
      [phase("1", { validation: ["npm test"] })],
      [
        move(1, "1", "pending", "in_progress"),
        begin(1, "1"),
        place(1, "1"),
        end(11, "1", 10),
        check(14, "1", "e".repeat(40), ["npm test", 0]),
        integrate(15, "1"),
        move(16, "1", "in_progress", "completed"),
      ],
    );
    const [row] = timelineOf(session, look).rows;
    expect(row?.isCritical).toBe(true);
    expect(row?.bars).toHaveLength(1);
    expect(row?.bars[0]?.parts.map(({ kind, from, to }) => [kind, second(from), second(to)])).toEqual([
      ["agent", 1, 11],
      ["validation", 11, 14],
      ["integration", 14, 16],
    ]);
  });

  test("tells waiting for quota and for a slot from running", () => {
    const session = sessionOf(
      [phase("1"), phase("2", { blocked_by: ["1" as never] })],
      [
        ...runs(5, 10, "1"),
        move(20, "2", "pending", "in_progress"),
        begin(20, "2"),
        end(25, "2", 5, { outcome: "quota" }),
        begin(60, "2", 2),
      ],
    );
    const [first, retried] = timelineOf(session, look).rows;
    expect(first?.waits.map(({ kind, from, to }) => [kind, second(from), second(to)])).toEqual([["slot", 0, 5]]);
    expect(retried?.waits.map(({ kind, from, to }) => [kind, second(from), second(to)])).toEqual([
      ["slot", 10, 20],
      ["quota", 25, 60],
    ]);
    expect(retried?.bars.map(({ outcome, from, to }) => [outcome, second(from), second(to)])).toEqual([
      ["quota", 20, 25],
      ["running", 60, 100],
    ]);
  });

  test("shows a quota wait that is not over, while an engine runs the session", () => {
    const session = sessionOf(
      [phase("1")],
      [move(20, "1", "pending", "in_progress"), begin(20, "1"), end(25, "1", 5, { outcome: "quota" })],
    );
    const waits = (isDriven: boolean) =>
      timelineOf(session, { ...look, isDriven }).rows[0]?.waits.map(({ kind, from, to }) => [
        kind,
        second(from),
        second(to),
      ]);
    expect(waits(true)).toContainEqual(["quota", 25, 100]);
    expect(waits(false)).not.toContainEqual(["quota", 25, 100]);
  });

  test("does not show an attempt whose engine died as running", () => {
    const session = sessionOf(
      [phase("1")],
      [
        move(1, "1", "pending", "in_progress"),
        begin(1, "1"),
        [9, { type: "session.status_set", status: "interrupted" }],
      ],
    );
    expect(timelineOf(session, look).rows[0]?.bars[0]?.outcome).toBe("unseen");
    const killed = sessionOf([phase("1")], [move(1, "1", "pending", "in_progress"), begin(1, "1")]);
    expect(timelineOf(killed, look).rows[0]?.bars[0]?.outcome).toBe("running");
    expect(timelineOf(killed, { ...look, isDriven: false }).rows[0]?.bars[0]?.outcome).toBe("unseen");
  });
});

describe("the axis", () => {
  const session = sessionOf([phase("1"), phase("2")], [...runs(0, 10, "1"), ...runs(3610, 3620, "2")]);
  const timeline = timelineOf(session, { ...look, isDriven: false });

  test("draws idle time short, and says where", () => {
    const axis = axisOf(timeline, true);
    expect(axis.gaps).toHaveLength(1);
    expect(axis.place(at(10).getTime())).toBeGreaterThan(0.4);
    expect(axis.place(at(3610).getTime())).toBeLessThan(0.6);
    const places = [0, 5, 10, 3610, 3612, 3620].map((time) => axis.place(at(time).getTime()));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect([places[0], places[5]]).toEqual([0, 1]);
  });

  test("is true to time when idle time is not collapsed", () => {
    const axis = axisOf(timeline, false);
    expect(axis.gaps).toEqual([]);
    expect(axis.place(at(1810).getTime())).toBeCloseTo(0.5, 3);
  });

  test("has round ticks, and none inside a gap", () => {
    const axis = axisOf(timeline, true);
    const ticks = ticksOf(timeline, axis, 7).map(second);
    expect(ticks.length).toBeGreaterThan(2);
    expect(ticks.length).toBeLessThan(12);
    expect(ticks.filter((tick) => tick > 10 && tick < 3610)).toEqual([]);
  });
});

test("a phase between two attempts, or in the queue of the workers, does not look as if it ran", () => {
  const word = (...more: Parameters<typeof sessionOf>[1]) => {
    const session = sessionOf([phase("1")], [move(1, "1", "pending", "in_progress"), ...more]);
    return session.phases.map((one) => phaseSign(session, one, true).word)[0];
  };
  expect(word(begin(1, "1"))).toBe("running");
  expect(word(begin(1, "1"), end(5, "1", 4))).toBe("running");
  expect(word(begin(1, "1"), end(5, "1", 4, { outcome: "quota" }))).toBe("to retry");
  expect(word(begin(1, "1"), end(5, "1", 4, { outcome: "quota" }), begin(9, "1", 2))).toBe("running");
  expect(word(begin(1, "1", 1, { remote: true }))).toBe("waits for a worker");
});

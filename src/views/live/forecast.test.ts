import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { at, begin, fails, move, phase, runs, sessionOf, type Timed } from "../../../test/support/sample-session.ts";
import { forecast } from "./forecast.ts";

const MINUTE = 60_000;
const timed = (id: string, minutes: number, ...blocked_by: string[]) =>
  phase(id, { estimate: { minutes }, blocked_by });
/** 1 -> 2, 3, 4 -> 5 */
const diamond = [
  timed("1", 2),
  timed("2", 4, "1"),
  timed("3", 4, "1"),
  timed("4", 4, "1"),
  timed("5", 1, "2", "3", "4"),
];

describe("the forecast", () => {
  test("is the critical path when there is a slot for every phase, and longer otherwise", () => {
    const session = sessionOf(diamond, []);
    expect(forecast(session, at(0), null)).toEqual({
      criticalPathLeftMs: 7 * MINUTE,
      remainingMs: 7 * MINUTE,
      done: 0,
    });
    expect(forecast(session, at(0), 2).remainingMs).toBe(11 * MINUTE);
    expect(forecast(session, at(0), 1).remainingMs).toBe(15 * MINUTE);
  });

  test("uses the pace of the finished phases", () => {
    // Estimated at 2 minutes, took 1.
    const session = sessionOf(diamond, runs(0, 60, "1"));
    expect(forecast(session, at(60), null).remainingMs).toBe(2.5 * MINUTE);
    expect(forecast(session, at(60), null).done).toBeCloseTo(2 / 15);
  });

  test("uses the median pace, so that one odd phase does not distort it", () => {
    const plan = [timed("1", 1), timed("2", 1), timed("3", 1), timed("4", 10)];
    const session = sessionOf(plan, [...runs(0, 60, "1"), ...runs(0, 60, "2"), ...runs(0, 3600, "3")]);
    expect(forecast(session, at(3600), null).remainingMs).toBe(10 * MINUTE);
  });

  test("subtracts the time that running phases have already taken, down to zero", () => {
    const session = sessionOf([timed("1", 4)], [move(0, "1", "pending", "in_progress"), begin(0, "1")]);
    expect(forecast(session, at(60), 1)).toEqual({
      criticalPathLeftMs: 3 * MINUTE,
      remainingMs: 3 * MINUTE,
      done: 0.25,
    });
    expect(forecast(session, at(900), 1)).toEqual({ criticalPathLeftMs: 0, remainingMs: 0, done: 0.95 });
  });

  test("runs phases alone that must run alone", () => {
    const plan = [timed("1", 3), timed("2", 3), { ...timed("3", 5), parallel: false }];
    expect(forecast(sessionOf(plan, []), at(0), null).remainingMs).toBe(8 * MINUTE);
  });

  test("starts nothing before the wait for quota is over", () => {
    const quota: Timed = [0, { type: "quota.hit", phase: "1", wait_ms: MINUTE, until: at(60).toISOString(), slots: 1 }];
    expect(forecast(sessionOf([timed("1", 2)], [quota]), at(0), 1).remainingMs).toBe(3 * MINUTE);
  });

  test("counts a failed phase as if it ran again", () => {
    const failed = [move(0, "1", "pending", "in_progress"), ...fails(5, "1", "runtime", "no")];
    expect(forecast(sessionOf(diamond, failed), at(9), null).remainingMs).toBe(7 * MINUTE);
  });

  test("is zero when all phases are done, or the session is aborted", () => {
    const over = { criticalPathLeftMs: 0, remainingMs: 0 };
    expect(forecast(sessionOf([timed("1", 2)], runs(0, 9, "1")), at(9), 1)).toEqual({ ...over, done: 1 });
    const aborted = [
      move(0, "1", "pending", "in_progress"),
      ...fails(5, "1", "runtime", "no"),
      move(6, "1", "failed", "aborted"),
    ];
    expect(forecast(sessionOf(diamond, aborted), at(9), 1)).toMatchObject(over);
  });

  test("is between the lower bound and the sum for any graph", () => {
    const graph = fc.array(fc.record({ minutes: fc.integer({ min: 1, max: 9 }), blockers: fc.array(fc.nat()) }), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(graph, fc.integer({ min: 1, max: 6 }), (nodes, slots) => {
        const plan = nodes.map(({ minutes, blockers }, index) => {
          const ids = index === 0 ? [] : [...new Set(blockers.map((blocker) => String(blocker % index)))];
          return timed(String(index), minutes, ...ids);
        });
        const { remainingMs, criticalPathLeftMs } = forecast(sessionOf(plan, []), at(0), slots);
        const work = nodes.reduce((sum, { minutes }) => sum + minutes * MINUTE, 0);
        expect(remainingMs).toBeGreaterThanOrEqual(Math.max(criticalPathLeftMs, work / slots));
        // Graham's bound: a list schedule is never worse than this.
        expect(remainingMs).toBeLessThanOrEqual(work / slots + criticalPathLeftMs);
      }),
    );
  });
});

import { expect, test } from "vitest";
import { at, begin, end, move, phase, runs, sessionOf } from "../../../test/support/sample-session.ts";
import { whatIf } from "./what-if.ts";

const same = { withoutRetries: false, withoutQuota: false };
const after = (...ids: string[]) => ({ blocked_by: ids as never[] });

test("gives the makespan of other slot counts from measured durations", () => {
  const session = sessionOf(
    [phase("1"), phase("2"), phase("3"), phase("4", after("1", "2", "3"))],
    [...runs(0, 10, "1"), ...runs(10, 20, "2"), ...runs(20, 30, "3"), ...runs(30, 40, "4")],
  );
  const made = (slots: number) => whatIf(session, { ...same, slots }, at(40)).makespanMs / 1000;
  expect([1, 2, 3, Number.POSITIVE_INFINITY].map(made)).toEqual([40, 30, 20, 20]);
  expect(whatIf(session, { ...same, slots: 3 }, at(40)).boundMs).toBe(20_000);
});

test("leaves out retries and quota waits when asked to", () => {
  const session = sessionOf(
    [phase("1")],
    [
      move(0, "1", "pending", "in_progress"),
      begin(0, "1"),
      end(5, "1", 5, { outcome: "quota" }),
      begin(65, "1", 2),
      end(75, "1", 10, { attempt: 2 }),
      move(75, "1", "in_progress", "completed"),
    ],
  );
  const made = (change: Partial<typeof same>) =>
    whatIf(session, { ...same, ...change, slots: 2 }, at(80)).makespanMs / 1000;
  expect(made({})).toBe(75);
  expect(made({ withoutQuota: true })).toBe(15);
  expect(made({ withoutQuota: true, withoutRetries: true })).toBe(10);
});

test("names the phases without a duration", () => {
  const session = sessionOf([phase("1"), phase("2", after("1"))], runs(0, 10, "1"));
  expect(whatIf(session, { ...same, slots: 1 }, at(20)).unmeasured).toEqual(["2"]);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Backoff, isExhausted, onQuota, onSuccess, startBackoff } from "./backoff.ts";

const FIVE_MINUTES = 300_000;
const free = startBackoff(8);
/** A random number that gives the longest wait. */
const unlucky = { now: 0, random: () => 1, running: 8 };

/** The state after `times` quota errors in a row, each as soon as the wait is over. */
function refused(times: number, start: Backoff = free): Backoff {
  let state = start;
  for (let time = 0; time < times; time += 1) {
    state = onQuota(state, { ...unlucky, now: Math.max(0, state.until) });
  }
  return state;
}

const waitOf = (times: number) => refused(times).until - Math.max(0, refused(times - 1).until);

describe("without a quota error", () => {
  test("launches are not delayed", () => {
    expect(free).toEqual({ hits: 0, until: -Infinity, slots: 8, since: null });
    expect(isExhausted(free, 1e12, 0)).toBe(false);
  });
});

describe("the wait", () => {
  test("is 5 s at first and doubles up to 5 min", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 2000].map(waitOf)).toEqual([
      5_000,
      10_000,
      20_000,
      40_000,
      80_000,
      160_000,
      FIVE_MINUTES,
      FIVE_MINUTES,
      FIVE_MINUTES,
    ]);
  });

  test("starts from the given base", () => {
    expect(onQuota(free, { ...unlucky, baseMs: 10 }).until).toBe(10);
    expect(onQuota(refused(3), { ...unlucky, now: 1e6, baseMs: 0 }).until).toBe(1e6);
  });

  test("has full jitter: anything between zero and the delay", () => {
    expect([0, 0.25, 0.999].map((dice) => onQuota(free, { ...unlucky, random: () => dice }).until)).toEqual([
      0, 1_250, 4_995,
    ]);
  });

  test("is never shorter than what the provider asks for (F17)", () => {
    expect(onQuota(free, { ...unlucky, random: () => 0, retryAfterMs: 7_000 }).until).toBe(7_000);
    expect(onQuota(free, { ...unlucky, retryAfterMs: 700_000 }).until).toBe(700_000);
    expect(onQuota(free, { ...unlucky, retryAfterMs: 1 }).until).toBe(5_000);
    expect(onQuota(free, { ...unlucky, random: () => 0, retryAfterMs: null }).until).toBe(0);
    expect(onQuota(free, { ...unlucky, random: () => 0, retryAfterMs: -5 }).until).toBe(0);
  });

  test("does not double for the rest of a burst, and only the provider's hint extends it", () => {
    const first = onQuota(free, unlucky);
    expect(onQuota(first, { ...unlucky, now: 4_000, running: 7 })).toEqual(first);
    expect(onQuota(first, { ...unlucky, now: 4_000, retryAfterMs: 500 })).toEqual(first);
    expect(onQuota(first, { ...unlucky, now: 4_000, retryAfterMs: 9_000 })).toEqual({ ...first, until: 13_000 });
    expect(onQuota(first, { ...unlucky, now: 5_000 }).hits).toBe(2);
  });
});

describe("the slots", () => {
  test.each([
    { slots: 8, running: 8, left: 4 },
    { slots: 8, running: 5, left: 2 },
    { slots: 3, running: 8, left: 1 },
    { slots: 1, running: 1, left: 1 },
    { slots: 8, running: 0, left: 1 },
    { slots: Number.POSITIVE_INFINITY, running: 20, left: 10 },
  ])("halve: $slots with $running running become $left", ({ slots, running, left }) => {
    expect(onQuota(startBackoff(slots), { ...unlucky, running }).slots).toBe(left);
  });

  test("grow back by one with every success, up to the maximum", () => {
    const hit = refused(1);
    const grown = [1, 2, 3, 4, 5, 6].reduce<Backoff[]>(
      (states) => [...states, onSuccess(states.at(-1) ?? hit, 60_000, 8)],
      [],
    );
    expect(grown.map(({ slots }) => slots)).toEqual([5, 6, 7, 8, 8, 8]);
    expect(onSuccess(startBackoff(Number.POSITIVE_INFINITY), 0, Number.POSITIVE_INFINITY).slots).toBe(Infinity);
  });

  test("do not grow from the success of an attempt that ran before the quota error", () => {
    expect(onSuccess(refused(1), 4_999, 8)).toMatchObject({ slots: 4, until: 5_000 });
  });
});

describe("a success", () => {
  test("makes the next wait short again", () => {
    const state = onSuccess(refused(6), 1e9, 8);
    expect(state).toMatchObject({ hits: 0, since: null });
    expect(onQuota(state, { ...unlucky, now: 1e9 }).until).toBe(1e9 + 5_000);
  });
});

describe("the quota is exhausted", () => {
  test("when only quota errors came for longer than the limit, regardless of their number", () => {
    const state = refused(3);
    expect(state.since).toBe(0);
    expect(isExhausted(state, 3_600_000, 3_600_000)).toBe(false);
    expect(isExhausted(state, 3_600_001, 3_600_000)).toBe(true);
    expect(isExhausted(onSuccess(state, 3_600_001, 8), 3_600_001, 3_600_000)).toBe(false);
  });

  test("is measured from the first quota error after a success, even from one during a wait", () => {
    const succeeded = onSuccess(onQuota(free, unlucky), 1_000, 8);
    const again = onQuota(succeeded, { ...unlucky, now: 2_000 });
    expect(again).toMatchObject({ since: 2_000, hits: 1, until: 5_000 });
  });
});

describe("in any sequence of events", () => {
  test("at least one attempt may run, never more than the maximum, and a wait is never shortened", () => {
    const steps = fc.array(
      fc.record({
        after: fc.nat(20_000),
        succeeds: fc.boolean(),
        hint: fc.option(fc.nat(60_000)),
        dice: fc.double({ min: 0, max: 0.999, noNaN: true }),
        running: fc.nat(16),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 16 }), steps, (slots, events) => {
        let state = startBackoff(slots);
        let now = 0;
        for (const { after, succeeds, hint, dice, running } of events) {
          now += after;
          const before = state;
          const refusal = { now, retryAfterMs: hint, random: () => dice, running };
          state = succeeds ? onSuccess(state, now, slots) : onQuota(state, refusal);
          expect(state.slots).toBeGreaterThanOrEqual(1);
          expect(state.slots).toBeLessThanOrEqual(slots);
          if (now < before.until) expect(state.until).toBeGreaterThanOrEqual(before.until);
          if (succeeds) continue;
          expect(state.until).toBeGreaterThanOrEqual(now + (hint ?? 0));
          expect(state.until).toBeLessThanOrEqual(Math.max(before.until, now + Math.max(FIVE_MINUTES, hint ?? 0)));
          expect(state.slots).toBeLessThanOrEqual(before.slots);
        }
      }),
    );
  });
});

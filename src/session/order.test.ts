import { describe, expect, it } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../test/support/session.ts";
import type { FrozenPlan, SessionEvent } from "./events.ts";
import { hasConcurrent } from "./order.ts";

type Phases = FrozenPlan["phases"];
const phase = (id: string, ...blocked_by: string[]) => frozenPhase(id, { blocked_by });
const alone = (id: string, ...blocked_by: string[]) => frozenPhase(id, { blocked_by, parallel: false });

/** Ids of the phases that something may run beside. */
function concurrent(phases: Phases, ...events: SessionEvent[]): string {
  const session = sessionAfter(phases, ...events);
  return session.phases
    .filter((one) => hasConcurrent(session, one))
    .map(({ id }) => id)
    .join(" ");
}

const done = (id: string) => [moved(id, "pending", "in_progress"), moved(id, "in_progress", "completed")];
const diamond = [phase("a"), phase("b", "a"), phase("c", "a"), phase("d", "b", "c")];

describe("whether something may run beside a phase", () => {
  it.each<[string, Phases, string]>([
    ["a single phase", [phase("a")], ""],
    ["a chain", [phase("a"), phase("b", "a"), phase("c", "b")], ""],
    ["two that know nothing of each other", [phase("a"), phase("b")], "a b"],
    ["a diamond", diamond, "b c"],
    ["two chains", [phase("a"), phase("b", "a"), phase("x"), phase("y", "x")], "a b x y"],
    [
      "a chain through another phase, and one beside its middle",
      [phase("a"), phase("b", "a"), phase("c", "b"), phase("x", "a")],
      "b c x",
    ],
    ["phases that run alone", [alone("a"), alone("b")], ""],
    ["one that runs alone, beside one that does not", [alone("a"), phase("b")], ""],
    ["one that runs alone, beside two that do not", [alone("a"), phase("b"), phase("c")], "b c"],
    ["two that are ordered by one that runs alone", [phase("a"), alone("b", "a"), phase("c", "b")], ""],
  ])("%s", (_, phases, expected) => {
    expect(concurrent(phases)).toBe(expected);
  });

  it.each<[string, SessionEvent[], string]>([
    [
      "while both have begun",
      [...done("a"), moved("b", "pending", "in_progress"), moved("c", "pending", "in_progress")],
      "b c",
    ],
    ["no more once the other is done", [...done("a"), ...done("c")], "c"],
    ["no more once the other is skipped", [...done("a"), moved("c", "pending", "skipped")], "c"],
    [
      "still when the other has failed: it may be tried again",
      [...done("a"), moved("c", "pending", "in_progress"), moved("c", "in_progress", "failed")],
      "b c",
    ],
  ])("changes as the session goes on: %s", (_, events, expected) => {
    // A phase that is closed itself is asked about only when it begins again.
    expect(concurrent(diamond, ...events)).toBe(expected);
  });

  it("costs one pass over a plan of thousands", () => {
    const phases = Array.from({ length: 5000 }, (_, at) => phase(`p${at}`, ...(at === 0 ? [] : [`p${at - 1}`])));
    const session = sessionAfter(phases);
    const began = performance.now();
    for (const at of [0, 2500, 4999]) expect(hasConcurrent(session, session.phases[at] ?? expect.fail())).toBe(false);
    expect(performance.now() - began).toBeLessThan(1000);
  });
});

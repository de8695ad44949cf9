import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { frozenPhase, sessionAfter } from "../../test/support/session.ts";
import { DEFAULT_PHASE_MINUTES } from "../plan/graph.ts";
import { blockersOf, rankingOf, tailsOf } from "./priority.ts";

type Row = { id: string; blocked_by?: string[]; minutes?: number | undefined };

function phasesOf(rows: readonly Row[]) {
  return sessionAfter(
    rows.map(({ id, blocked_by = [], minutes }) =>
      frozenPhase(id, { blocked_by, ...(minutes === undefined ? {} : { estimate: { minutes } }) }),
    ),
  ).phases;
}

/** Phases depend on lower numbers only; the plan lists them in any order. */
const acyclic = fc
  .array(fc.tuple(fc.array(fc.nat(), { maxLength: 4 }), fc.option(fc.nat(20), { nil: undefined })), {
    minLength: 1,
    maxLength: 12,
  })
  .chain((rows) => {
    const phases = rows.map(([edges, minutes], at): Row => {
      const blockers = at === 0 ? [] : edges.map((edge) => String(edge % at));
      return { id: String(at), blocked_by: [...new Set(blockers)], minutes };
    });
    return fc.shuffledSubarray(phases, { minLength: phases.length });
  });

describe("the tail of a phase", () => {
  test("is the longest path from the phase to an end in minutes, including the phase itself", () => {
    fc.assert(
      fc.property(acyclic, (rows) => {
        const longest = (row: Row): number => {
          const behind = rows.filter((other) => other.blocked_by?.includes(row.id)).map(longest);
          return (row.minutes ?? DEFAULT_PHASE_MINUTES) + Math.max(0, ...behind);
        };
        expect([...tailsOf(phasesOf(rows))]).toEqual(rows.map(longest));
      }),
    );
  });

  test("uses the default for a phase without an estimate, and for one imported without a plan", () => {
    const phases = phasesOf([{ id: "1" }, { id: "2", blocked_by: ["1"], minutes: 2 }]);
    expect([...tailsOf(phases)]).toEqual([DEFAULT_PHASE_MINUTES + 2, 2]);
    const imported = phases.map(({ plan: _, ...phase }) => phase);
    expect([...tailsOf(imported)]).toEqual([2 * DEFAULT_PHASE_MINUTES, DEFAULT_PHASE_MINUTES]);
  });

  test("is computed once per list of phases", () => {
    const phases = phasesOf([{ id: "1" }]);
    expect(tailsOf(phases)).toBe(tailsOf(phases));
    expect(tailsOf([...phases])).not.toBe(tailsOf(phases));
  });

  test("is computed for a chain of 20,000 phases", () => {
    const chain = Array.from(
      { length: 20_000 },
      (_, at): Row => ({
        id: String(at),
        blocked_by: at === 0 ? [] : [String(at - 1)],
        minutes: 1,
      }),
    );
    expect(tailsOf(phasesOf(chain))[0]).toBe(20_000);
  });

  test("ends at a cycle, and ignores blockers that are not phases", () => {
    const rows = [
      { id: "1", blocked_by: ["nobody"], minutes: 1 },
      { id: "2", blocked_by: ["1", "3"], minutes: 2 },
      { id: "3", blocked_by: ["2"], minutes: 3 },
      { id: "4", blocked_by: ["3"], minutes: 10 },
    ];
    expect([...tailsOf(phasesOf(rows))]).toEqual([1, 2, 13, 10]);
    expect(blockersOf(phasesOf(rows))[0]).toEqual([-1]);
  });
});

describe("the ranking", () => {
  test("puts the longest tail first; equal tails stay in plan order", () => {
    const rows = [
      { id: "a", minutes: 1 },
      { id: "b", minutes: 3 },
      { id: "c", minutes: 1 },
      { id: "d", minutes: 1 },
      { id: "e", blocked_by: ["d"], minutes: 2 },
    ];
    expect([...rankingOf(phasesOf(rows))].map((position) => rows[position]?.id)).toEqual(["b", "d", "e", "a", "c"]);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { begin, change, end, eventsOf, fails, move, phase, runs } from "../../../test/support/sample-session.ts";
import { fold } from "../../session/fold.ts";
import { Replay } from "./replay.ts";

const records = eventsOf(
  [phase("1"), phase("2", { blocked_by: ["1" as never] }), phase("3")],
  [
    ...runs(1, 9, "1"),
    change(8, "1", ["a.ts"]),
    move(10, "2", "pending", "in_progress"),
    begin(10, "2"),
    end(15, "2", 5, { outcome: "failure" }),
    ...fails(16, "2", "runtime", "exit 1"),
  ],
);

test("shows the session of any moment, in whatever order the moments are asked for", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.integer({ min: 1, max: records.length }), { maxLength: 12 }),
      (every, moments) => {
        // Copies every few records, as in a journal of tens of thousands.
        const replay = new Replay(every);
        replay.add(records);
        for (const moment of moments) expect(replay.at(moment)).toEqual(fold(records.slice(0, moment)));
      },
    ),
  );
});

test("starts from copies in a long journal, and shows the same", () => {
  const notes = Array.from({ length: 12_000 }, (_, at) => ({
    ...(records[0] as (typeof records)[number]),
    type: "session.noted" as const,
    text: `note ${at}`,
    seq: records.length + 1 + at,
  }));
  const long = [...records, ...notes] as typeof records;
  const replay = new Replay();
  replay.add(long);
  replay.at(long.length);
  for (const moment of [11_000, 5_200, 3, 9_999]) {
    expect(replay.at(moment)).toEqual(fold(long.slice(0, moment)));
  }
});

test("takes a record once, however often a stream repeats it, and finds moments by number", () => {
  const replay = new Replay();
  replay.add(records.slice(0, 5));
  replay.add(records.slice(2));
  expect(replay.records.map(({ seq }) => seq)).toEqual(records.map(({ seq }) => seq));
  expect(replay.countOf(3)).toBe(3);
  expect(replay.countOf(1e9)).toBe(records.length);
  replay.clear();
  expect(replay.at(5)).toBeUndefined();
});

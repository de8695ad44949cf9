import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  at,
  begin,
  colored,
  end,
  fails,
  move,
  phase,
  plain,
  runs,
  sessionOf,
  type Timed,
  used,
  warn,
} from "../../../test/support/sample-session.ts";
import type { Session } from "../../session/session.ts";
import { displayWidth } from "../text/width.ts";
import { type Live, liveFrame } from "./live.ts";

const timed = (id: string, title: string, agent: string, ...blocked_by: string[]) =>
  phase(id, { title, agent, blocked_by, estimate: { minutes: 2 } });
const plan = [
  timed("1", "Schema", "data-engineer"),
  timed("2", "Routes", "coder", "1"),
  timed("3", "Search", "coder", "1"),
  { ...timed("4", "Tests", "tester", "2", "3"), validation: ["npm test"] },
];
const running: Timed[] = [
  ...runs(0, 120, "1", [used(20_000, 1_000)]),
  move(120, "2", "pending", "in_progress"),
  begin(120, "2"),
  move(120, "3", "pending", "in_progress"),
  begin(120, "3"),
];
const live: Live = {
  slots: 2,
  activity: new Map([["2", "Editing src/routes.ts"]]),
  now: at(150),
  engine: { pid: 4711 },
};
const frame = (timedEvents: Timed[], over: Partial<Live> = {}, size = { columns: 100, rows: 24 }) =>
  liveFrame(sessionOf(plan, timedEvents), { ...live, ...over }, plain, size);

describe("the live table", () => {
  test("shows every phase with agent, state, time, attempt, tokens and last activity", () => {
    expect(frame(running)).toEqual([
      " Task API                                                                                       2:30",
      " 2026-02-14-task-api · parallel · engine 4711",
      "",
      "   ID  PHASE   AGENT          STATE      TIME  TRY  TOKENS  LAST ACTIVITY",
      " ✓  1  Schema  data-engineer  done       2:00    1   21.0k",
      " ▶  2  Routes  coder          running    0:30    1          Editing src/routes.ts",
      " ▶  3  Search  coder          running    0:30    1",
      " ○  4  Tests   tester         waiting                       after 2, 3",
      "",
      " 2 of 2 slots in use · critical path 4 min left · 21.0k tokens",
      " ━━━━━━━━━━━━━━━─────────────────────────  37%  about 4 min left, ends at " +
        new Date(at(150).getTime() + 210_000).toTimeString().slice(0, 5),
    ]);
  });

  test("draws a bar that does not go back when an estimate does, and is full only at the end (C57)", () => {
    expect(frame(running, { shownDone: 0.6 }).at(-1)).toMatch(/^ ━{24}─{16} {2}60% /);
    expect(frame(running, { shownDone: 0.2 })).toEqual(frame(running));
    expect(frame(running, { shownDone: 1 }).at(-1)).toContain(" 99% ");
  });

  test("adds the tokens of a running attempt so far to those that are recorded", () => {
    const lines = frame(running, {
      tokens: new Map([
        ["2", 12_340],
        ["1", 5],
      ]),
    });
    expect(lines).toContain(" ▶  2  Routes  coder          running    0:30    1   12.3k  Editing src/routes.ts");
    expect(lines).toContain(" ✓  1  Schema  data-engineer  done       2:00    1   21.0k");
  });

  test("shows which runtime has taken over", () => {
    const events = [...running.slice(0, -1), begin(120, "3", 1, { runtime: "codex", instead_of: "claude" })];
    expect(frame(events)).toContainEqual(expect.stringMatching(/ Search .* codex instead of claude$/));
  });

  test("puts activity on its own line when the terminal is too narrow for a column", () => {
    const lines = frame(running, {}, { columns: 66, rows: 24 });
    expect(lines).toContain(" ▶  2  Routes  coder          running    0:30    1");
    expect(lines).toContain("       Editing src/routes.ts");
    expect(lines).toContain(" ○  4  Tests   tester         waiting   after 2, 3");
  });

  test("says what a phase in progress is currently doing", () => {
    const stateOf = (timedEvents: Timed[], now = at(150)) =>
      frame([...running, ...timedEvents], { now })[5]?.split(/ {2,}/)[4];
    const until = at(200).toISOString();
    const refused: Timed[] = [
      end(140, "2", 20, { outcome: "quota" }),
      [140, { type: "quota.hit", phase: "2", wait_ms: 60_000, until, slots: 1 }],
    ];
    expect(stateOf([])).toBe("running");
    expect(stateOf([end(140, "2", 20)])).toBe("checking");
    expect(stateOf(refused)).toBe("quota");
    expect(stateOf(refused, at(201))).toBe("retrying");
    expect(
      stateOf([
        end(140, "2", 20, { outcome: "failure" }),
        ...fails(140, "2", "runtime", "no"),
        move(140, "2", "failed", "in_progress"),
      ]),
    ).toBe("retrying");
    expect(stateOf([[149, { type: "session.status_set", status: "interrupted" }]])).toBe("stopped");
  });

  test("counts the wait for quota down in a visible place", () => {
    const until = at(255).toISOString();
    const quota: Timed = [140, { type: "quota.hit", phase: "2", wait_ms: 115_000, until, slots: 1 }];
    expect(frame([...running, quota])).toContain(" Waiting for quota: 1:45 left, then 1 slot");
    expect(frame([...running, quota], { now: at(254) })).toContain(" Waiting for quota: 0:01 left, then 1 slot");
    expect(frame([...running, quota], { now: at(255) }).join()).not.toContain("quota");
    expect(frame([...running, quota], {}, { columns: 60, rows: 8 })).toContain(
      " Waiting for quota: 1:45 left, then 1 slot",
    );
  });

  test("says which phase needs a decision", () => {
    const lines = frame([
      ...running,
      end(140, "2", 20, { outcome: "failure" }),
      ...fails(140, "2", "runtime", "It broke\nbadly"),
    ]);
    expect(lines).toContain(" ✗  2  Routes  coder          failed     0:20    1       ?  It broke");
    expect(lines).toContain(" Needs a decision: phase 2 (retry, skip or abort)");
  });

  test("counts warnings, and shows the text of the latest one, also of a phase that is done (C57)", () => {
    const old = warn(100, "1", "claims_differ", "The report names src/a.ts, which did not change");
    const first = warn(130, "2", "conflict_predicted", "Phase 3 changes the same lines of src/b.ts");
    const last = warn(140, "3", "left_out", "A socket is not taken along:\n- run/\u001b[31m.sock");
    expect(frame([...running, old])).toContain(
      " 2 of 2 slots in use · critical path 4 min left · 21.0k tokens · 1 warning",
    );
    expect(frame([...running, old])).toContain(" WARNING, phase 1: The report names src/a.ts, which did not change");
    expect(frame([...running, old, first])).toContain(" WARNING, phase 2: Phase 3 changes the same lines of src/b.ts");
    const lines = frame([...running, old, first, last]);
    expect(lines).toContain(" WARNING, phase 3: A socket is not taken along: run/␛[31m.sock");
    expect(lines.join()).not.toContain("phase 2:");
    expect(lines.join()).toContain("3 warnings");
  });

  test("drops the warnings of an attempt when the next one runs", () => {
    const again = [
      warn(130, "2", "outside_scope", "src/x.ts changed"),
      end(140, "2", 20, { outcome: "failure" }),
      ...fails(140, "2", "runtime", "no"),
      move(140, "2", "failed", "in_progress"),
    ];
    expect(frame([...running, ...again]).join()).toContain("WARNING, phase 2");
    expect(frame([...running, ...again, begin(141, "2", 2)]).join()).not.toContain("WARNING");
  });

  test("ends with the result of the session", () => {
    const all = [...runs(0, 9, "1"), ...runs(9, 19, "2"), ...runs(9, 19, "3"), ...runs(19, 29, "4")];
    expect(frame([...all, [30, { type: "session.status_set", status: "completed" }]]).at(-1)).toMatch(
      /━ 100% {2}completed$/,
    );
    expect(frame(running, { slots: null }).join()).toContain("2 running · critical path");
  });

  test("shows running and failed phases first when there are too many, and counts the rest", () => {
    const many = Array.from({ length: 200 }, (_, index) => timed(String(index), `Step ${index}`, "coder"));
    const begun = [150, 160].flatMap((id) => [move(5, String(id), "pending", "in_progress"), begin(5, String(id))]);
    const broken = [move(5, "170", "pending", "in_progress"), ...fails(9, "170", "runtime", "no")];
    const finished = Array.from({ length: 100 }, (_, index) => runs(0, 3, String(index))).flat();
    const session = sessionOf(many, [...finished, ...begun, ...broken]);
    const lines = liveFrame(session, live, plain, { columns: 100, rows: 20 });
    expect(lines).toHaveLength(19);
    expect(lines.slice(4, 7).map((line) => line.slice(1, 6))).toEqual(["▶ 150", "▶ 160", "✗ 170"]);
    expect(lines).toContain("   … 90 ready, 100 done");
  });

  test("keeps its columns in place while the session runs", () => {
    const starts = (lines: string[]) => lines[3];
    const later = [
      ...running,
      end(149, "2", 29, { usage: [used(900_000, 90_000)] }),
      move(149, "2", "in_progress", "completed"),
    ];
    expect(starts(frame(later, { activity: new Map([["3", "x".repeat(300)]]) }))).toBe(starts(frame(running)));
  });

  test("is never wider or higher than the terminal, for any session and size", () => {
    const title = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.constant("長い題名の設計 🚀 with a tail\nand a second line"),
    );
    const shape = fc.array(fc.record({ title, kind: fc.nat(5) }), { minLength: 1, maxLength: 40 });
    const size = fc.record({ columns: fc.integer({ min: 1, max: 220 }), rows: fc.integer({ min: 1, max: 60 }) });
    fc.assert(
      fc.property(shape, size, title, (phases, { columns, rows }, words) => {
        const clean = (text: string) => text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, "");
        const session: Session = sessionOf(
          phases.map((one, index) => phase(String(index), { title: clean(one.title) })),
          phases.flatMap(({ kind }, index) => eventsOfKind(kind, String(index))),
          clean(words),
        );
        const activity = new Map(phases.map((_, index) => [String(index), clean(words)]));
        const lines = liveFrame(session, { ...live, activity }, colored, { columns, rows });
        expect(Math.max(0, ...lines.map(displayWidth))).toBeLessThanOrEqual(columns);
        expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
        expect(lines.join("")).not.toContain("\n");
      }),
    );
  });
});

function eventsOfKind(kind: number, id: string): Timed[] {
  const begun = [move(1, id, "pending", "in_progress"), begin(1, id)];
  if (kind === 0) return [];
  if (kind === 1) return begun;
  if (kind === 2) return runs(1, 9, id, [used(10, 10)]);
  if (kind === 5) return [...begun, warn(2, id, "left_out", "設計 🚀 ".repeat(40))];
  if (kind === 3) return [...begun, end(9, id, 8, { outcome: "failure" }), ...fails(9, id, "runtime", "no\nno")];
  return [
    ...begun,
    end(9, id, 8, { outcome: "quota" }),
    [9, { type: "quota.hit", phase: id, wait_ms: 9, until: at(999).toISOString(), slots: 1 }],
  ];
}

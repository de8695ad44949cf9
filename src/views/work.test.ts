import { describe, expect, test } from "vitest";
import {
  begin,
  change,
  end,
  integrate,
  move,
  phase,
  place,
  sessionOf,
  type Timed,
  warn,
} from "../../test/support/sample-session.ts";
import type { SessionPhase } from "../session/session.ts";
import {
  amountText,
  isInProject,
  keptWork,
  sessionAmount,
  someOf,
  tailOf,
  type WorkedAttempt,
  workOf,
} from "./work.ts";

const attempts = (count: number): Timed[] => [
  move(0, "1", "pending", "in_progress"),
  ...Array.from({ length: count }, (_, at) => [begin(at, "1", at + 1), end(at, "1", 0, { attempt: at + 1 })]).flat(),
];
const phaseAfter = (count: number, ...timed: Timed[]): SessionPhase =>
  sessionOf([phase("1")], [...attempts(count), ...timed]).phases[0] as SessionPhase;

describe("the work of a phase", () => {
  const one = change(9, "1", ["a.ts"], { attempt: 1 });
  const two = change(9, "1", ["b.ts"], { attempt: 2 });

  test.each<[string, number | undefined, SessionPhase]>([
    ["is that of the attempt in the project", 1, phaseAfter(2, one, two, integrate(9, "1", 1))],
    [
      "is otherwise that of the last attempt with changes",
      2,
      phaseAfter(3, one, two, change(9, "1", [], { attempt: 3 })),
    ],
    ["is undefined before anything is known", undefined, phaseAfter(1)],
  ])("%s", (_, attempt, worked) => {
    expect(workOf(worked)?.attempt).toBe(attempt);
  });

  test.each<[string, number | undefined, SessionPhase]>([
    ["the last attempt's, in a commit", 2, phaseAfter(2, one, two)],
    ["not an earlier attempt's", undefined, phaseAfter(2, one)],
    ["not work that is in the project", undefined, phaseAfter(1, one, integrate(9, "1"))],
    ["not work without a commit", undefined, phaseAfter(1, change(9, "1", ["a.ts"], { commit: null }))],
    ["not an empty change", undefined, phaseAfter(1, change(9, "1", []))],
  ])("is kept for the user: %s", (_, attempt, worked) => {
    expect(keptWork(worked)?.attempt).toBe(attempt);
  });
});

describe("whether it is in the project", () => {
  const empty: Timed = [
    9,
    { type: "phase.integrated", phase: "1", attempt: 1, from: "d".repeat(40), to: "d".repeat(40) },
  ];
  const refused = warn(9, "1", "not_applied", "Its agent only reads");
  const done = change(8, "1", ["a.ts"]);
  test.each<[string, boolean, Timed[]]>([
    ["it was done there", true, [place(1, "1", 1, null), done]],
    ["its place is unknown", true, [done]],
    ["it was done in a worktree", false, [place(1, "1"), done]],
    ["it was integrated", true, [place(1, "1"), done, integrate(9, "1")]],
    ["it was already there when it was integrated", true, [place(1, "1"), done, empty]],
    ["its agent may not write", false, [place(1, "1"), done, refused, empty]],
  ])("is known when %s: %s", (_, isIn, timed) => {
    const worked = phaseAfter(1, ...timed);
    expect(isInProject(worked, worked.attempts[0] as WorkedAttempt)).toBe(isIn);
  });
});

describe("the changes of a session", () => {
  test("count a file once, every line, and only what is in the project", () => {
    const session = sessionOf(
      ["1", "2", "3", "4"].map((id) => phase(id)),
      [
        ...["1", "2", "3", "4"].flatMap((id) => [move(0, id, "pending", "in_progress"), begin(0, id)]),
        ...[place(1, "1"), change(2, "1", ["a.ts", "b.ts"]), integrate(3, "1")],
        ...[place(1, "2", 1, null), change(2, "2", ["b.ts"])],
        ...[place(1, "3"), change(2, "3", ["c.ts"])],
        ...[change(2, "4", ["d.ts"], { total: 5, added: 50, removed: 0 })],
      ],
    );
    expect(sessionAmount(session)).toEqual({ files: 7, added: 80, removed: 3 });
  });

  test.each([
    [{ files: 1, added: 2, removed: 0 }, "1 file (+2 -0)"],
    [{ files: 1200, added: 0, removed: 34567 }, "1200 files (+0 -34567)"],
    [{ files: 3, added: 0, removed: 0 }, "3 files"],
  ])("%j is %j", (amount, text) => {
    expect(amountText(amount)).toBe(text);
  });
});

test.each([
  [["a", "b"], 2, "a, b"],
  [["a", "b", "c"], 2, "a, b and 1 more"],
  [[], 2, ""],
])("some of %j, %i of them: %j", (names, limit, text) => {
  expect(someOf(names, limit)).toBe(text);
});

test.each([
  ["", []],
  ["one\n\n", ["one"]],
  ["one\ntwo", ["one", "two"]],
  ["one\ntwo\nthree\n", ["two", "three"]],
  ["\n\nthree", ["", "three"]],
])("the end of %j is %j", (output, lines) => {
  expect(tailOf(output, 2)).toEqual(lines);
});

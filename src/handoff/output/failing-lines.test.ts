import { expect, test } from "vitest";
import { failingLines, newFailingLines } from "./failing-lines.ts";

const linesOf = (...lines: string[]) => failingLines(lines.join("\n"), ["/work/one"]);

test("are those that name a failure, without the lines that only count (C55)", () => {
  const output = [
    "> test",
    "✓ adds",
    "✗ subtracts (12 ms)",
    "src/a.ts:12:3 - error TS2322: no",
    "Tests: 1 failed, 12 passed",
  ];
  expect(linesOf(...output)).toEqual(["✗ subtracts (<time>)", "src/a.ts:<line> - error TS2322: no"]);
});

test.each([
  ["the directory", "/work/one/src/a.ts: error", "./src/a.ts: error"],
  ["a position", "src/a.ts(3,14): error TS1", "src/a.ts:<line>: error TS1"],
  ["a position at the start", "  12:3  error  no-undef", ":<line> error no-undef"],
  ["a duration", "failed after 1.5 s", "failed after <time>"],
  ["a time of day", "2026-02-14T10:00:00.123Z ERROR x", "<time> ERROR x"],
  ["an address", "panic at 0x7ffe01", "panic at <address>"],
])("do not depend on %s", (_, line, expected) => {
  expect(linesOf(line)).toEqual([expected]);
});

test("are all lines when none names a failure, and the counts when nothing else does", () => {
  expect(linesOf("-one", "+two")).toEqual(["-one", "+two"]);
  expect(linesOf("building", "3 failed, 2 passed")).toEqual(["3 failed, 2 passed"]);
  expect(linesOf("")).toEqual([]);
});

test("are not compared when there are too many", () => {
  expect(linesOf(...Array.from({ length: 501 }, (_, at) => `error in part${"x".repeat(at % 7)}`))).toBeNull();
});

test("are new when the baseline has them less often", () => {
  expect(newFailingLines(["a", "b"], ["b", "a"])).toEqual([]);
  expect(newFailingLines(["a", "b"], ["a"])).toEqual([]);
  expect(newFailingLines(["a"], ["a", "a", "c"])).toEqual(["a", "c"]);
});

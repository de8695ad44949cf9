import { expect, test } from "vitest";
import { readAwk } from "./awk-script.ts";

test.each([
  ['{print > "f"}', ["f"]],
  ['{print $1, $2 >> "f"}', ["f"]],
  ['{printf "%s", $1 > "f"}', ["f"]],
  ["{print > $1}", [undefined]],
  ['{print > $1 ".txt"}', [undefined]],
  ['{print > "a" x}', [undefined]],
  ['BEGIN { print "a"; print "b" > "f" }', ["f"]],
  ['{print ($1) > "f"}', ["f"]],
])("%j writes %j", (program, files) => {
  expect(readAwk(program).files).toEqual(files);
});

test.each([
  "$3 > 5",
  "$3 > 5 {print $1}",
  "{ if ($1 > 2) print $1 }",
  "{print ($1 > $2)}",
  '{print $1 ">" $2}',
  "/a > b/ {print}",
  "{ x = $1 > 2; print x }",
  "length($0) > 80",
  "{ print a[b > c] }",
  '{print} # > "f"',
  "$1 / 2 > 3 / 4",
])("%j writes nothing", (program) => {
  expect(readAwk(program).files).toEqual([]);
});

test.each([
  ['BEGIN{system("ls")}', ["ls"]],
  ['{print | "sort"}', ["sort"]],
  ['BEGIN{"date" | getline x}', ["date"]],
  ['{ if (a || b) print "x" }', []],
])("%j runs %j", (program, commands) => {
  expect(readAwk(program).commands).toEqual(commands);
});

import { expect, test } from "vitest";
import { readSed } from "./sed-script.ts";

test.each([
  ["w out", ["out"]],
  ["/a/w out", ["out"]],
  ["1,5w out.txt", ["out.txt"]],
  ["s/a/b/w out", ["out"]],
  ["s/a/b/gw out", ["out"]],
  ["s|a|b|w out", ["out"]],
  ["s/a/b/;w out", ["out"]],
  ["/x/{s/a/b/;w out\n}", ["out"]],
  ["$!W out", ["out"]],
  ["\\,a,w out", ["out"]],
  ["s/a\\/b/c/w out", ["out"]],
])("%j writes %j", (script, files) => {
  expect(readSed(script).files).toEqual(files);
});

test.each([
  "s/w/x/",
  "s/a/w b/",
  "s,a,w,g",
  "/w out/d",
  "1d",
  "a\\\nw out",
  "i w out",
  "y/abw/cdx/",
  "r file",
  "b w",
  ": w",
  "$p",
  "/a/,/w/p",
  "# w out",
])("%j writes nothing", (script) => {
  expect(readSed(script).files).toEqual([]);
});

test("finds the commands that sed runs", () => {
  expect(readSed("1e ls -la").commands).toEqual(["ls -la"]);
  expect(readSed("s/e ls/f/").commands).toEqual([]);
});

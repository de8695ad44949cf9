import fc from "fast-check";
import { expect, test } from "vitest";
import { normal } from "./paths.ts";

test.each([
  ["/", "/"],
  ["/a/.env", "/a/.env"],
  ["/a/..b/c", "/a/..b/c"],
  ["/a//b", "/a/b"],
  ["/a/b/", "/a/b"],
  ["/a/./b/.", "/a/b"],
  ["/a/b/..", "/a"],
  ["/..", "/"],
  ["a/../..", ".."],
  ["", "."],
])("%j is normalized to %j", (path, expected) => {
  expect(normal(path)).toBe(expected);
});

test("an absolute path has no empty, `.` or `..` name afterwards, and normalizing again changes nothing", () => {
  const name = fc.constantFrom("", ".", "..", "a", ".b", "..c", "d.");
  fc.assert(
    fc.property(fc.array(name), (names) => {
      const once = normal(`/${names.join("/")}`);
      const rest = once.slice(1);
      expect(rest === "" ? [] : rest.split("/").filter((part) => ["", ".", ".."].includes(part))).toEqual([]);
      expect(normal(once)).toBe(once);
    }),
  );
});

import { expect, test } from "vitest";
import type { Tier } from "../agents/tiers.ts";
import { insideOf, optionFor, refusalOf } from "./permission.ts";

const tiers: readonly Tier[] = ["read-only", "read-shell", "read-write", "full"];

test.each([
  ["read", tiers],
  ["fetch", tiers],
  ["edit", ["read-write", "full"]],
  ["delete", ["read-write", "full"]],
  ["execute", ["read-shell", "full"]],
  ["other", ["full"]],
  [undefined, ["full"]],
  ["switch_mode", []],
])("a tool of the kind %s is allowed in the tiers that have it", (kind, expected) => {
  const asked = { kind, paths: ["/work/a.txt"] };
  expect(tiers.filter((tier) => refusalOf(asked, tier, "/work") === null)).toEqual(expected);
});

test.each([
  ["/work/a/b.txt", "a/b.txt"],
  ["a.txt", "a.txt"],
  ["/work/../etc/passwd", null],
  ["/workshop/a", null],
  ["..", null],
  ["/work", null],
  ["/work/.git/config", null],
  ["/work/sub/.GIT/hooks/x", null],
])("%s is inside of the directory or not", (path, expected) => {
  expect(insideOf("/work", path)).toBe(expected);
  expect(refusalOf({ kind: "edit", paths: [path] }, "full", "/work") === null).toBe(expected !== null);
});

test("an answer for always is given only when there is no other", () => {
  const always = { optionId: "1", kind: "allow_always" };
  const once = { optionId: "2", kind: "allow_once" };
  expect(optionFor([always, once], true)).toBe("2");
  expect(optionFor([always], true)).toBe("1");
  expect(optionFor([always, once], false)).toBeNull();
  expect(optionFor([always, { optionId: "3", kind: "reject_once" }], false)).toBe("3");
});

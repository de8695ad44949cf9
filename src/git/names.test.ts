import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromProject, fromRaw, isBelow, isUtf8, rawInput, rawNames, toProject, toRaw } from "./names.ts";
import { anchored } from "./worktree/ignored.ts";

describe("converting paths between repository and project", () => {
  test.each([
    ["", "a/b", "a/b"],
    ["packages/api/", "packages/api/src/a", "src/a"],
    ["packages/api/", "packages/web/a", "../web/a"],
    ["packages/api/", "packages/api-v2/a", "../api-v2/a"],
    ["packages/api/", "a", "../../a"],
    ["\u00fc/", "\u00fc/\u6f22", "\u6f22"],
  ])("with prefix %j, %j becomes %j, and back", (prefix, top, path) => {
    expect(toProject(prefix, toRaw(top))).toBe(path);
    expect(fromRaw(fromProject(prefix, path))).toBe(top);
  });

  test.each([
    ["", "./a//b/", "a/b"],
    ["p/", "a/../b", "p/b"],
    ["p/", "..", ""],
  ])("with prefix %j, %j is normalized to %j", (prefix, path, top) => {
    expect(fromProject(prefix, path)).toBe(top);
  });

  test("rejects a path that leaves the repository", () => {
    expect(() => fromProject("p/", "../../x")).toThrow("Path leaves the repository (got: ../../x)");
  });
});

describe("raw names", () => {
  test("preserve the bytes from git, whatever they are", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1 }).map((bytes) => bytes.map((byte) => byte || 1))), (names) => {
        const answer = Buffer.concat(names.flatMap((name) => [Buffer.from(name), Buffer.from([0])]));
        expect(rawInput(rawNames(answer)).equals(answer)).toBe(true);
      }),
    );
  });

  test("are text only when they are UTF-8", () => {
    expect(isUtf8(toRaw("\u00fc"))).toBe(true);
    expect(isUtf8("\xff")).toBe(false);
  });

  test.each([
    ["a/b", ["a"], true],
    ["a", ["a"], true],
    ["ab", ["a"], false],
    ["b/a", ["a"], false],
    ["a", [], false],
  ])("%j is below %j: %s", (name, paths, expected) => {
    expect(isBelow(name, paths)).toBe(expected);
  });
});

describe("patterns of .maestroinclude in a project below the repository's top", () => {
  test.each([
    ["*.env", "/p/**/*.env"],
    ["/.env", "/p/.env"],
    ["config/local", "/p/config/local"],
    ["local/", "/p/**/local/"],
    ["!keep", "!/p/**/keep"],
    ["# comment", "# comment"],
    ["", ""],
  ])("%j becomes %j", (line, expected) => {
    expect(anchored([line], "p/")).toBe(`${expected}\n`);
    expect(anchored([line], "")).toBe(`${line}\n`);
  });

  test("escape special characters in the name of the project directory", () => {
    expect(anchored(["x"], "a*[b]/")).toBe("/a\\*\\[b\\]/**/x\n");
  });
});

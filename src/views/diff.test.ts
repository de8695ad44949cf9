import { describe, expect, test } from "vitest";
import type { Changes } from "../session/session.ts";
import { diffText, statLines } from "./diff.ts";
import { plainPaint } from "./text/paint.ts";

const tag = (name: string) => (text: string) => `<${name}>${text}</>`;
const tags = {
  bold: tag("bold"),
  cyan: tag("cyan"),
  dim: tag("dim"),
  green: tag("green"),
  red: tag("red"),
  yellow: tag("yellow"),
};

const patch = [
  "diff --git a/a b/a",
  "index 1..2 100644",
  "--- a/a",
  "+++ b/a",
  "@@ -1,3 +1,3 @@",
  " same",
  "--- a comment of SQL",
  "+++ counter",
  "",
].join("\n");

describe("a diff on a terminal", () => {
  test("colours a line by its meaning, not by its first character", () => {
    expect(diffText(patch, tags).split("\n")).toEqual([
      "<bold>diff --git a/a b/a</>",
      "<bold>index 1..2 100644</>",
      "<bold>--- a/a</>",
      "<bold>+++ b/a</>",
      "<cyan>@@ -1,3 +1,3 @@</>",
      " same",
      "<red>--- a comment of SQL</>",
      "<green>+++ counter</>",
      "",
    ]);
  });

  test("is unchanged without colours", () => {
    expect(diffText(patch, plainPaint)).toBe(patch);
  });

  test.each([
    ["an escape sequence", "+\u001b[2J", "+␛[2J"],
    ["a title", "+\u001b]0;x\u0007", "+␛]0;x␇"],
    ["an eight-bit control", "+\u009b31m", "+\ufffd31m"],
    ["a carriage return", "-a\r", "-a␍"],
    ["a backspace", " a\b", " a␈"],
  ])("lets no %s through", (_what, line, shown) => {
    expect(diffText(line, plainPaint)).toBe(shown);
  });
});

describe("a summary of changes", () => {
  const changes: Changes = {
    base: null,
    commit: null,
    files: [
      { path: "a.ts", kind: "created", added: 120, removed: 0 },
      { path: "new.ts", kind: "renamed", from: "old.ts", added: 0, removed: 4 },
      { path: "logo\u001b[2J.png", kind: "modified", added: null, removed: null },
      { path: "gone.ts", kind: "deleted", added: 0, removed: 12 },
    ],
    total: 6,
    added: 200,
    removed: 16,
    outside: ["old.ts"],
  };

  test("has one line per file, with line counts in columns", () => {
    expect(statLines({ phase: "3", attempt: 2, changes, isIntegrated: true }, plainPaint)).toEqual([
      "Phase 3, attempt 2: 6 files (+200 -16), in the project",
      "  created   +120  -0  a.ts",
      "  renamed     +0  -4  old.ts -> new.ts  (not one of its files)",
      "  modified            logo␛[2J.png",
      "  deleted     +0 -12  gone.ts",
      "  and 2 more",
    ]);
  });
});

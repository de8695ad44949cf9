import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cell, cellRight, cut, shareOut } from "./cell.ts";
import { beginning, displayWidth } from "./width.ts";

describe("the width of a text", () => {
  test.each([
    ["plain", 5],
    ["", 0],
    ["Überblick – naïve", 17],
    ["設計", 4],
    ["한국어", 6],
    ["ｆｕｌｌ", 8],
    ["ﾊﾝｶｸ", 4],
    ["e\u0301tude", 5],
    ["\u200bzero\u2060", 4],
    ["🚀", 2],
    ["👩‍👩‍👧‍👦", 2],
    ["👍🏽", 2],
    ["🇨🇭", 2],
    ["1️⃣", 2],
    ["❤️", 2],
    ["✓ ✗ ▶ ○ ■ ↷ … ━", 15],
    ["\u001b[31mred\u001b[39m", 3],
  ])("of %j is %i columns", (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test("is never exceeded by a prefix, and no character is split", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(30), (text, width) => {
        const kept = beginning(text, width);
        expect(displayWidth(kept)).toBeLessThanOrEqual(width);
        expect(text.startsWith(kept)).toBe(true);
      }),
    );
  });
});

describe("a cell", () => {
  test("has exactly its width for any content", () => {
    const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.string(), fc.constant("日本語のとても長い題名"));
    fc.assert(
      fc.property(text, fc.nat(30), (any, width) => {
        const shown = any.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
        expect(displayWidth(cell(shown, width))).toBe(width);
        expect(displayWidth(cellRight(shown, width))).toBe(width);
      }),
    );
  });

  test("is one line, cut with an ellipsis", () => {
    expect(cut("two\n lines", 20)).toBe("two lines");
    expect(cut("a long title", 7)).toBe("a long…");
    expect(cut("設計と実装", 6)).toBe("設計…");
    expect(cut("anything", 0)).toBe("");
  });
});

describe("columns that share a line", () => {
  test("get their minimum, then fair shares up to their maximum", () => {
    expect(
      shareOut(30, [
        { least: 5, most: 8 },
        { least: 5, most: 100 },
      ]),
    ).toEqual([8, 22]);
    expect(
      shareOut(11, [
        { least: 5, most: 9 },
        { least: 5, most: 9 },
      ]),
    ).toEqual([6, 5]);
    expect(
      shareOut(50, [
        { least: 5, most: 9 },
        { least: 5, most: 9 },
      ]),
    ).toEqual([9, 9]);
    expect(shareOut(2, [{ least: 5, most: 9 }])).toEqual([5]);
  });
});

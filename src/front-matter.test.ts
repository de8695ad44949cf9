import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitFrontMatter } from "./front-matter.ts";

describe("splitting front matter", () => {
  test.each([
    ["a plain file", "---\na: 1\n---\nbody\n", "a: 1\n", "body\n"],
    ["CRLF line endings", "---\r\na: 1\r\n---\r\nbody\r\n", "a: 1\n", "body\n"],
    ["a byte order mark", "\uFEFF---\na: 1\n---\nbody", "a: 1\n", "body"],
    ["a closing line of dots", "---\na: 1\n...\nbody", "a: 1\n", "body"],
    ["spaces and tabs after the fences", "--- \na: 1\n---\t\nbody", "a: 1\n", "body"],
    ["nothing after the closing fence", "---\na: 1\n---", "a: 1\n", ""],
    ["empty front matter", "---\n---\nbody", "", "body"],
    ["a horizontal rule in the body", "---\na: 1\n---\nbody\n---\nmore", "a: 1\n", "body\n---\nmore"],
    [
      "dashes that are not a fence",
      "---\na: 1 ---\n----\n ---\n---x\n---\nbody",
      "a: 1 ---\n----\n ---\n---x\n",
      "body",
    ],
  ])("splits %s", (_, text, yaml, body) => {
    expect(splitFrontMatter(text)).toEqual({ yaml, body });
  });

  test.each([
    ["an empty text", ""],
    ["no fence", "# Title\n"],
    ["a fence that is not the first line", "\n---\na: 1\n---\n"],
    ["an unclosed fence", "---\na: 1\n"],
    ["only the opening fence", "---\n"],
    ["a longer line of dashes", "----\na: 1\n----\n"],
    ["another kind of front matter", "+++\na = 1\n+++\n"],
  ])("finds no front matter in %s", (_, text) => {
    expect(splitFrontMatter(text)).toBeUndefined();
  });

  test("splits any front matter and any body without losing text", () => {
    const line = fc
      .string({ unit: "grapheme" })
      .filter((text) => !/[\r\n]/.test(text) && !/^(---|\.\.\.)[ \t]*$/.test(text));
    const body = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\r"));
    fc.assert(
      fc.property(fc.array(line), body, (lines, rest) => {
        const yaml = lines.map((text) => `${text}\n`).join("");
        expect(splitFrontMatter(`---\n${yaml}---\n${rest}`)).toEqual({ yaml, body: rest });
      }),
    );
  });
});

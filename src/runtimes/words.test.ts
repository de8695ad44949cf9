import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitWords, warnsOfAllowedTools } from "./words.ts";

describe("splits words like a shell, without its expansions (E54)", () => {
  test.each<[string, string[]]>([
    ["", []],
    [" \t\n ", []],
    ["--debug -e none", ["--debug", "-e", "none"]],
    ["  a\t b\r\n", ["a", "b"]],
    ["'a b' \"c d\"", ["a b", "c d"]],
    ["a'b'\"c\"d", ["abcd"]],
    ["'' \"\"", ["", ""]],
    ["a\\ b \\'c\\' \\\\", ["a b", "'c'", "\\"]],
    ["a\\\nb", ["ab"]],
    ["'it\\'s", ["it\\s"]],
    ['\'a\\b\' "a\\b" "a\\"b" "a\\\\b" "\\$x \\`y\\`"', ["a\\b", "a\\b", 'a"b', "a\\b", "$x `y`"]],
    ['"a\\\nb"', ["ab"]],
    [
      "$HOME *.ts `id` $(id) ~ {a,b} a;b|c>d&e #f !g",
      ["$HOME", "*.ts", "`id`", "$(id)", "~", "{a,b}", "a;b|c>d&e", "#f", "!g"],
    ],
    ['"$HOME" "`id`"', ["$HOME", "`id`"]],
    ['--name="Zoë 日本"', ["--name=Zoë 日本"]],
  ])("%j", (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  test.each([
    ["'a b", /quote ' at character 1 is not closed/],
    ['a "b', /quote " at character 3 is not closed/],
    ['"a\\"', /quote " at character 1/],
    ["it's", /quote ' at character 3/],
    ["a\\", /ends in a backslash/],
  ])("%j is an error", (text, message) => {
    expect(splitWords(text)).toEqual({ error: expect.stringMatching(message) });
  });

  test("quoted words come back unchanged", () => {
    const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
    const doubled = (word: string) => `"${word.replace(/[$`"\\]/g, "\\$&")}"`;
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", maxLength: 20 }), { maxLength: 5 }),
        fc.constantFrom(quote, doubled),
        (words, how) => {
          expect(splitWords(words.map(how).join(" "))).toEqual(words);
        },
      ),
    );
  });

  test("no text makes it throw", () => {
    fc.assert(fc.property(fc.string(), (text) => void splitWords(text)));
  });
});

describe("the deprecated flag (F77)", () => {
  test.each([
    [["--allowed-tools", "x"], true],
    [["--debug", "--allowed-tools=x"], true],
    [["--allowedTools", "x"], true],
    [[], false],
    [["--allowed-tools-file"], false],
    [["--allowed-mcp-server-names", "x"], false],
    [["allowed-tools"], false],
  ])("%j: %s", (args, warns) => {
    expect(warnsOfAllowedTools(args)).toBe(warns);
  });
});

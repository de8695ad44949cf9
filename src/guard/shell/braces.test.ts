// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell variables
import { expect, test } from "vitest";
import { expandBraces } from "./braces.ts";
import { FILLED } from "./shape.ts";

test.each([
  ["{a,b}", ["a", "b"]],
  ["x{a,b}y", ["xay", "xby"]],
  ["{a,b}{c,d}", ["ac", "ad", "bc", "bd"]],
  ["{a,{b,c}}", ["a", "b", "c"]],
  ["{1..3}", ["1", "2", "3"]],
  ["{3..1}", ["3", "2", "1"]],
  ["{a..c}", ["a", "b", "c"]],
  ["{1..9..4}", ["1", "5", "9"]],
  ["{,x}", ["", "x"]],
  ["file{,.bak}", ["file", "file.bak"]],
  ["{a}", ["{a}"]],
  ["{}", ["{}"]],
  ["{a,b", ["{a,b"]],
  ["a}", ["a}"]],
  ["{{a,b}}", ["{a}", "{b}"]],
  ["'{a,b}'", ["'{a,b}'"]],
  ['"{a,b}"', ['"{a,b}"']],
  ["\\{a,b}", ["\\{a,b}"]],
  ["${x:-{a,b}}", ["${x:-{a,b}}"]],
  ["{a,$(echo b,c)}", ["a", "$(echo b,c)"]],
  ['{a,"b,c"}', ["a", '"b,c"']],
])("%j expands to %j", (text, words) => {
  expect(expandBraces(text)).toEqual({ words });
});

test("a long range is not fully expanded", () => {
  const expanded = expandBraces("{1..1000000}");
  expect("words" in expanded && expanded.words.length).toBe(65);
  expect("words" in expanded && expanded.words.at(-1)).toBe(FILLED);
});

test.each([
  ["{a,b}".repeat(11), "too-large"],
  [`${"{a,".repeat(70)}b${"}".repeat(70)}`, "too-deep"],
])("an expansion that grows too large is a fault", (text, fault) => {
  expect(expandBraces(text)).toEqual({ fault });
});

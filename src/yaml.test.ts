import { expect, test } from "vitest";
import { processorMs } from "../test/support/timed.ts";
import { MAX_BRACKETS, MAX_LIBRARY_CHARS, readYaml } from "./yaml.ts";

test("reads YAML that only the library understands", () => {
  expect(readYaml("a: |\n  x\n  y\nb: &v [1]\nc: *v\n")).toEqual({ value: { a: "x\ny\n", b: [1], c: [1] } });
});

test.each([
  ["a nested map on one line", "a: 1\nb: c: d\n", 2],
  ["a key that appears twice", "a: 1\nb: |\n  x\na: 2\n", 4],
  ["two keys that are the same as text", '1: a\nb: |\n  x\n"1": c\n', 4],
  ["a tag that is not part of YAML", "a: 1\nb: !evil x\n", 2],
  ["a binary tag", "b: !!binary aGk=\n", 1],
  ["two documents", "a: |\n  x\n--- \nb: 2\n", 3],
  ["an alias without an anchor", "a: *b\n", 1],
  ["a key that is a list", "a: 1\n? [x]\n: 2\n", 1],
  ["a key that is a map of keys", `${"? ".repeat(50)}a\n`, 1],
])("names the line of %s", (_name, text, line) => {
  expect(readYaml(text)).toMatchObject({ code: "yaml_parse", line });
});

test.each([
  ["title: x: y\n", 'put a text that contains ": " in quotes'],
  ["a: b\n  c: d\n", "correct the indentation"],
  ["a:\n  - id: 1\n    title: x\n   agent: coder\n", "correct the indentation"],
  ["a: @scope/name\n", "put the text in quotes"],
  ["a: 'it's'\n", "check quotes"],
])("says what to change in %j", (text, advice) => {
  expect(readYaml(text)).toMatchObject({ code: "yaml_parse", problem: expect.stringContaining(advice) });
});

test("rejects an alias bomb at once (T6)", () => {
  const names = [..."abcdefghij"];
  const bomb = names.map((name, at) => `${name}: &${name} [${Array(9).fill(at === 0 ? "x" : `*${names[at - 1]}`)}]`);
  expect(readYaml(bomb.join("\n"))).toMatchObject({ code: "yaml_parse" });
});

test.each([
  ["flow lists", "[".repeat(10_000)],
  ["flow maps", `a: ${"{a: ".repeat(10_000)}`],
  ["lists in lists", "- ".repeat(10_000)],
  ["explicit keys", "? ".repeat(10_000)],
  ["indented maps", Array.from({ length: 1_200 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
])("rejects %s that are nested too deeply", (_name, text) => {
  expect(readYaml(text)).toMatchObject({ code: "yaml_parse", problem: expect.stringMatching(/nested/) });
});

test("counts nesting depth, not the number of brackets", () => {
  expect(readYaml(`a: &x [${"[], ".repeat(MAX_BRACKETS * 2)}]`)).toHaveProperty("value");
});

test("does not change prototypes", () => {
  const result = readYaml("__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\n");
  expect(Object.keys("value" in result ? (result.value as object) : {})).toEqual(["__proto__", "constructor"]);
  expect({}).not.toHaveProperty("polluted");
});

test("merges maps: a map's own field overrides a merged one", () => {
  const base = "a: &a { x: 1, y: 2 }\n";
  expect(readYaml(`${base}b:\n  <<: *a\n  x: 3\n`)).toMatchObject({ value: { b: { x: 3, y: 2 } } });
  expect(readYaml(`${base}c: &c { z: 4 }\nb: { <<: [*a, *c] }\n`)).toMatchObject({
    value: { b: { x: 1, y: 2, z: 4 } },
  });
});

test.each([
  ["a text", "b:\n  <<: text\n"],
  ["itself", "a: &a\n  <<: *a\n"],
  ["far too many", `a: &a { x: 1 }\nb:\n  <<: [${"*a, ".repeat(1000)}]\n`],
])("does not merge %s", (_name, text) => {
  expect(readYaml(text)).toMatchObject({ code: "yaml_parse" });
});

test("rejects merges of too many keys before anything is copied", () => {
  const large = Array.from({ length: 60_000 }, (_, at) => `k${at}: 1`).join(", ");
  const text = `a: &a { ${large} }\n${Array.from({ length: 90 }, (_, at) => `b${at}: { <<: *a }`).join("\n")}\n`;
  expect(readYaml(text)).toMatchObject({ problem: expect.stringContaining("more than 5000 keys are merged") });
});

test("rejects too many merges at once, also of empty maps and in cycles", () => {
  const began = processorMs();
  const many = `a: &a {}\nb:\n${"- { <<: *a }\n".repeat(15_000)}`;
  expect(readYaml(many)).toMatchObject({ problem: expect.stringContaining("more than 5000 keys are merged") });
  expect(readYaml("a: &a [*a, *a]\nb: { <<: *a }\n")).toMatchObject({ code: "yaml_parse" });
  expect(processorMs() - began).toBeLessThan(5_000);
});

test("rejects too many aliases at once, because the library scans the whole text for each", () => {
  const began = processorMs();
  const chain = Array.from({ length: 5_000 }, (_, at) => `a${at}: &x${at} [*x${Math.max(0, at - 1)}]`).join("\n");
  expect(readYaml(`x: &x0 1\n${chain}`)).toMatchObject({ problem: expect.stringContaining("too many aliases") });
  expect(processorMs() - began).toBeLessThan(10_000);
  const few = `x: &x 1\n${Array.from({ length: 90 }, (_, at) => `a${at}: *x`).join("\n")}\n`;
  expect(readYaml(few)).toHaveProperty("value.a89", 1);
});

test("names the limit when the caller lowers it", () => {
  expect(readYaml(`a: |\n  ${"x".repeat(40_000)}`, 32 * 1024)).toMatchObject({
    code: "too_large",
    problem: expect.stringContaining("beyond 32 KiB"),
  });
});

test("names the key << when a map has two merges", () => {
  const text = "a: &a { x: 1 }\nb:\n  <<: *a\n  <<: *a\n";
  expect(readYaml(text)).toMatchObject({ line: 4, problem: expect.stringContaining("the key << appears twice") });
});

test("a merged map does not change prototypes", () => {
  const { value } = readYaml("a: &a\n  __proto__: { evil: 1 }\nb:\n  <<: *a\n") as { value: { b: object } };
  expect(Object.getPrototypeOf(value.b)).toBe(Object.prototype);
});

test("does not slow down with the number of keys in a map", () => {
  const keys = Array.from({ length: 30_000 }, (_, at) => `key${at}: 1`).join("\n");
  const start = processorMs();
  expect(readYaml(`anchor: &a 1\n${keys}`)).toHaveProperty("value");
  expect(processorMs() - start).toBeLessThan(5_000);
});

test("does not pass too long a text to the library, and names the line that is not plain YAML", () => {
  const text = `a: 1\nb: |\n  x\nc: "${"x".repeat(MAX_LIBRARY_CHARS)}"\n`;
  expect(readYaml(text)).toMatchObject({ code: "too_large", line: 2 });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { readPlainYaml } from "./plain-yaml.ts";
import { readWithLibrary } from "./yaml.ts";

const trickyScalars = [
  ..."yes no null Null ~ true TRUE False 0x10 0o17 1e3 1_000 .5 5. 1.50 007 0 -1 +1 .inf .NaN 12:30 a:b a#b".split(" "),
  ...['"q"', "'s'", "'it''s'", '"a\\n\\u00e9\\/"', '"\\x41"', '""', "''", "12345678901234567890", "2026-01-01", "2.5"],
  ...[
    "a b",
    "a # c",
    "a: b",
    "a :b",
    "- a",
    "-a",
    "[a",
    "a]",
    "{",
    "|",
    ">",
    "&a",
    "*a",
    "!t",
    "%",
    "@",
    "`",
    "?",
    "=",
    ",",
  ],
  ...["http://x/y", "../x", "...", "---", "é", "\u{1f600}", "\u00a0", "\t", "\\", "<<", "a\u2028b", "\u0007"],
];
const fragments = [
  ...trickyScalars,
  ...[
    "\n",
    "\n  ",
    "\n    ",
    "\n ",
    " ",
    "  ",
    ", ",
    "# c",
    " # c",
    ":",
    ": ",
    "]",
    "}",
    "- ",
    "-",
    "a: ",
    "b:",
    '"k": ',
    '"k":',
  ],
  ...[
    "- a: 1\n  b: 2\n",
    "key:\n- 1\n- 2\n",
    "[1, 2, 3]",
    "[ 7 , 8]",
    "{a: 1}",
    '{"a":1}',
    "__proto__: 1",
    "true: 1",
    "<<: ",
    "\r\n",
  ],
];
const openings = ["", "a: ", "a:\n  b: ", "- ", "a:\n- ", "a: [", "a: {", "{", "[", "- a: ", "a:\n  - b: 1\n    c: "];

const randomText = fc
  .tuple(fc.constantFrom(...openings), fc.array(fc.constantFrom(...fragments), { maxLength: 12 }))
  .map(([opening, parts]) => opening + parts.join(""));

/** Block style, one-line scalars: the shape of a plan. */
const randomPlan = fc
  .array(fc.tuple(fc.constantFrom(...trickyScalars), fc.array(fc.constantFrom(...trickyScalars)), fc.boolean()), {
    minLength: 1,
  })
  .map((phases) =>
    phases
      .map(([scalar, list, isFlow]) => {
        const entries = isFlow ? ` [${list.join(", ")}]` : list.map((entry) => `\n    - ${entry}`).join("");
        return `  - id: ${scalar} # comment\n    list:${entries}\n\n    other: {x: ${scalar}, "y": 1}\n`;
      })
      .join("# between\n"),
  )
  .map((phases) => `title: t\nphases:\n${phases}`);

test.each([
  ["random text", randomText],
  ["plans with tricky scalars", randomPlan],
])("everything the fast reader accepts, the library reads the same way: %s", (_name, texts) => {
  fc.assert(
    fc.property(texts, (text) => {
      const quick = readPlainYaml(text);
      if ("value" in quick) expect(readWithLibrary(text)).toEqual(quick);
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  [
    "block maps and lists",
    "a: 1\nb:\n  - x\n  - y: 2\n    z: 3\nc:\n- 1\n- 2\n",
    { a: 1, b: ["x", { y: 2, z: 3 }], c: [1, 2] },
  ],
  [
    "flow lists and maps",
    "a: [1, two, 'three']\nb: {c: 1, \"d\": [2]}\n",
    { a: [1, "two", "three"], b: { c: 1, d: [2] } },
  ],
  ["lists that span several lines", "a: [\n  1,\n  2,\n  ]\n", { a: [1, 2] }],
  ["one JSON object", '{\n  "a": [1, {"b": null}],\n  "c": "\\u00e9\\n"\n}\n', { a: [1, { b: null }], c: "é\n" }],
  ["comments and blank lines", "# first\na: 1 # one\n\n   # indented\nb: x#y\n", { a: 1, b: "x#y" }],
  ["quotes", `a: "x: y # z"\nb: 'it''s'\n`, { a: "x: y # z", b: "it's" }],
  ["empty values", "a:\nb: ~\nc: []\n", { a: null, b: null, c: [] }],
  ["nothing", "# only a comment\n", null],
])("the fast reader understands %s", (_name, text, value) => {
  expect(readPlainYaml(text)).toEqual({ value });
});

test.each([
  ["a text block", "a: 1\nb: |\n  x\n", 2],
  ["an anchor", "a: &x 1\n", 1],
  ["a key that appears twice", "a: 1\na: 2\n", 2],
  ["a prototype key", "a:\n  __proto__: 1\n", 2],
  ["text that spans two lines", "a: one\n  two\n", 2],
  ["a wrong indent", "a:\n    b: 1\n  c: 2\n", 3],
  ["nesting deeper than its limit", `a: ${"[".repeat(100)}${"]".repeat(100)}\n`, 1],
])("the fast reader stops at %s and says where", (_name, text, line) => {
  expect(readPlainYaml(text)).toEqual({ stoppedAt: line });
});

test.each([
  ["a line several megabytes long", `a: ${"x".repeat(4e6)}`],
  ["megabytes of escapes", `a: "${"\\n".repeat(2e6)}"`],
  ["megabytes of comments", "#\n".repeat(2e6)],
  ["megabytes of brackets", `a: ${"[".repeat(4e6)}`],
])("the fast reader survives %s", (_name, text) => {
  expect(() => readPlainYaml(text)).not.toThrow();
});

// Compares docs/requirements.md with the repository: every cited number exists there, and every test named there exists and cites its
// number.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "./support/project.ts";

const TABLE = "docs/requirements.md";
/** Its samples cite numbers that do not exist. */
const THIS_FILE = "test/requirements.test.ts";

const tag = "[A-Y]\\d{1,3}";
const tags = `${tag}(?:(?:, |-)${tag})*`;
/** "(K158)", "(K142-K145, P9)", "(%s, Y289)": in parentheses that open a word, so that a call such as f(P1) is not one. */
const inParentheses = new RegExp(`(?<=^|[\\s"'\`])\\((?:%[a-z], )*(${tags})\\)`, "gm");
/** "decision C20", "design document S2". */
const behindWord = new RegExp(`\\b(?:decision|document|requirement|promise|fault|threat)s? (${tags})(?![\\w-])`, "gi");
/** Numbers of which some lack their letter: at the end of a title, or beside others that have one. */
const item = "[A-Y]?\\d{1,3}";
const list = new RegExp(`(?<=^|[\\s"'\`])\\((?:%[a-z], )*(${item}(?:(?:, |-|/)${item})*)\\)(["'\`]?)`, "gm");
/** The numbers of a row in the tables of required prose: `["A19, O193", "the startup checks ...", ...]`. */
const proseRow = new RegExp(`^\\s*\\[?"(${tags})",`, "gm");

interface Row {
  number: string;
  cells: string[];
  /** Every path in backticks in the last column. */
  named: string[];
}

describe("a citation", () => {
  test.each([
    ["a comment", "// The table of legal moves (C20).", ["C20"]],
    ["a title", 'test("is retried (K150)", () => {', ["K150"]],
    ["a list", "`report` (M178, M179)", ["M178", "M179"]],
    ["a range", "every hook (Q222-Q224, Q226)", ["Q222", "Q223", "Q224", "Q226"]],
    ["parameters of a title", '])("%s (%i, F15-F17)", () => {', ["F15", "F16", "F17"]],
    ["a title of which it is all", 'describe("(P9)")', ["P9"]],
    ["a word before it", "// Decision C20: what is legal. The block of design document S2.", ["C20", "S2"]],
    ["code in Markdown", "cited by number, as in `(A13)`", ["A13"]],
  ])("is found in %s", (_, text, expected) => {
    expect(citationsIn(text)).toEqual(expected);
  });

  test.each([
    ["a text about something else", "V8 keeps S3 buckets, T1 lines, error TS2, -P4, C1 introducers, F1-F3 keys"],
    ["code", "f(P1, P2); PROGRAMFILES(X86); /[A-Z0-9]/; x[B2](A1)"],
    ["a name that begins like one", "(P9x) (utf8) (A1b2) (K1580) (Z12)"],
  ])("is not %s", (_, text) => {
    expect(citationsIn(text)).toEqual([]);
  });

  test("is found in a table of required prose", () => {
    const text = '  ["E44", "one precedence", [/exported/i]],\n    [\n      "A19, O193",\n      "S3",\n';
    expect(citationsIn(text, "test/support/techlead-prose.ts")).toEqual(["E44", "A19", "O193", "S3"]);
    expect(citationsIn(text)).toEqual([]);
  });

  test.each([
    ['test("presents errors (170)"', ["170"]],
    ['describe("(%s, 173)"', ["173"]],
    ["// judged (P9, 143)", ["P9, 143"]],
    ["(Y286-290)", ["Y286-290"]],
    ['"(C33/34)"', ["C33/34"]],
    ["// exits from outside (124) and so on; my file (1).md; f(1)", []],
  ])("needs the letter of its section: %s", (text, expected) => {
    expect(withoutLetterIn(text, "src/a.test.ts")).toEqual(expected);
  });
});

describe("docs/requirements.md", () => {
  const rows = rowsOf(readFileSync(join(root, TABLE), "utf8"));
  const known = new Set(rows.map(({ number }) => number));
  const sources = filesBelow("").filter((path) => /\.(?:ts|js|md)$/.test(path) && path !== THIS_FILE);
  const cited = new Map(sources.map((path) => [path, new Set(citationsIn(textOf(path), path))]));

  test("numbers the requirements from 1 to 294, and everything else once", () => {
    expect(rows).toHaveLength(known.size);
    const numbers = rows.filter(isRequirement).map(({ number }) => Number(number.slice(1)));
    expect(numbers).toEqual(Array.from({ length: 294 }, (_, at) => at + 1));
    expect(rows.length).toBeGreaterThan(380);
  });

  test("has every number that the repository cites", () => {
    const unknown = [...cited].flatMap(([path, numbers]) =>
      [...numbers].filter((number) => !known.has(number)).map((number) => `${path}: ${number}`),
    );
    expect(unknown).toEqual([]);
    expect(new Set([...cited.values()].flatMap((numbers) => [...numbers])).size).toBeGreaterThan(350);
  });

  test("is cited with the letter of the section", () => {
    const bare = sources.flatMap((path) =>
      withoutLetterIn(textOf(path), path).map((numbers) => `${path}: (${numbers})`),
    );
    expect(bare).toEqual([]);
  });

  test("names a test for every mechanical requirement and every decision that is built", () => {
    const needs = rows.filter((row) => row.cells[2]?.includes("mechanical") || row.cells[2] === "built");
    expect(needs.length).toBeGreaterThan(260);
    expect(needs.filter(({ named }) => !named.some(isTest)).map(({ number }) => number)).toEqual([]);
  });

  test("names only what exists, and only tests that cite the number", () => {
    const named = rows.flatMap(({ number, named: paths }) => paths.map((path) => ({ number, path })));
    expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
    expect(named.filter(({ number, path }) => isTest(path) && !cited.get(path)?.has(number))).toEqual([]);
  });

  test("says of every requirement of which kind it is, and of every decision whether it is built", () => {
    const kinds = new Set(rows.filter(isRequirement).flatMap(({ cells }) => cells[2]?.split(", ")));
    expect(kinds).toEqual(new Set(["mechanical", "text", "review"]));
    const states = rows.filter(({ number }) => number.startsWith("C")).map(({ cells }) => cells[2]);
    expect(states.length).toBeGreaterThan(30);
    expect(states.filter((state) => !["built", "in part", "not built yet"].includes(state ?? ""))).toEqual([]);
  });
});

describe("the rows of the record in docs/requirements.md", () => {
  const rows = [...textOf(TABLE).matchAll(/^\| (record A\d+) \|.*$/gm)].map(([line, row = ""]) => ({
    row,
    named: [...line.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, path = ""]) => path),
  }));

  test("are seventeen, each with a test that has the row in its name", () => {
    expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: 17 }, (_, at) => `record A${at + 1}`));
    expect(rows.filter(({ named }) => named.length === 0)).toEqual([]);
    const without = rows.flatMap(({ row, named }) =>
      named.filter((path) => !textOf(path).includes(`"${row}: `)).map((path) => `${path}: ${row}`),
    );
    expect(without).toEqual([]);
  });
});

function citationsIn(text: string, path = ""): string[] {
  const forms = /^test\/support\/\w+-prose\.ts$/.test(path) ? [proseRow] : [inParentheses, behindWord];
  return forms.flatMap((form) =>
    [...text.matchAll(form)].flatMap(([, found = ""]) => found.split(", ").flatMap(expand)),
  );
}

/** "K142-K145" is four numbers. */
function expand(range: string): string[] {
  const [first = "", last = first] = range.split("-");
  const [from, to] = [Number(first.slice(1)), Number(last.slice(1))];
  return Array.from({ length: to - from + 1 }, (_, at) => `${first.charAt(0)}${from + at}`);
}

function withoutLetterIn(text: string, path: string): string[] {
  return [...text.matchAll(list)].flatMap(([, numbers = "", quote]) => {
    const bare = numbers.split(/, |-|\//).filter((number) => /^\d/.test(number)).length;
    const isMixed = bare > 0 && /[A-Y]/.test(numbers);
    return isMixed || (bare > 0 && quote !== "" && path.endsWith(".test.ts")) ? [numbers] : [];
  });
}

function rowsOf(text: string): Row[] {
  return text.split("\n").flatMap((line) => {
    const cells = line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, ""));
    if (!new RegExp(`^\\| ${tag} \\|`).test(line)) return [];
    const named = [...(cells.at(-1) ?? "").matchAll(/`([\w./-]+)`/g)].map((match) => match[1] as string);
    return [{ number: cells[0] as string, cells, named }];
  });
}

/** The other families have three columns, or a state instead of a kind. */
function isRequirement({ cells }: Row): boolean {
  return cells.length === 4 && /mechanical|text|review/.test(cells[2] ?? "");
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || path.startsWith("test/support/");
}

function textOf(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(?:node_modules|dist|\..*)$/.test(entry.name) ? [] : filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

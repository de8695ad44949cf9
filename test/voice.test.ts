import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { root } from "./support/project.ts";

/** Words that hide the subject, and turns of phrase for which the field has a word of its own. */
const forbidden: readonly (readonly [RegExp, string])[] = [
  [/\b(?:nobody|somebody|anybody|everybody|whoever)\b/i, "name the subject: user, agent, process, file"],
  [/(?<!\bthere )\bis no (?!longer\b|more than\b|less than\b)/i, 'say "is not a"'],
  [/\bmend(?:s|ed|ing)?\b/i, "say fix or repair"],
  [/\bgo(?:es|ing)? on with\b/i, "say resume or continue"],
  [/\bput(?:s|ting)? (?:it |them )?away\b/i, "say archive"],
  [/\blet(?:s|ting)? go of\b/i, "say delete, discard or release"],
  [/\bcarr(?:y|ies|ied|ying)(?: it| them)? out\b/i, "say run"],
  [/\bcomes? to its end\b/i, "say finish or exit"],
  [
    /\bgo(?:es|ing)? on (?:after|from|when|until)\b|\b(?:it|and|agent|run|call|session|conversation|delegation) goes on\b/i,
    "say continue",
  ],
  [/\b(?:is|are|was|were) told (?:at|by|as|once|with|everywhere)\b/i, "say reported, shown or recorded, and by what"],
  [/\bin vain\b/i, "say what does not happen"],
  [/\b(?:bring(?:s|ing)?|brought)(?: \S+){0,2} in(?:to the project)?\b(?!-)/i, "say apply or integrate"],
  [/\ball the same\b/i, "say anyway"],
  [/\bcannot be told (?:from|apart)\b/i, "say distinguished"],
  [
    /\b(?:answer|approval|guard|limit|mode|policy|rule|setting|validation)s? holds? (?:for|in|only)\b/i,
    "say applies or is valid",
  ],
  [/\b(?:never|not|nor|is|are) believed\b/i, "say accepted, rejected or checked"],
];

function faults(text: string): string[] {
  return forbidden.flatMap(([pattern, advice]) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [`"${found.trim()}": ${advice}`];
  });
}

const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** Everything of a source file that a person may read: texts in quotes, and comments. */
function prose(path: string): { line: number; text: string }[] {
  const source = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true);
  const found: { line: number; text: string }[] = [];
  const add = (at: number, text: string) => {
    found.push({ line: source.getLineAndCharacterOfPosition(at).line + 1, text });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      add(node.getStart(), node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found, ...commentsOf(path)];
}

function commentsOf(path: string): { line: number; text: string }[] {
  const text = read(path);
  return [...text.matchAll(/(?<=^|\s)\/\/ .*|\/\*\*[\s\S]*?\*\//g)].map(({ 0: comment, index }) => ({
    line: text.slice(0, index).split("\n").length,
    text: comment,
  }));
}

function faultsOf(paths: readonly string[], read = prose): string[] {
  return paths.flatMap((path) =>
    read(path).flatMap(({ line, text }) => faults(text).map((fault) => `${path}:${line} ${fault}`)),
  );
}

describe("Maestro speaks plain English", () => {
  const sources = tracked.filter((path) => /^(?:src|test|tools|scripts|bench)\/.*\.[jt]sx?$/.test(path));
  const isOfTests = (path: string) => path.startsWith("test/") || path.endsWith(".test.ts");

  test("in every message, help text and comment of the source", () => {
    const own = sources.filter((path) => !isOfTests(path));
    expect(own.length).toBeGreaterThan(300);
    expect(faultsOf(own)).toEqual([]);
  });

  // Texts in quotes are data there: samples of other people's words.
  test("in every comment of the tests", () => {
    const tests = sources.filter(isOfTests);
    expect(tests.length).toBeGreaterThan(300);
    expect(faultsOf(tests, commentsOf)).toEqual([]);
  });

  test("in the names of tests", () => {
    const names = tracked
      .filter((path) => path.endsWith(".test.ts"))
      .flatMap((path) =>
        [...read(path).matchAll(/\b(?:test|describe)(?:\.\w+)?(?:\([^"`]*\))?\(\s*(["`])(.*?)\1/g)].flatMap((match) =>
          faults(match[2] as string).map((fault) => `${path}: ${fault} in ${match[2]}`),
        ),
      );
    expect(names).toEqual([]);
  });

  test("in every document and command", () => {
    const documents = tracked.filter((path) => /\.(?:md|toml)$/.test(path) && !path.startsWith("examples/"));
    expect(documents.length).toBeGreaterThan(40);
    const found = documents.flatMap((path) =>
      read(path)
        .split("\n")
        .flatMap((text, at) => faults(text).map((fault) => `${path}:${at + 1} ${fault}`)),
    );
    expect(found).toEqual([]);
  });

  test.each([
    ["Somebody else is at the session", 1],
    ["Mend that, or let go of it", 2],
    ["go on with the session, or put it away", 2],
    ["the plan is carried out", 1],
    ["a FIFO is no file", 1],
    ["its work is brought into the project", 1],
    ["the answer holds for this file", 1],
    ["the file is no longer there", 0],
    ["There is no active session", 0],
    ["An engine (pid 4121) is already running this session.", 0],
    ["a comma-separated list of recommended amendments", 0],
  ])("and the check judges %j", (text, count) => {
    expect(faults(text)).toHaveLength(count);
  });
});

// Parses TOML as Gemini CLI does. Its parser implements an older TOML than ours: what only ours accepts is a problem too, because the CLI
// drops the file.

import { parse, TomlError } from "smol-toml";
import { type LintProblem, lineAt } from "./problem.ts";

export type TomlResult = { value: Record<string, unknown> } | { problem: Omit<LintProblem, "file"> };

export function readToml(text: string): TomlResult {
  const refused = refusedByTheCli(text);
  if (refused !== undefined) return { problem: refused };
  try {
    const value = parse(text);
    const mixed = findMixedList(value);
    if (mixed === undefined) return { value };
    return { problem: { problem: `the list ${mixed} mixes types of values, which Gemini CLI does not accept` } };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [first = ""] = error.message.split("\n");
    return {
      problem: {
        line: error.line,
        problem: `cannot be read as TOML: ${first.replace(/^Invalid TOML document: /, "")}`,
      },
    };
  }
}

const piece =
  /#[^\n]*|"""(?<long>(?:[^\\]|\\[\s\S])*?)"""(?<more>"*)|'''[\s\S]*?'''(?<more2>'*)|"(?<short>(?:[^"\\\n]|\\.)*)"|'[^'\n]*'/g;

function refusedByTheCli(text: string): Omit<LintProblem, "file"> | undefined {
  if (text.startsWith("\uFEFF"))
    return { line: 1, problem: "starts with a byte order mark, which Gemini CLI does not accept" };
  for (const { index, groups = {} } of text.matchAll(piece)) {
    const line = lineAt(text, index);
    if (groups.more || groups.more2)
      return { line, problem: "a string ends with more than three quotes, which Gemini CLI does not accept" };
    const escapes = [...(groups.long ?? groups.short ?? "").matchAll(/\\([\s\S])/g)].map(
      ([, character]) => character ?? "",
    );
    const strange = escapes.find((character) => !/[btnfruU"\\\s]/.test(character));
    if (strange !== undefined) {
      return {
        line,
        problem: `the escape \\${strange} is not known to Gemini CLI`,
        hint: "Double the backslash, or use ''' quotes.",
      };
    }
  }
  return undefined;
}

/** The name of a list whose items have different types. */
function findMixedList(value: unknown, name = ""): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) && new Set(value.map(kindOf)).size > 1) return name;
  for (const [key, item] of Object.entries(value)) {
    const found = findMixedList(item, name === "" ? key : `${name}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

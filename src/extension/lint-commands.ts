// Checks commands/**/*.toml: Gemini CLI skips a file that it cannot read or that has no prompt, and the user only sees an unknown command.

import type { LintProblem } from "./problem.ts";
import { readToml } from "./toml.ts";
import { listFiles, readText } from "./tree.ts";

export function lintCommands(root: string): LintProblem[] {
  return listFiles(root, "commands").flatMap((file) => {
    if (!file.endsWith(".toml")) return [{ file, problem: "is not a command: only .toml files are" }];
    if (!/^[\w./-]+$/.test(file))
      return [{ file, problem: "has a name with characters that Gemini CLI replaces with _" }];
    return lintCommand(file, readText(root, file) ?? "");
  });
}

function lintCommand(file: string, text: string): LintProblem[] {
  const read = readToml(text);
  if ("problem" in read)
    return [{ file, ...read.problem, hint: read.problem.hint ?? "Gemini CLI drops this command." }];
  const { prompt, description, ...others } = read.value;
  const problems: LintProblem[] = Object.keys(others).map((key) => ({
    file,
    problem: `a command has no key "${key}"`,
  }));
  if (description !== undefined && typeof description !== "string")
    problems.push({ file, problem: "description must be a string" });
  if (description === undefined)
    problems.push({ file, problem: "has no description: the list of commands says nothing about it" });
  if (typeof prompt !== "string" || prompt.trim() === "") {
    return [...problems, { file, problem: "has no prompt string", hint: "Gemini CLI drops this command." }];
  }
  for (const opening of ["!{", "@{"]) {
    if (isLeftOpen(prompt, opening))
      problems.push({ file, problem: `${opening} is not closed: the command fails when it is used` });
  }
  return problems;
}

/** Matches braces as the CLI does: braces inside are counted. */
function isLeftOpen(prompt: string, opening: string): boolean {
  for (let at = prompt.indexOf(opening); at !== -1; at = prompt.indexOf(opening, at + 1)) {
    let depth = 1;
    let index = at + opening.length;
    for (; index < prompt.length && depth > 0; index += 1) depth += { "{": 1, "}": -1 }[prompt[index] ?? ""] ?? 0;
    if (depth > 0) return true;
  }
  return false;
}

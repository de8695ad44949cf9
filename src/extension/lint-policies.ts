// Checks policies/*.toml: Gemini CLI drops a whole file for one bad rule and continues without it, so that nothing is denied.

import { nearest } from "../agents/nearest.ts";
import { MAX_PRIORITY } from "../agents/policy-file.ts";
import { canonicalTool, isKnownTool } from "../agents/tools.ts";
import { objectOf } from "./json.ts";
import { type LintProblem, lineAt, suggestion } from "./problem.ts";
import { readToml } from "./toml.ts";
import { listFiles, readText } from "./tree.ts";

const ruleKeys = [
  "toolName",
  "subagent",
  "mcpName",
  "argsPattern",
  "commandPrefix",
  "commandRegex",
  "decision",
  "priority",
  "modes",
  "interactive",
  "toolAnnotations",
  "allowRedirection",
  "denyMessage",
  "deny_message",
];
const SHELL = "run_shell_command";
const MAX_PATTERN = 2048;

type Say = (problem: string, hint?: string) => void;

export function lintPolicies(root: string, agents: readonly string[]): LintProblem[] {
  return listFiles(root, "policies").flatMap((file) => {
    if (!/^policies\/[^/]+\.toml$/.test(file))
      return [{ file, problem: "is not a policy: only .toml files directly in policies/ are" }];
    return lintPolicy(file, readText(root, file) ?? "", agents);
  });
}

function lintPolicy(file: string, text: string, agents: readonly string[]): LintProblem[] {
  const read = readToml(text);
  if ("problem" in read)
    return [{ file, ...read.problem, hint: read.problem.hint ?? "Gemini CLI drops this file: it denies nothing." }];
  const { rule = [], ...others } = read.value;
  const problems: LintProblem[] = Object.keys(others).map((key) => ({
    file,
    problem: `"${key}" is not used here`,
    hint: "Rules belong under [[rule]].",
  }));
  if (!Array.isArray(rule)) return [...problems, { file, problem: "rules belong under [[rule]], with two brackets" }];
  const places = [...text.matchAll(/^\s*\[\[\s*rule\s*\]\]/gm)].map(({ index, 0: match }) =>
    lineAt(text, index + match.length),
  );
  for (const [index, one] of rule.entries()) {
    const say: Say = (problem, hint) =>
      void problems.push({ file, line: places[index], problem: `rule ${index + 1}: ${problem}`, hint });
    lintRule(objectOf(one), agents, say);
  }
  return problems;
}

function lintRule(rule: Record<string, unknown>, agents: readonly string[], say: Say): void {
  const { decision, priority, subagent, modes } = rule;
  for (const key of Object.keys(rule)) {
    if (!ruleKeys.includes(key)) say(`Gemini CLI ignores the key "${key}"`, suggestion(nearest(key, ruleKeys)));
  }
  if (decision !== "deny")
    say(
      `the decision must be "deny" (got: ${JSON.stringify(decision) ?? "none"})`,
      "Other decisions are ignored in an extension, or ask where no user answers.",
    );
  if (!Number.isInteger(priority) || Number(priority) < 0 || Number(priority) > MAX_PRIORITY) {
    say(
      `priority must be an integer from 0 to ${MAX_PRIORITY} (got: ${JSON.stringify(priority) ?? "none"})`,
      "Gemini CLI drops the whole file.",
    );
  }
  if (subagent !== undefined && !agents.includes(String(subagent)))
    say(`the agent "${subagent}" does not exist`, suggestion(nearest(String(subagent), agents)));
  if (Array.isArray(modes) && modes.includes("yolo"))
    say("a rule for the mode yolo is ignored in an extension", "Remove modes: the rule then applies in every mode.");
  const message = rule.denyMessage ?? rule.deny_message;
  if (typeof message !== "string" || message.trim() === "")
    say("has no denyMessage: the model is not told what to do instead");
  lintTools(rule.toolName, agents, say);
  lintPatterns(rule, say);
}

function lintTools(toolName: unknown, agents: readonly string[], say: Say): void {
  const names = Array.isArray(toolName) ? toolName : [toolName];
  if (names.length === 0 || names.some((name) => typeof name !== "string" || name === "")) {
    say("toolName must be a tool or a list of tools", "Gemini CLI drops the whole file.");
    return;
  }
  for (const name of names) {
    const isReal = isKnownTool(name) && canonicalTool(name) === name;
    if (!isReal && !agents.includes(name)) say(`the tool "${name}" does not exist: the rule denies nothing`);
  }
}

function lintPatterns({ toolName, argsPattern, commandRegex, commandPrefix }: Record<string, unknown>, say: Say): void {
  const ofCommands = [commandRegex, commandPrefix].filter((value) => value !== undefined);
  if (ofCommands.length > 0 && toolName !== SHELL)
    say(`commandRegex and commandPrefix need toolName = "${SHELL}", not a list`);
  if (ofCommands.length + (argsPattern === undefined ? 0 : 1) > 1)
    say("only one of argsPattern, commandRegex and commandPrefix is allowed");
  for (const [key, pattern] of Object.entries({ argsPattern, commandRegex })) {
    if (pattern === undefined) continue;
    if (typeof pattern !== "string") say(`${key} must be a string`);
    else for (const fault of patternFaults(key, pattern)) say(fault);
  }
}

function patternFaults(key: string, pattern: string): string[] {
  const whole = key === "commandRegex" ? `"command":"${pattern}` : pattern;
  try {
    new RegExp(whole);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [`${key} is not a regular expression: ${error.message}`];
  }
  const faults: string[] = [];
  // Gemini CLI's own crude check for patterns with unbounded running time.
  if (whole.length > MAX_PATTERN || /\([^)]*[*+?{].*\)[*+?{]/.test(whole))
    faults.push(
      `${key} is rejected by Gemini CLI: a repeated group with a repetition in it, or over ${MAX_PATTERN} characters`,
    );
  if (key !== "commandRegex") return faults;
  const bare = pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, "");
  if (bare.startsWith("^") || bare.endsWith("$"))
    faults.push(`${key} is matched inside JSON text: ^ and $ match nothing there`);
  if (hasOuterChoice(bare)) faults.push(`${key} has a | outside brackets: its second half would match anywhere`);
  return faults;
}

function hasOuterChoice(bare: string): boolean {
  let depth = 0;
  for (const character of bare) {
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if (character === "|" && depth === 0) return true;
  }
  return false;
}

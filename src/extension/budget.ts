// Estimates what the instructions cost, because every conversation pays for them. A token is estimated as four characters.

import { skillNames } from "./lint-skills.ts";
import type { LintProblem } from "./problem.ts";
import { readText } from "./tree.ts";

/** Limits of single files, and why. */
const limits = [
  {
    file: "CONTEXT.md",
    max: 50,
    hint: "Every conversation and every agent pays for it: only the lead reads GEMINI.md.",
  },
  {
    file: "GEMINI.md",
    max: 900,
    hint: "A lead gets it with every command: move what only some need into a skill.",
  },
];
/** Everything that a standard run reads: context, command, skills, protocols, tools. */
export const MAX_RUN_TOKENS = 12_000;

export interface Part {
  file: string;
  tokens: number;
}

export interface Budget {
  parts: Part[];
  total: number;
}

const fixed = [
  ...limits.map(({ file }) => file),
  "commands/maestro/orchestrate.toml",
  "protocols/agent-base-protocol.md",
  "protocols/filesystem-safety-protocol.md",
];
/** The list of tools that the MCP server publishes. */
const TOOLS = "dist/mcp-list.json";

export function budget(root: string): Budget {
  const files = [...fixed, ...skillNames(root).map((name) => `skills/${name}/SKILL.md`)];
  const parts = files.flatMap((file) => {
    const text = readText(root, file);
    return text === undefined ? [] : [{ file, tokens: tokensOf(text) }];
  });
  const tools = readText(root, TOOLS);
  if (tools !== undefined) parts.push({ file: TOOLS, tokens: tokensOf(toldToLead(tools)) });
  return { parts, total: parts.reduce((sum, { tokens }) => sum + tokens, 0) };
}

export function lintBudget({ parts, total }: Budget): LintProblem[] {
  const problems: LintProblem[] = limits.flatMap(({ file, max, hint }) => {
    const tokens = parts.find((part) => part.file === file)?.tokens ?? 0;
    return tokens < max ? [] : [{ file, problem: `has about ${tokens} tokens; it must have fewer than ${max}`, hint }];
  });
  if (total > MAX_RUN_TOKENS) {
    const [largest] = [...parts].sort((one, other) => other.tokens - one.tokens);
    problems.push({
      file: largest?.file ?? "GEMINI.md",
      problem: `a standard run reads about ${total} tokens of instructions; the limit is ${MAX_RUN_TOKENS}`,
      hint: `This is the largest part, with ${largest?.tokens}.`,
    });
  }
  return problems;
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

function toldToLead(lists: string): string {
  const { techlead } = JSON.parse(lists) as { techlead: object[] };
  return JSON.stringify(techlead);
}

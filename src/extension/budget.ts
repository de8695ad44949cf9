// Estimates what the instructions cost, because every conversation pays for them. A token is estimated as four characters.

import { join } from "node:path";
import { skillNames } from "./lint-skills.ts";
import type { LintProblem } from "./problem.ts";
import { exists, readText } from "./tree.ts";

/** Every session of every user pays for it, and every subagent again. */
const MAX_CONTEXT_TOKENS = 900;
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

const CONTEXT = "GEMINI.md";
const fixed = [
  CONTEXT,
  "commands/maestro/orchestrate.toml",
  "protocols/agent-base-protocol.md",
  "protocols/filesystem-safety-protocol.md",
];
/** The bundled tool table of the MCP server, loaded to see what it publishes. */
const TOOLBOX = "dist/mcp-tools.js";

export async function budget(root: string): Promise<Budget> {
  const files = [...fixed, ...skillNames(root).map((name) => `skills/${name}/SKILL.md`)];
  const parts = files.flatMap((file) => {
    const text = readText(root, file);
    return text === undefined ? [] : [{ file, tokens: tokensOf(text) }];
  });
  if (exists(root, TOOLBOX)) parts.push({ file: TOOLBOX, tokens: tokensOf(await publishedTools(root)) });
  return { parts, total: parts.reduce((sum, { tokens }) => sum + tokens, 0) };
}

export function lintBudget({ parts, total }: Budget): LintProblem[] {
  const context = parts.find(({ file }) => file === CONTEXT)?.tokens ?? 0;
  const problems: LintProblem[] = [];
  if (context >= MAX_CONTEXT_TOKENS) {
    problems.push({
      file: CONTEXT,
      problem: `has about ${context} tokens; it must have fewer than ${MAX_CONTEXT_TOKENS}`,
      hint: "Every session and every subagent pays for it: move what only some need into a skill.",
    });
  }
  if (total > MAX_RUN_TOKENS) {
    const [largest] = [...parts].sort((one, other) => other.tokens - one.tokens);
    problems.push({
      file: largest?.file ?? CONTEXT,
      problem: `a standard run reads about ${total} tokens of instructions; the limit is ${MAX_RUN_TOKENS}`,
      hint: `This is the largest part, with ${largest?.tokens}.`,
    });
  }
  return problems;
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

async function publishedTools(root: string): Promise<string> {
  // A path, not a URL: the build turns import() into require().
  const module = (await import(join(root, TOOLBOX))) as {
    Toolbox: new (machine: object) => { list(): unknown[] };
  };
  const machine = { cwd: () => root, env: {}, now: () => new Date(0), complain: () => undefined };
  return JSON.stringify(new module.Toolbox(machine).list());
}

// The linter of the extension: finds everything that Gemini CLI would silently drop, ignore or accept. Only reads.

import { type Budget, budget, lintBudget } from "./budget.ts";
import { extensionRoster, lintAgents } from "./lint-agents.ts";
import { lintCommands } from "./lint-commands.ts";
import { lintHooks } from "./lint-hooks.ts";
import { lintManifest } from "./lint-manifest.ts";
import { lintPolicies } from "./lint-policies.ts";
import { lintPrograms } from "./lint-programs.ts";
import { lintProse } from "./lint-prose.ts";
import { lintSkills, skillNames } from "./lint-skills.ts";
import type { LintProblem } from "./problem.ts";

export interface LintResult {
  problems: LintProblem[];
  budget: Budget;
}

/** `verbs` are all verbs of the program with their words, as in "session create". */
export async function lintExtension(root: string, verbs: readonly string[]): Promise<LintResult> {
  const roster = extensionRoster(root);
  const agents = [...roster.agents.map(({ name }) => name), ...roster.problems.map(({ agent }) => agent)];
  const cost = budget(root);
  const problems = [
    ...lintManifest(root),
    ...lintAgents(root, roster),
    ...lintHooks(root),
    ...lintPrograms(root),
    ...lintCommands(root),
    ...lintSkills(root),
    ...lintPolicies(root, agents),
    ...lintProse(root, { verbs, agents, skills: skillNames(root) }),
    ...lintBudget(cost),
  ];
  return { problems, budget: cost };
}

// Checks least privilege: the tools that each agent file lists against what its tier allows. Pure over a loaded roster.
import type { Roster } from "./roster.ts";
import { agentTiers, deniedTools, type Tier } from "./tiers.ts";
import { everyTool, isKnownTool } from "./tools.ts";

/** One line per violation; an invalid agent file is one, and its tools are checked as well. */
export function checkPermissions(roster: Roster): string[] {
  if (roster.agents.length + roster.problems.length === 0) return ["ERROR: there are no agents to check"];
  return [
    ...roster.agents.flatMap(({ name, tools }) => {
      if (tools !== undefined) return toolViolations(name, tools);
      return agentTiers.has(name) ? [`ERROR: ${name} has no tools list`] : [];
    }),
    ...roster.problems.flatMap(({ agent, reason, tools }) => [
      `ERROR: ${agent} has invalid front matter: ${reason}`,
      ...toolViolations(agent, tools ?? []),
    ]),
  ];
}

/** What `validate-agent-permissions` prints, and its exit code. */
export function permissionReport(roster: Roster): { lines: string[]; exitCode: number } {
  const violations = checkPermissions(roster);
  if (violations.length === 0) {
    return { lines: [`OK: ${roster.agents.length} agent(s), no permission violations.`], exitCode: 0 };
  }
  const failed = `FAILED: ${violations.length} permission violation(s) found.`;
  return { lines: [...violations, failed], exitCode: Math.min(violations.length, 255) };
}

function toolViolations(agent: string, tools: readonly string[]): string[] {
  const tier = agentTiers.get(agent);
  return [...new Set(tools)].flatMap((tool) => {
    if (!isKnownTool(tool)) return [`ERROR: ${agent} has unrecognized tool: ${tool}`];
    if (tier === undefined || !isDenied(tier, tool)) return [];
    return [`ERROR: ${title(tier)} agent ${agent} has forbidden tool: ${tool}`];
  });
}

function isDenied(tier: Tier, tool: string): boolean {
  return tool === everyTool ? tier !== "full" : deniedTools[tier].includes(tool);
}

function title(tier: Tier): string {
  return tier.charAt(0).toUpperCase() + tier.slice(1);
}

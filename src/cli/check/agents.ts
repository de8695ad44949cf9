// maestro agents check: checks that each agent has only the tools of its tier.

import { permissionReport } from "../../agents/permissions.ts";
import { MaestroError } from "../../errors.ts";
import { agentsDirectory, rosterOf } from "../context.ts";
import { type Io, printJson } from "../io.ts";

export function agentsCheck(io: Io, options: { json?: boolean; quiet?: boolean }): number {
  const roster = rosterOf(io);
  if (!roster.exists) {
    throw new MaestroError("environment", `The agents directory does not exist: ${agentsDirectory(io)}`, {
      hint: "Set MAESTRO_EXTENSION_PATH to the directory of the extension.",
    });
  }
  const { lines, exitCode } = permissionReport(roster);
  if (options.json) {
    const agents = roster.agents.map(({ name, tier, tools }) => ({ name, tier, tools: tools ?? null }));
    const broken = roster.problems.map(({ agent, file, reason }) => ({ agent, file, reason }));
    printJson(io, { valid: exitCode === 0, agents, broken, violations: exitCode === 0 ? [] : lines.slice(0, -1) });
  } else if (exitCode !== 0) {
    const files = roster.problems.map(({ agent, file }) => `  ${agent} is broken: ${file}`);
    io.err(`${[...lines.slice(0, -1), ...files, ...lines.slice(-1)].join("\n")}\n`);
  } else if (!options.quiet) {
    io.out(`${lines.join("\n")}\n`);
  }
  return exitCode;
}

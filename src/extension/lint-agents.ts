// Checks agents/*.md for everything that makes Gemini CLI silently drop an agent, and for tools that its tier does not have.

import { join, relative, sep } from "node:path";
import { checkPermissions } from "../agents/permissions.ts";
import { loadRoster, type Roster } from "../agents/roster.ts";
import { canonicalTool } from "../agents/tools.ts";
import { splitFrontMatter } from "../front-matter.ts";
import type { LintProblem } from "./problem.ts";
import { readText } from "./tree.ts";

const dropped = "Gemini CLI drops this agent.";

export function extensionRoster(root: string): Roster {
  return loadRoster(join(root, "agents"));
}

export function lintAgents(root: string, { exists, agents, problems }: Roster): LintProblem[] {
  if (!exists) return [{ file: "agents", problem: "is missing: Maestro has no agents" }];
  const shown = (file: string) => relative(root, file).split(sep).join("/");
  return [
    ...agents.flatMap((agent) => permissionProblems(shown(agent.file), { exists, agents: [agent], problems: [] })),
    ...problems.flatMap((problem) =>
      permissionProblems(shown(problem.file), { exists, agents: [], problems: [problem] }),
    ),
    ...[...agents, ...problems].flatMap(({ file }) => oldNames(root, shown(file))),
  ];
}

function permissionProblems(file: string, roster: Roster): LintProblem[] {
  return checkPermissions(roster).map((line) => ({
    file,
    problem: line.replace(/^ERROR: /, ""),
    hint: /invalid front matter|unrecognized tool/.test(line) ? dropped : undefined,
  }));
}

/** The roster accepts old tool names; the CLI does not. */
function oldNames(root: string, file: string): LintProblem[] {
  const yaml = splitFrontMatter(readText(root, file) ?? "")?.yaml ?? "";
  const listed = /^tools:([\s\S]*?)^(?=\S)|^tools:([\s\S]*)$/m.exec(yaml)?.[0] ?? "";
  return (listed.match(/[a-z]+(?:_[a-z]+)+/g) ?? [])
    .filter((tool) => canonicalTool(tool) !== tool)
    .map((tool) => ({ file, problem: `lists ${tool}, which is now called ${canonicalTool(tool)}`, hint: dropped }));
}

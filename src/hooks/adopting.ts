// The only part of the hooks that parses YAML. Imports a session that exists only as a view (written by hand, by a script or by an earlier
// version) into a journal, as every command does; finds agent files that cannot be used, which Gemini CLI silently drops; and lists the
// commands of a baseline.

import { join } from "node:path";
import { brokenText } from "../agents/resolve.ts";
import { loadRoster } from "../agents/roster.ts";
import { MaestroError } from "../errors.ts";
import { plannedBaseline } from "../store/files/plan-file.ts";
import { projectStore } from "../store/project-store.ts";
import { type HookInput, recordOf, textValue } from "./input.ts";
import { hookSettings, openHookProject, type Project } from "./project.ts";
import { allow, type Reply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

export function adoptView({ location }: Project, here: Surroundings): void {
  const maxRetries = () => hookSettings(here).MAESTRO_MAX_RETRIES;
  const store = projectStore(location, { now: here.clock, warn: here.log, maxRetries, env: here.env });
  const read = store.read();
  store.close();
  if (read.state === "broken") throw new MaestroError("parse_failed", read.reason);
}

const MAX_BROKEN = 5;

export function brokenAgentLines({ extensionRoot }: Surroundings): string[] {
  const { problems } = loadRoster(join(extensionRoot, "agents"));
  return problems.slice(0, MAX_BROKEN).map((problem) => `Agent problem, tell the user: ${brokenText(problem)}.`);
}

const BASELINE_TOOL = "mcp_maestro_maestro_validate_plan";

/**
 * BeforeTool of maestro_validate_plan: the dialog of the CLI shows the arguments of a call and nothing else, so `baseline: true` is replaced by
 * the list of the commands that it runs. The server compares the list with the plan before it runs anything.
 */
export function listBaseline(input: HookInput, here: Surroundings): Reply {
  const asked = recordOf(input.tool_input);
  if (textValue(input.tool_name) !== BASELINE_TOOL || asked.baseline !== true) return allow;
  const setup = hookSettings(here).MAESTRO_WORKTREE_SETUP;
  const baseline = plannedBaseline(openHookProject(here).location, textValue(asked.plan_path), setup);
  if (baseline === undefined) return allow;
  return { ...allow, hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: { ...asked, baseline } } };
}

// The names that the extension's files may use: tools, settings and variables. Verbs come from the program, agents from agents/.

import { canonicalTool, isKnownTool } from "../agents/tools.ts";
import { EXTENSION_PATH } from "../extension-path.ts";
import { definitions } from "../settings.ts";

/** The tools that Maestro's MCP server offers to the TechLead; a test compares this list and the next one with the server's own table. */
export const maestroTools: readonly string[] = [
  "maestro_session_read",
  "maestro_session_write",
  "maestro_progress",
  "maestro_validate_plan",
  "maestro_dispatch_status",
  "maestro_context_chain",
  "maestro_run",
  "maestro_wait",
  "maestro_decide",
];

/** The tools that it offers only to dispatched specialists. */
export const attemptTools: readonly string[] = ["maestro_request_scope"];
const everyMaestroTool = [...maestroTools, ...attemptTools];

/** The prefix that the CLI gives to the names of the server's tools. */
const prefix = "mcp_maestro_";

/** Arguments of the CLI's own tools, as texts for models may name them. */
export const toolArguments: readonly string[] = [
  "agent_name",
  "wait_for_previous",
  "file_path",
  "dir_path",
  "old_string",
  "new_string",
  "is_background",
];

export const settingNames: readonly string[] = Object.keys(definitions);

/** Variables that are not settings: the extension's path, and what the engine sets for an attempt. */
const attemptVariables = ["MAESTRO_SESSION", "MAESTRO_PHASE", "MAESTRO_AGENT", "MAESTRO_ATTEMPT", "MAESTRO_RUN"];
export const variableNames: readonly string[] = [...settingNames, EXTENSION_PATH, ...attemptVariables];

/** A tool that a model can call by exactly this name in Gemini CLI 0.61, with or without the server's prefix; or the prefix itself. */
export function isTool(name: string): boolean {
  if (name.startsWith(prefix)) return [...everyMaestroTool, "", "*"].includes(name.slice(prefix.length));
  return everyMaestroTool.includes(name) || (isKnownTool(name) && canonicalTool(name) === name);
}

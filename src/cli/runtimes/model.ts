// Which model a runtime is told to use.

import { modelFor } from "../../runtimes/models.ts";
import { DEFAULT_RUNTIME } from "../../runtimes/runtime-table.ts";
import type { ResolvedSettings } from "../../settings.ts";

/**
 * Settings and the agents' front matter name models of Gemini CLI; another runtime gets what the command line names. Null leaves the choice to
 * the runtime.
 */
export function modelOfRuntime(
  agent: { name: string; model?: string | undefined },
  runtime: string,
  { values }: ResolvedSettings,
  flag: string | undefined,
): string | null {
  if (runtime === DEFAULT_RUNTIME || runtime === "rehearsal") return modelFor(agent, values, flag);
  return flag ?? null;
}

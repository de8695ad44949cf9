// Which model a runtime is asked to use.

import { modelFor } from "../../runtimes/models.ts";
import { DEFAULT_RUNTIME } from "../../runtimes/runtime-table.ts";
import type { ResolvedSettings } from "../../settings.ts";

/**
 * Settings and the agents' front matter name models of Gemini CLI; another runtime gets what the command line names. `--model` names a model
 * of the run's own runtime, `main`, which means nothing to one that a phase names or that takes over. Null leaves the choice to the runtime.
 */
export function modelOfRuntime(
  agent: { name: string; model?: string | undefined },
  runtime: string,
  { values }: ResolvedSettings,
  { model, main }: { model?: string | undefined; main: string },
): string | null {
  const flag = runtime === main ? model : undefined;
  if (runtime === DEFAULT_RUNTIME || runtime === "rehearsal") return modelFor(agent, values, flag);
  return flag ?? null;
}

// maestro run: starts a session from a plan and runs it.

import { dashboardBeside, detach, engineOptions } from "../options.ts";
import type { Verb } from "../verb.ts";

export const run: Verb = {
  usage: "run <plan>",
  summary: "run a plan, with agents in parallel",
  options: [
    ...engineOptions,
    { flags: "--task <text>", meaning: "what the user asked for" },
    detach,
    dashboardBeside,
    { flags: "--dry-run", meaning: "show what would run, and change nothing" },
  ],
  examples: [
    "maestro run .gemini/plans/2026-02-14-task-api-impl-plan.md",
    "maestro run plan.md --mode parallel --max-concurrent 4 --timeout 20m",
    "maestro run plan.md --mode parallel --detach && maestro watch",
  ],
  run: async () => (await import("../run/run.ts")).run,
};

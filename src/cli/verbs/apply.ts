// maestro apply: merges the change of an attempt into the project.

import { archivedSession, attemptWithChanges, json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const apply: Verb = {
  usage: "apply <phase>",
  summary: "merge what an attempt changed into the current project files",
  options: [attemptWithChanges, archivedSession, json],
  examples: ["maestro apply 3", "maestro apply 3 --attempt 1 --session 2026-02-14-task-api"],
  isDecision: true,
  run: async () => (await import("../work/apply.ts")).apply,
};

// maestro revert: removes the change of a phase from the project.

import { archivedSession, attemptWithChanges, json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const revert: Verb = {
  usage: "revert <phase>",
  summary: "remove a phase's changes from the project; later changes stay",
  options: [attemptWithChanges, archivedSession, json],
  examples: ["maestro revert 3", "maestro revert 3 --session 2026-02-14-task-api"],
  isDecision: true,
  run: async () => (await import("../work/revert.ts")).revert,
};

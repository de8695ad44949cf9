// maestro validate: checks a plan file.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const validate: Verb = {
  usage: "validate <plan>",
  summary: "check a plan and draw it",
  options: [json],
  examples: ["maestro validate .gemini/plans/2026-02-14-task-api-impl-plan.md", "maestro validate plan.md --json"],
  run: async () => (await import("../check/validate.ts")).validate,
};

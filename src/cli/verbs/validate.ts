// maestro validate: checks a plan file.

import { json, passEnv } from "../options.ts";
import type { Verb } from "../verb.ts";

export const validate: Verb = {
  usage: "validate <plan>",
  summary: "check a plan and draw it",
  options: [
    { flags: "--baseline", meaning: "run the validation commands on a snapshot of the untouched project" },
    { flags: "--baseline-timeout <time>", meaning: "time limit of each of these commands", default: "2m" },
    { flags: "--write", meaning: "write the profile, the cost and the baseline into the plan file" },
    passEnv,
    { flags: "-y, --yes", meaning: "run the commands without asking" },
    json,
  ],
  examples: [
    "maestro validate .gemini/plans/2026-02-14-task-api-impl-plan.md",
    "maestro validate plan.md --baseline --write",
    "maestro validate plan.md --json",
  ],
  isDecision: ({ baseline, write }) => baseline === true || write === true,
  run: async () => (await import("../check/validate.ts")).validate,
};

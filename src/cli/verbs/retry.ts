// maestro retry: records that a failed phase gets another attempt.

import { json, reason } from "../options.ts";
import type { Verb } from "../verb.ts";

export const retry: Verb = {
  usage: "retry <phase>",
  summary: "retry a failed phase",
  options: [
    { flags: "--guidance <text>", meaning: "what to do differently; added to the next prompt" },
    { flags: "--agent <name>", meaning: "agent for further attempts of the phase" },
    { flags: "--model <model>", meaning: "model for further attempts" },
    { flags: "--timeout <time>", meaning: "time limit for further attempts: 90s, 20m" },
    { flags: "--criteria <text>", meaning: "validation criterion instead of the plan's", isRepeatable: true },
    { ...reason, meaning: "reason to record; added to the next prompt" },
    json,
  ],
  examples: [
    "maestro retry 3",
    'maestro retry 3 --guidance "Keep the public API; change src/parse.ts only"',
    'maestro retry 3 --agent refactor --timeout 20m --reason "it was nearly done"',
  ],
  isDecision: true,
  run: async () => (await import("../session/decisions.ts")).retry,
};

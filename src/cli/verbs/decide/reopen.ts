// maestro reopen: records that a completed phase gets another attempt.

import { json, reason } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const reopen: Verb = {
  usage: "reopen <phase>",
  summary: "run a completed phase again",
  options: [
    { flags: "--guidance <text>", meaning: "what to change; the next prompt has it" },
    { ...reason, meaning: "reason to record; the next prompt has it" },
    json,
  ],
  examples: ['maestro reopen 3 --guidance "The empty list is not handled"'],
  isDecision: true,
  run: async () => (await import("../../session/reviews.ts")).reopen,
};

// maestro reopen: records that a completed phase gets another attempt.

import { json, reason } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const reopen: Verb = {
  usage: "reopen <phase>",
  summary: "run a completed phase again",
  options: [
    { flags: "--guidance <text>", meaning: "what to change; added to the next prompt" },
    { ...reason, meaning: "reason to record; added to the next prompt" },
    json,
  ],
  examples: ['maestro reopen 3 --guidance "The empty list is not handled"'],
  isDecision: true,
  run: async () => (await import("../../session/reviews.ts")).reopen,
};

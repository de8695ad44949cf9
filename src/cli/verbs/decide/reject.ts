// maestro reject: records that the reviewed work of a phase is not accepted, and what the next attempt is to change.

import { json, reason } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const reject: Verb = {
  usage: "reject <phase>",
  summary: "reject the work of a phase that waits for a review",
  options: [{ flags: "--guidance <text>", meaning: "what to change; added to the next prompt" }, reason, json],
  examples: ['maestro reject 3 --guidance "Keep the public API; change src/parse.ts only"'],
  isDecision: true,
  run: async () => (await import("../../session/reviews.ts")).reject,
};

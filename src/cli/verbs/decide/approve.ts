// maestro approve: records that the user has reviewed a batch or a phase and approves it.

import { json, reason } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const approve: Verb = {
  usage: "approve <phase-or-batch>",
  summary: "approve the work of a batch or a phase that waits for a review",
  options: [{ flags: "--tree <id>", meaning: "approve only this tree: at least 4 characters of its id" }, reason, json],
  examples: ["maestro approve 3", "maestro approve batch-1 --tree 1f0c2ab94d3e"],
  isDecision: true,
  run: async () => (await import("../../session/reviews.ts")).approve,
};

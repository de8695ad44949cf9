// maestro skip: records that a phase is skipped.

import { json, reason } from "../options.ts";
import type { Verb } from "../verb.ts";

export const skip: Verb = {
  usage: "skip <phase>",
  summary: "skip a phase",
  options: [reason, json],
  examples: ["maestro skip 3", 'maestro skip 3 --reason "done by hand"'],
  isDecision: true,
  run: async () => (await import("../session/decisions.ts")).skip,
};

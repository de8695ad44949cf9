// maestro abort: ends the session for good.

import { json, reason } from "../options.ts";
import type { Verb } from "../verb.ts";

export const abort: Verb = {
  usage: "abort",
  summary: "abort the session for good",
  options: [reason, json],
  examples: ["maestro abort", 'maestro abort --reason "wrong approach"'],
  isDecision: true,
  run: async () => (await import("../session/decisions.ts")).abort,
};

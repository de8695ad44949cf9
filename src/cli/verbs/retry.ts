// maestro retry: records that a failed phase gets another attempt.

import { json, reason } from "../options.ts";
import type { Verb } from "../verb.ts";

export const retry: Verb = {
  usage: "retry <phase>",
  summary: "retry a failed phase",
  options: [{ flags: "--timeout <time>", meaning: "time limit of its attempts: 90s, 20m" }, reason, json],
  examples: ["maestro retry 3", 'maestro retry 3 --timeout 20m --reason "it was nearly done"'],
  isDecision: true,
  run: async () => (await import("../session/decisions.ts")).retry,
};

// maestro stop: stops the engine that runs the session.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const stop: Verb = {
  usage: "stop",
  summary: "stop the running engine; the session can be resumed",
  options: [{ flags: "--force", meaning: "kill the engine and its agents at once" }, json],
  examples: ["maestro stop", "maestro stop --force"],
  isDecision: true,
  run: async () => (await import("../session/decisions.ts")).stop,
};

// maestro status: shows the active session.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const status: Verb = {
  usage: "status",
  summary: "show the state of the session",
  options: [json, { flags: "--conflicts", meaning: "also check for files and plans that changed outside the session" }],
  examples: ["maestro status", "maestro status --json --conflicts"],
  run: async () => (await import("../session/status.ts")).status,
};

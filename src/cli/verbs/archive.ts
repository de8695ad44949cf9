// maestro archive: moves the session and its plans to the archive.

import { acceptOpen, json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const archive: Verb = {
  usage: "archive",
  summary: "archive the session and its plans",
  options: [acceptOpen, json],
  examples: ["maestro archive", "maestro archive --json"],
  isDecision: true,
  run: async () => (await import("../session/archive.ts")).archive,
};

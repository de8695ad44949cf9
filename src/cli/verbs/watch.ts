// maestro watch: shows a session that another process runs.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const watch: Verb = {
  usage: "watch",
  summary: "watch a session that another process runs",
  options: [
    { flags: "--wait <time>", meaning: "how long to wait for an engine: 5s (a bare number: seconds)", default: "5s" },
    json,
  ],
  examples: ["maestro watch", "maestro watch --wait 2m", "maestro watch --json"],
  run: async () => (await import("../run/watch.ts")).watch,
};

// maestro watch: shows a session that another process runs.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const watch: Verb = {
  usage: "watch",
  summary: "watch a session that another process runs",
  options: [json],
  examples: ["maestro watch", "maestro watch --json"],
  run: async () => (await import("../run/watch.ts")).watch,
};

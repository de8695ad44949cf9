// maestro dispatch: runs prompts that another program wrote.

import { grace, passEnv } from "../options.ts";
import type { Verb } from "../verb.ts";

export const dispatch: Verb = {
  usage: "dispatch <dispatch-dir>",
  summary: "run the prompts of a directory, one agent each",
  options: [passEnv, grace],
  examples: ["maestro dispatch .gemini/parallel/phase-2-batch-1", "MAESTRO_MAX_CONCURRENT=2 maestro dispatch batch"],
  run: async () => (await import("../run/dispatch.ts")).dispatch,
};

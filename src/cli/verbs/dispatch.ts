// maestro dispatch: runs prompts that another program wrote.

import { dispatchCodes } from "../../exit-codes.ts";
import { grace, passEnv } from "../options.ts";
import type { Verb } from "../verb.ts";

export const dispatch: Verb = {
  usage: "dispatch <dispatch-dir>",
  summary: "run the prompts of a directory, one agent each",
  options: [{ flags: "--with-protocols", meaning: "prepend the agents' protocols to every prompt" }, passEnv, grace],
  usageCode: dispatchCodes.usage,
  examples: [
    "maestro dispatch .gemini/parallel/phase-2-batch-1",
    "MAESTRO_MAX_CONCURRENT=2 maestro dispatch batch",
    "maestro dispatch --with-protocols batch",
  ],
  run: async () => (await import("../run/dispatch.ts")).dispatch,
};

// maestro verify: proves a phase that was delegated inside Gemini CLI.

import { json, passEnv, validationTimeout } from "../options.ts";
import type { Verb } from "../verb.ts";

export const verify: Verb = {
  usage: "verify <phase>",
  summary: "run the validation commands of a delegated phase and record the result",
  options: [validationTimeout, passEnv, json],
  examples: [
    "maestro verify 3",
    "maestro verify 3 --validation-timeout 30m --json",
    "maestro verify 3 --pass-env DATABASE_URL",
  ],
  run: async () => (await import("../run/verify.ts")).verify,
};

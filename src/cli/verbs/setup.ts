// maestro setup: fewer questions, `maestro` on the PATH, completions.

import { json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const setup: Verb = {
  usage: "setup",
  summary: "reduce the confirmations of Gemini CLI, put maestro on the PATH, install completions",
  options: [
    { flags: "--undo", meaning: "remove what setup installed, except files that were edited" },
    { flags: "--dry-run", meaning: "show what would change and the policy, and change nothing" },
    { flags: "--yes", meaning: "make the changes without asking" },
    json,
  ],
  examples: ["maestro setup --dry-run", "maestro setup", "maestro setup --undo"],
  isDecision: true,
  run: async (all) => {
    const { setup } = await import("../setup/setup.ts");
    return (io, options) => setup(io, options, all());
  },
};

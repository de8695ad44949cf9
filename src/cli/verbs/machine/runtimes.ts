// maestro runtimes: shows which agent programs can play agents on this machine.

import { json } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const runtimes: Verb = {
  usage: "runtimes [names...]",
  summary: "show which agent programs are installed and what each can enforce",
  options: [
    {
      flags: "--check",
      meaning: "run one small task with each installed program and your account; this costs a few tokens",
    },
    json,
  ],
  examples: ["maestro runtimes", "maestro runtimes claude --check", "maestro runtimes --json"],
  run: async () => (await import("../../runtimes/show-runtimes.ts")).showRuntimes,
};

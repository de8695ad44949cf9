// maestro logs: prints what an agent wrote.

import { archivedSession, json } from "../options.ts";
import type { Verb } from "../verb.ts";

export const logs: Verb = {
  usage: "logs <phase>",
  summary: "print the output of a phase's agent",
  options: [
    { flags: "-f, --follow", meaning: "keep printing until the attempt ends" },
    { flags: "--raw", meaning: "print the agent's output file unchanged" },
    { flags: "--attempt <n>", meaning: "number of the attempt (default: the latest)" },
    archivedSession,
    json,
  ],
  examples: ["maestro logs 3", "maestro logs 3 -f", "maestro logs 3 --raw", "maestro logs 3 --attempt 1"],
  run: async () => (await import("../work/logs.ts")).logs,
};

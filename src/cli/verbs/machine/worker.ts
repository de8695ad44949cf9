// maestro worker: runs attempts for engines on other machines.

import { grace, passwordFile } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const worker: Verb = {
  usage: "worker",
  summary: "run attempts for engines on other machines",
  options: [
    { flags: "--queue <url>", meaning: "address of the queue: redis://host:6379 (default: MAESTRO_WORKERS)" },
    {
      flags: "--exchange <url>",
      meaning: "git repository that carries orders and results (default: MAESTRO_EXCHANGE)",
    },
    { flags: "--slots <n>", meaning: "maximum number of attempts at the same time", default: "1" },
    { flags: "--runtimes <names>", meaning: "runtimes that this worker runs (default: those that are installed)" },
    { flags: "--label <name>", meaning: "label that a phase may need, such as gpu", isRepeatable: true },
    { flags: "--name <name>", meaning: "name of this worker (default: host and process)" },
    passwordFile,
    grace,
    {
      flags: "--orphan-limit <time>",
      meaning: "stop an attempt whose engine has been gone this long (default: MAESTRO_ORPHAN_LIMIT)",
    },
  ],
  examples: [
    "maestro worker --queue redis://localhost --exchange /srv/maestro.git",
    "maestro worker --queue redis://build:6379 --exchange ssh://build/srv/maestro.git --slots 4 --label gpu",
  ],
  run: async () => (await import("../../workers/worker.ts")).worker,
};

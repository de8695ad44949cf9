// maestro workers: shows the workers of a queue.

import { json, passwordFile } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const workers: Verb = {
  usage: "workers",
  summary: "show the workers of a queue and what they run",
  options: [
    { flags: "--queue <url>", meaning: "address of the queue: redis://host:6379 (default: MAESTRO_WORKERS)" },
    passwordFile,
    json,
  ],
  examples: ["maestro workers", "maestro workers --queue redis://build:6379 --json"],
  run: async () => (await import("../../workers/workers.ts")).workers,
};

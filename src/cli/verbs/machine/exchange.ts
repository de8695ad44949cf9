// maestro exchange ...: the repository through which attempts reach workers.

import { json } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const exchange: Verb = {
  usage: "exchange",
  summary: "set up the repository between engine and workers",
  examples: ["maestro exchange init git@host:maestro.git"],
  verbs: [
    {
      usage: "init <address>",
      summary: "create an exchange at a path or over ssh, or repair its hook and settings",
      options: [json],
      examples: ["maestro exchange init /srv/maestro.git", "maestro exchange init ssh://git@host/srv/maestro.git"],
      run: async () => (await import("../../workers/exchange.ts")).exchangeInit,
    },
  ],
};

// maestro quota: shows the credentials that sessions on this machine share.

import { json } from "../../options.ts";
import type { Verb } from "../../verb.ts";

export const quota: Verb = {
  usage: "quota",
  summary: "show which sessions share a credential, and its limits",
  options: [json],
  examples: ["maestro quota", "maestro quota --json"],
  run: async () => (await import("../../check/quota.ts")).quota,
};

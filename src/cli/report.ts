// maestro report: what a session did, took and cost.

import { reportJson } from "../views/report-json.ts";
import { spendingJson } from "../views/spending.ts";
import { missingFiles, report as reportOf } from "./conclude.ts";
import { openStore, settingsOf } from "./context.ts";
import { type Io, printJson } from "./io.ts";
import { pricesOf } from "./prices.ts";
import { sessionFor } from "./results.ts";

export function report(io: Io, id: string | undefined, flags: { json?: boolean }): number {
  const settings = settingsOf(io);
  const session = sessionFor(openStore(io, settings), id);
  if (flags.json) {
    const missing = missingFiles(io.cwd, session);
    const facts = reportJson(session, { prices: pricesOf(io, settings), now: io.now(), missingFiles: missing });
    printJson(io, { ...facts, tokens: spendingJson(facts.tokens) });
  } else io.out(`${reportOf(io, settings, session).join("\n")}\n`);
  return 0;
}

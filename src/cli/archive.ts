// maestro archive: ends the session, puts it away, and clears what it left in the repository.

import { MaestroError } from "../errors.ts";
import type { Archived } from "../store/archive.ts";
import { runningEngine } from "../store/engine-lock.ts";
import { settingsOf, withStore } from "./context.ts";
import { type Io, printJson } from "./io.ts";
import { settleFirst, tidyRepository } from "./tidy.ts";

export async function archive(io: Io, options: { json?: boolean }): Promise<number> {
  const settings = settingsOf(io);
  await settleFirst(io, settings, true);
  const archived = withStore(io, settings, (store): Archived => {
    const owner = runningEngine(store.location);
    if (owner !== undefined) {
      throw new MaestroError("environment", `The session is being run by process ${owner.pid} since ${owner.since}`, {
        hint: 'End it first: "maestro stop".',
      });
    }
    return store.archive();
  });
  if (archived.open > 0)
    io.err(`WARNING: ${archived.open} ${archived.open === 1 ? "phase was" : "phases were"} still open\n`);
  tell(io, archived, options);
  await tidyRepository(io, settings);
  return 0;
}

function tell(io: Io, archived: Archived, { json }: { json?: boolean }): void {
  if (json) {
    printJson(io, archived);
    return;
  }
  io.out(`Archived session ${archived.session_id} (${archived.status})\n`);
  for (const path of [archived.session, archived.journal, ...archived.plans]) io.out(`  ${path}\n`);
}

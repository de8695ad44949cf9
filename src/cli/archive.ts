// maestro archive: ends the session and puts it away.

import { MaestroError } from "../errors.ts";
import { runningEngine } from "../store/engine-lock.ts";
import { settingsOf, withStore } from "./context.ts";
import { type Io, printJson } from "./io.ts";

export function archive(io: Io, options: { json?: boolean }): number {
  return withStore(io, settingsOf(io), (store) => {
    const owner = runningEngine(store.location);
    if (owner !== undefined) {
      throw new MaestroError("environment", `The session is being run by process ${owner.pid} since ${owner.since}`, {
        hint: 'End it first: "maestro stop".',
      });
    }
    const archived = store.archive();
    if (archived.open > 0)
      io.err(`WARNING: ${archived.open} ${archived.open === 1 ? "phase was" : "phases were"} still open\n`);
    if (options.json) {
      printJson(io, archived);
      return 0;
    }
    io.out(`Archived session ${archived.session_id} (${archived.status})\n`);
    for (const path of [archived.session, archived.journal, ...archived.plans]) io.out(`  ${path}\n`);
    return 0;
  });
}

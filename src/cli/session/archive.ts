// maestro archive: ends the session, puts it away, and clears what it left in the repository.

import { MaestroError } from "../../errors.ts";
import type { ResolvedSettings } from "../../settings.ts";
import type { Archived } from "../../store/archive.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { settingsOf, withStore } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { SETTLE_TURNS, settle, tidyRepository } from "./tidy.ts";

export async function archive(io: Io, options: { json?: boolean }): Promise<number> {
  const settings = settingsOf(io);
  await settleFirst(io, settings);
  const archived = withStore(io, settings, (store): Archived => {
    refuseWhileRun(store);
    return store.archive();
  });
  if (archived.open > 0)
    io.err(`WARNING: ${archived.open} ${archived.open === 1 ? "phase was" : "phases were"} still open\n`);
  tell(io, archived, options);
  await tidyRepository(io, settings);
  return 0;
}

/** What killed attempts had done is kept first: afterwards nobody knows of it. */
async function settleFirst(io: Io, settings: ResolvedSettings): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn++) {
    const settled = await settle(io, settings, true);
    if (settled === "done") return;
    if (settled !== "busy") throw new MaestroError(settled.code ?? "io", settled.message, { hint: settled.hint });
    withStore(io, settings, refuseWhileRun);
  }
  throw new MaestroError("environment", "Somebody else is at the session, time and again", { hint: "Try again." });
}

function refuseWhileRun({ location }: SessionStore): void {
  const owner = runningEngine(location);
  if (owner === undefined) return;
  throw new MaestroError("environment", `The session is being run by process ${owner.pid} since ${owner.since}`, {
    hint: 'End it first: "maestro stop".',
  });
}

function tell(io: Io, archived: Archived, { json }: { json?: boolean }): void {
  if (json) {
    printJson(io, archived);
    return;
  }
  io.out(`Archived session ${archived.session_id} (${archived.status})\n`);
  for (const path of [archived.session, archived.journal, ...archived.plans]) io.out(`  ${path}\n`);
}

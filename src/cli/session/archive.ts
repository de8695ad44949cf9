// maestro archive: archives the session and its plans, and deletes its leftover refs and worktrees from the repository.

import { recoverBeforeArchive, refuseWhileRunning } from "../../engine/recovery/recover.ts";
import type { Archived } from "../../store/archive.ts";
import { stripControls } from "../../text.ts";
import { settingsOf, withStore } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { pruneAfterArchive, withRecovery } from "./recovery.ts";

export async function archive(io: Io, options: { json?: boolean; acceptOpen?: string }): Promise<number> {
  const settings = settingsOf(io);
  await withRecovery(io, settings, recoverBeforeArchive);
  const archived = withStore(io, settings, (store): Archived => {
    refuseWhileRunning(store.location);
    return store.archive(options.acceptOpen === undefined ? undefined : stripControls(options.acceptOpen));
  });
  if (archived.open > 0)
    io.err(`WARNING: ${archived.open} ${archived.open === 1 ? "phase was" : "phases were"} still open\n`);
  tell(io, archived, options);
  await pruneAfterArchive(io, settings, archived);
  return 0;
}

function tell(io: Io, archived: Archived, { json }: { json?: boolean }): void {
  if (json) {
    printJson(io, archived);
    return;
  }
  io.out(`Archived session ${archived.session_id} (${archived.status}${unmetNote(archived)})\n`);
  for (const path of [archived.session, archived.journal, ...archived.plans]) io.out(`  ${path}\n`);
}

/** What the user accepted stays in sight. */
export function unmetNote({ not_met: ids }: Archived, end = ""): string {
  return ids.length === 0 ? "" : `, not met: ${ids.join(", ")}${end}`;
}

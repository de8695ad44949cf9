// maestro state read|write|active and maestro workspace: the commands behind the documented scripts.

import { MaestroError } from "../../errors.ts";
import { readStateFile, writeStateFile } from "../../store/files/state-file.ts";
import { brokenHint } from "../../store/journal/damage.ts";
import { locateState } from "../../store/location.ts";
import { readSession } from "../../store/read-session.ts";
import { ensureRelativeWorkspace, ensureWorkspace } from "../../store/workspace.ts";
import { renderSession } from "../../views/record/session-view.ts";
import { lenientSettingsOf, settingsOf, withStore } from "../context.ts";
import type { Io } from "../io.ts";

/** A directory given as an argument must satisfy the strict rules of the script; without one, the settings apply. */
export function workspace(io: Io, stateDir: string | undefined): number {
  if (stateDir === undefined) ensureWorkspace(locateState(io.cwd, settingsOf(io).values.MAESTRO_STATE_DIR));
  else ensureRelativeWorkspace(io.cwd, stateDir);
  return 0;
}

export function readState(io: Io, path: string): number {
  readStateFile(io.cwd, path, (chunk) => io.out(Uint8Array.from(chunk)));
  return 0;
}

export async function writeState(io: Io, path: string): Promise<number> {
  io.deferSignals();
  writeStateFile(io.cwd, path, await io.readStdin());
  return 0;
}

/** Prints the active session's document as it is on disk, or renders it from the journal if the file is missing. */
export function activeState(io: Io): number {
  return withStore(io, lenientSettingsOf(io), (store) => {
    const read = store.hasJournal() ? readSession(store) : { state: "none" as const };
    const document = store.readView();
    if (document !== undefined) {
      if (read.state === "broken") io.err(`WARNING: The session cannot be read: ${read.reason}\n`);
      io.out(document);
      return 0;
    }
    if (read.state === "broken") {
      throw new MaestroError("parse_failed", `The session cannot be read: ${read.reason}`, {
        hint: brokenHint(read.kept),
      });
    }
    io.out(read.state === "none" ? "No active session\n" : renderSession(read.session));
    return 0;
  });
}

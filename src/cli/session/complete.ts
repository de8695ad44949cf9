// maestro session complete: ends the session, and archives it too unless MAESTRO_AUTO_ARCHIVE is off.

import { archiveQuestion, completeSession } from "../../store/operations.ts";
import { stripControls } from "../../text.ts";
import { settingsOf, withStore } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { unmetNote } from "./archive.ts";
import { pruneAfterArchive } from "./recovery.ts";

export interface CompleteOptions {
  json?: boolean;
  summary?: string;
  acceptOpen?: string;
}

export async function sessionComplete(io: Io, options: CompleteOptions): Promise<number> {
  const settings = settingsOf(io);
  const clean = (text: string | undefined) => (text === undefined ? undefined : stripControls(text));
  const said = { summary: clean(options.summary), acceptOpen: clean(options.acceptOpen) };
  const archived = withStore(io, settings, (store) =>
    completeSession(store, said, { archive: settings.values.MAESTRO_AUTO_ARCHIVE }),
  );
  if (options.json) printJson(io, { status: "completed", archived });
  else if (archived === null) io.out(`${archiveQuestion}\n`);
  else
    io.out(
      `Session ${archived.session_id} is completed${unmetNote(archived, ",")} and archived in ${archived.session}\n`,
    );
  if (archived !== null) await pruneAfterArchive(io, settings, archived);
  return 0;
}

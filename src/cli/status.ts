// maestro status: where the session stands.

import { positionOf } from "../session/position.ts";
import { conflictsOf } from "../store/operations.ts";
import { brokenHint } from "../store/session-store.ts";
import { sessionJson } from "../views/session-json.ts";
import { statusLines } from "../views/status.ts";
import { settingsOf, withStore } from "./context.ts";
import { type Io, printJson } from "./io.ts";
import { paint } from "./paint.ts";

export function status(io: Io, options: { json?: boolean; conflicts?: boolean }): number {
  return withStore(io, settingsOf(io), (store) => {
    const read = store.read();
    if (read.state === "none") {
      if (options.json) printJson(io, { exists: false });
      else io.out("No active session\n");
      return 0;
    }
    if (read.state === "broken") {
      if (options.json) printJson(io, { exists: false, error: "parse_failed", message: read.reason, kept: read.kept });
      else io.err(`ERROR: The session cannot be read: ${read.reason}\n  ${brokenHint(read.kept)}\n`);
      return 1;
    }
    const { session } = read;
    const conflicts = options.conflicts ? conflictsOf(store.location, session) : null;
    const position = positionOf(session);
    if (options.json) {
      printJson(io, { exists: true, ...sessionJson(session), position, ...(conflicts === null ? {} : { conflicts }) });
    } else {
      io.out(`${statusLines(session, position, conflicts, io.now(), paint(io.color)).join("\n")}\n`);
    }
    return 0;
  });
}

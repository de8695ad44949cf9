// Finds the session that a command means: the active one or an archived one.

import { MaestroError } from "../../errors.ts";
import type { Session } from "../../session/session.ts";
import { readArchived } from "../../store/archived.ts";
import { brokenHint } from "../../store/journal/damage.ts";
import { archivedIds } from "../../store/session-records.ts";
import type { SessionStore } from "../../store/session-store.ts";

const MAX_NAMED = 5;

/** The session with this id; without an id, the active session, or else the last archived one. */
export function sessionFor(store: SessionStore, id?: string): Session {
  const state = store.read();
  if (state.state === "broken" && id === undefined) {
    const message = `The session cannot be read: ${state.reason}`;
    throw new MaestroError("parse_failed", message, { hint: brokenHint(state.kept) });
  }
  const active = state.state === "open" ? state.session : undefined;
  const found = active !== undefined && (id === undefined || active.session_id === id) ? active : undefined;
  const session = found ?? readArchived(store.location, id);
  if (session !== undefined) return session;
  const known = [...(active === undefined ? [] : [active.session_id]), ...archivedIds(store.location)];
  if (id === undefined || known.length === 0) {
    const what = id === undefined ? "No active or archived session exists" : `Session ${id} does not exist`;
    throw new MaestroError("no_session", what, { hint: 'Start one with "maestro run <plan>".' });
  }
  const more = known.length > MAX_NAMED ? ", ..." : "";
  throw new MaestroError("no_session", `Session ${id} does not exist`, {
    hint: `The latest sessions are ${known.slice(0, MAX_NAMED).join(", ")}${more}.`,
  });
}

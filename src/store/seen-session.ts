// The session as a process that only reads shows it: without delegations that look as if their agents were at work although their
// conversation has ended.

import { asSeen } from "../session/seen.ts";
import { openDelegations, type Session } from "../session/session.ts";
import { liveDelegations } from "./files/delegations.ts";
import type { StateLocation } from "./location.ts";

export function seenSession(location: StateLocation, session: Session, now: Date): Session {
  if (openDelegations(session).length === 0) return session;
  return asSeen(session, liveDelegations(location, now));
}

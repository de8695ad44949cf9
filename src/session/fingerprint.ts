// What a session would do if it were run: its plan, reduced to one word. Not the hash that the record claims to have, but what it holds.

import { createHash } from "node:crypto";
import type { FrozenPlan } from "./events.ts";
import type { Session } from "./session.ts";

/** Of a session with these phases. */
export function planFingerprint(sessionId: string, phases: FrozenPlan["phases"]): string {
  return digest(sessionId, phases);
}

/** Of a session as it stands; one that was imported from a view has no plan, and its phases count as the view tells them. */
export function sessionFingerprint({ session_id, phases }: Session): string {
  return digest(
    session_id,
    phases.map(({ plan, id, name, agents, blocked_by }) => plan ?? { id, name, agents, blocked_by }),
  );
}

function digest(sessionId: string, phases: readonly object[]): string {
  return createHash("sha256")
    .update(JSON.stringify([sessionId, phases]))
    .digest("hex");
}

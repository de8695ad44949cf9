// The fingerprint of a session: a hash of its id and its recorded phases, computed from their content and not from the recorded plan hash.

import { createHash } from "node:crypto";
import type { FrozenPlan } from "./events.ts";
import type { Session } from "./session.ts";

/** The fingerprint of a new session with these phases. */
export function planFingerprint(sessionId: string, phases: FrozenPlan["phases"]): string {
  return digest(sessionId, phases);
}

/** The fingerprint of an existing session. One imported from a view has no plan, so the phases of the view are used. */
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

// The session as views show it: a native delegation whose conversation has ended does not look as if its agent were at work. Pure; the
// record itself is corrected by the next process that may write.

import {
  type Attempt,
  isNative,
  lastAttempt,
  type OpenDelegation,
  openDelegations,
  type Session,
  type SessionPhase,
} from "./session.ts";

export function asSeen(session: Session, isLive: (delegation: OpenDelegation) => boolean): Session {
  const lost = new Set<Attempt>(
    openDelegations(session)
      .filter((delegation) => !isLive(delegation))
      .map(({ attempt }) => attempt),
  );
  if (lost.size === 0) return session;
  const marked = (attempt: Attempt): Attempt => (lost.has(attempt) ? { ...attempt, lost: true } : attempt);
  const phases = session.phases.map((phase) => ({ ...phase, attempts: phase.attempts.map(marked) }));
  return { ...session, phases };
}

/** Whether a conversation has delegated the phase and its agent is running. */
export function isDelegated(phase: SessionPhase): boolean {
  const attempt = lastAttempt(phase);
  return (
    phase.status === "in_progress" &&
    attempt !== undefined &&
    isNative(attempt) &&
    attempt.result === null &&
    attempt.lost !== true
  );
}

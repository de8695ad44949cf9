// Which phases may run side by side, as far as the plan's order tells. Pure.

import { findPhase, isClosed, type Session, type SessionPhase } from "./session.ts";

/** Whether some phase that is not closed may run at the same time as this one. */
export function hasConcurrent(session: Session, phase: SessionPhase): boolean {
  if (!phase.parallel) return false;
  const ordered = new Set([...reach(session, phase.id, "before"), ...reach(session, phase.id, "after")]);
  return session.phases.some((other) => other.parallel && !isClosed(other) && !ordered.has(other.id));
}

/** The phase itself, and all that it waits for or that wait for it, directly or through others. */
function reach(session: Session, id: string, direction: "before" | "after"): Set<string> {
  const next = direction === "before" ? blockers(session) : dependents(session);
  const reached = new Set([id]);
  for (const at of reached) for (const other of next(at)) reached.add(other);
  return reached;
}

function blockers(session: Session): (id: string) => readonly string[] {
  return (id) => findPhase(session, id)?.blocked_by ?? [];
}

function dependents({ phases }: Session): (id: string) => readonly string[] {
  const waiting = new Map<string, string[]>();
  for (const { id, blocked_by } of phases) {
    for (const blocker of blocked_by) {
      const list = waiting.get(blocker);
      if (list === undefined) waiting.set(blocker, [id]);
      else list.push(id);
    }
  }
  return (id) => waiting.get(id) ?? [];
}

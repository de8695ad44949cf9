// Two sessions side by side: phases aligned by id or by name, with duration, tries, tokens and changes of each, and the first phase in
// which they differ. Pure.

import { lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { phaseTokens } from "../../views/report/spending.ts";
import { wallTime, workedMs } from "../../views/report/times.ts";
import { workOf } from "../../views/work.ts";

export interface PhaseFigures {
  id: string;
  name: string;
  status: string;
  agent: string;
  ms: number | null;
  tries: number;
  /** Null: unknown. */
  tokens: number | null;
  /** Null: no attempt has recorded changes. */
  changes: { files: number; added: number; removed: number } | null;
}

export interface ComparedPhase {
  one: PhaseFigures | null;
  other: PhaseFigures | null;
  /** What differs besides durations, tokens and line counts. */
  differs: string[];
}

export interface Comparison {
  phases: ComparedPhase[];
  wall: [one: number | null, other: number | null];
  /** The position in `phases` of the first difference; null: none. */
  divergence: number | null;
}

export function compareSessions(one: Session, other: Session, now: Date): Comparison {
  const left = new Map(other.phases.map((phase) => [phase.id as string, phase]));
  const byName = new Map(other.phases.map((phase) => [phase.name, phase]));
  const phases: ComparedPhase[] = one.phases.map((phase) => {
    const sameId = left.get(phase.id);
    const named = byName.get(phase.name);
    // The same name is a better sign than the same number in a plan that was rewritten.
    const match = named !== undefined && left.has(named.id) ? named : sameId;
    if (match !== undefined) left.delete(match.id);
    return pair(figures(one, phase, now), match === undefined ? null : figures(other, match, now));
  });
  for (const phase of left.values()) phases.push(pair(null, figures(other, phase, now)));
  const first = phases.findIndex(({ differs }) => differs.length > 0);
  return {
    phases,
    wall: [wallMs(one, now), wallMs(other, now)],
    divergence: first === -1 ? null : first,
  };
}

function pair(one: PhaseFigures | null, other: PhaseFigures | null): ComparedPhase {
  if (one === null || other === null) return { one, other, differs: ["only in one of them"] };
  const differs: string[] = [];
  if (one.status !== other.status) differs.push("status");
  if (one.agent !== other.agent) differs.push("agent");
  if (one.tries !== other.tries) differs.push("tries");
  if (one.changes?.files !== other.changes?.files) differs.push("files changed");
  return { one, other, differs };
}

function figures(session: Session, phase: SessionPhase, now: Date): PhaseFigures {
  const changes = workOf(phase)?.changes ?? lastAttempt(phase)?.changes;
  return {
    id: phase.id,
    name: phase.name,
    status: phase.status,
    agent: phase.agents[0] ?? "",
    ms: workedMs(session, phase, now),
    tries: phase.attempts.length,
    tokens: phaseTokens(phase),
    changes: changes === undefined ? null : { files: changes.total, added: changes.added, removed: changes.removed },
  };
}

function wallMs(session: Session, now: Date): number | null {
  const wall = wallTime(session, now);
  return wall === null ? null : wall.end - wall.start;
}

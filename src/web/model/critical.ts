// The critical path of a session: the chain of phases whose measured or estimated times add up to the most. Pure.

import { DEFAULT_PHASE_MINUTES, graphOf, longestPath } from "../../plan/graph.ts";
import { isClosed, type Session, type SessionPhase } from "../../session/session.ts";
import { workedMs } from "../../views/report/times.ts";

const MINUTE = 60_000;

/** Positions of phases in `session.phases`, first phase first, and their length. */
export function criticalPath(session: Session, now: Date): { ids: string[]; ms: number } {
  const { phases } = session;
  const { path, length } = longestPath(graphOf(phases), (at) => lengthOf(session, phases[at], now));
  return { ids: path.map((at) => phases[at]?.id ?? ""), ms: length };
}

/** The measured time of a finished phase; of another one the longer of measured and estimated. */
function lengthOf(session: Session, phase: SessionPhase | undefined, now: Date): number {
  if (phase === undefined) return 0;
  const worked = workedMs(session, phase, now) ?? 0;
  if (isClosed(phase)) return worked;
  return Math.max(worked, (phase.plan?.estimate?.minutes ?? DEFAULT_PHASE_MINUTES) * MINUTE);
}

// The facts of a session's final summary as plain data: `report --json` prints them and report.ts draws them.

import { isClosed, type Session, type SessionPhase } from "../../session/session.ts";
import { isInProject, sessionAmount, workOf } from "../work.ts";
import type { Prices } from "./prices.ts";
import { phaseTokens, spendingOf } from "./spending.ts";
import { spansOf, wallTime, workedMs } from "./times.ts";

/** The maximum kept of a command's output; its end. */
const MAX_OUTPUT_CHARS = 4000;

export interface ReportInput {
  prices: Prices;
  now: Date;
  /** Files that a completed phase declared and that do not exist. */
  missingFiles: readonly { phase: string; file: string }[];
}

export type Report = ReturnType<typeof reportJson>;
export type ReportedPhase = Report["phases"][number];

export function reportJson(session: Session, { prices, now, missingFiles }: ReportInput) {
  const wall = wallTime(session, now);
  const phases = session.phases.map((phase) => reported(session, phase, now));
  return {
    session_id: session.session_id,
    title: session.title,
    status: session.status,
    aborted: session.aborted,
    execution_mode: session.execution_mode,
    summary: session.summary,
    total_phases: session.total_phases,
    done: session.phases.filter(isClosed).length,
    started: wall === null ? null : new Date(wall.start).toISOString(),
    ended: wall === null ? null : new Date(wall.end).toISOString(),
    wall_ms: wall === null ? null : wall.end - wall.start,
    /** The sum over all phases, as if they had run one after another. */
    work_ms: phases.reduce((sum, phase) => sum + (phase.worked_ms ?? 0), 0),
    phases,
    /** The changes of all phases that are in the project. */
    changes: sessionAmount(session),
    tokens: spendingOf(session, prices),
    missing_files: [...missingFiles],
    unresolved_errors: session.phases
      .filter((phase) => !isClosed(phase))
      .flatMap((phase) =>
        phase.errors.filter((error) => !error.resolved).map((error) => ({ phase: phase.id, ...error })),
      ),
  };
}

function reported(session: Session, phase: SessionPhase, now: Date) {
  const spans = spansOf(session, phase, now).map(({ start, end, ...span }) => ({
    ...span,
    start: new Date(start).toISOString(),
    end: end === null ? null : new Date(end).toISOString(),
  }));
  return {
    id: phase.id,
    name: phase.name,
    agent: phase.agents[0] ?? null,
    status: phase.status,
    retries: phase.retry_count,
    /** Null when unknown. */
    worked_ms: workedMs(session, phase, now),
    tokens: phaseTokens(phase),
    attempts: spans,
    changes: changesOf(phase),
    granted: phase.granted,
    warnings: phase.warnings,
    evidence: evidenceOf(phase),
  };
}

/** Null when nothing changed, or it is unknown. */
function changesOf(phase: SessionPhase) {
  const work = workOf(phase);
  if (work === undefined) return null;
  return {
    attempt: work.attempt,
    integrated: work.integrated !== undefined,
    in_project: isInProject(phase, work),
    ...work.changes,
  };
}

function evidenceOf({ validation }: SessionPhase) {
  if (validation?.evidence === undefined) return null;
  const { tree, commands } = validation.evidence;
  return {
    result: validation.result,
    tree,
    commands: commands.map((command) => ({ ...command, output: command.output.slice(-MAX_OUTPUT_CHARS) })),
  };
}

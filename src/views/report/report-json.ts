// The facts of a session's final summary as plain data: `report --json` prints them and report.ts draws them.

import { ledgerOf } from "../../session/budget/ledger.ts";
import { toldByUser } from "../../session/retry.ts";
import { awaitsReview } from "../../session/review/review.ts";
import { isClosed, type Session, type SessionPhase } from "../../session/session.ts";
import { claimOf } from "../claim.ts";
import type { EscalationLook } from "../decision/escalation.ts";
import { openDecisions } from "../decision/open-decisions.ts";
import { earlierWork, isInProject, sessionAmount, type WorkedAttempt, workOf } from "../work.ts";
import type { Prices } from "./prices.ts";
import { requirementsJson } from "./report-requirements.ts";
import { runtimesOf } from "./report-runtimes.ts";
import { phaseTokens, spendingOf } from "./spending.ts";
import { spansOf, wallTime, workedMs } from "./times.ts";

/** The maximum kept of a command's output; its end. */
const MAX_OUTPUT_CHARS = 4000;

export interface ReportInput {
  prices: Prices;
  now: Date;
  /** Files that a completed phase declared and that do not exist. */
  missingFiles: readonly { phase: string; file: string }[];
  /** How open decisions are shown; a report without it shows none. */
  decisions?: EscalationLook;
}

export type Report = ReturnType<typeof reportJson>;
export type ReportedPhase = Report["phases"][number];

export function reportJson(session: Session, { prices, now, missingFiles, decisions }: ReportInput) {
  const wall = wallTime(session, now);
  const phases = session.phases.map((phase) => reported(session, phase, now));
  return {
    session_id: session.session_id,
    title: session.title,
    status: session.status,
    aborted: session.aborted,
    execution_mode: session.execution_mode,
    review: session.review,
    summary: session.summary,
    total_phases: session.total_phases,
    done: session.phases.filter(isClosed).length,
    started: wall === null ? null : new Date(wall.start).toISOString(),
    ended: wall === null ? null : new Date(wall.end).toISOString(),
    wall_ms: wall === null ? null : wall.end - wall.start,
    /** The sum over all phases, as if they had run one after another. */
    work_ms: phases.reduce((sum, phase) => sum + (phase.worked_ms ?? 0), 0),
    phases,
    requirements: requirementsJson(session),
    accept_open: session.accept_open,
    /** The changes of all phases that are in the project. */
    changes: sessionAmount(session),
    tokens: spendingOf(session, prices),
    /** Null without a budget. */
    budget: ledgerOf(session),
    missing_files: [...missingFiles],
    open_decisions: decisions === undefined ? [] : openDecisions(session, decisions),
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
    in_review: awaitsReview(session, phase),
    retries: phase.retry_count,
    /** How often the user reopened it, and the last guidance. */
    reopened: phase.reopened ?? 0,
    guidance: toldByUser(phase).guidance ?? null,
    /** Null when unknown. */
    worked_ms: workedMs(session, phase, now),
    tokens: phaseTokens(phase),
    attempts: spans,
    /** What played each attempt of an engine. */
    runtimes: runtimesOf(phase),
    changes: changesOf(phase, workOf(phase)),
    /** Changes of earlier native delegations, and of attempts before the phase was reopened, that are in the project too. */
    earlier_changes: earlierWork(phase).flatMap((work) => changesOf(phase, work) ?? []),
    granted: phase.granted,
    warnings: phase.warnings,
    evidence: evidenceOf(phase),
    /** Null when the report says nothing about validation. */
    claim: claimOf(phase) ?? null,
  };
}

/** Null when nothing changed, or it is unknown. */
function changesOf(phase: SessionPhase, work: WorkedAttempt | undefined) {
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

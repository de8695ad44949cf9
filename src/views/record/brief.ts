// Summarises a session in a few lines for a model: its state and what comes next. It is short, because every turn pays for it. Pure.

import type { Position } from "../../session/position.ts";
import { awaitsIntegration, awaitsValidation, type Session, type SessionPhase } from "../../session/session.ts";

const MAX_LISTED = 6;
export const MAX_TITLE = 48;
const MAX_ERROR = 160;

export function briefLines(session: Session, position: Position): string[] {
  const { counts } = position;
  const mode = session.execution_mode === null ? "execution mode not chosen" : `${session.execution_mode} mode`;
  const done = counts.completed + counts.skipped;
  return [
    `Maestro session ${session.session_id}: ${session.aborted ? "aborted" : session.status}, ${mode}, ${done} of ${session.total_phases} phases done.`,
    ...nextLines(session, position),
  ];
}

/** What runs, what can start, what failed, what is left to do. */
export function nextLines(session: Session, { ready, counts }: Position): string[] {
  if (session.aborted || session.status === "completed") return [];
  if (counts.completed + counts.skipped === session.total_phases) {
    return ["All phases are done: review the whole, then complete the session."];
  }
  const named = (label: string, phases: readonly SessionPhase[]) =>
    phases.length === 0 ? [] : [`${label}: ${listed(phases)}.`];
  const startable = new Set(ready);
  const failed = session.phases.filter((phase) => phase.status === "failed");
  return [
    ...named(
      "In progress",
      session.phases.filter((phase) => phase.status === "in_progress" && !isToBeVerified(phase)),
    ),
    ...named("Reported, to be verified (maestro verify <id>)", session.phases.filter(isToBeVerified)),
    ...named("Failed", failed),
    ...named(
      "Ready",
      session.phases.filter((phase) => startable.has(phase.id)),
    ),
    ...lastError(failed),
  ];
}

/** Work in a worktree is validated when it is integrated. */
function isToBeVerified(phase: SessionPhase): boolean {
  return awaitsValidation(phase) && !awaitsIntegration(phase);
}

function listed(phases: readonly SessionPhase[]): string {
  const shown = phases.slice(0, MAX_LISTED).map(({ id, name, agents }) => {
    return `${id} ${short(name, MAX_TITLE)} (${agents.join(", ")})`;
  });
  return `${shown.join("; ")}${phases.length > shown.length ? `; and ${phases.length - shown.length} more` : ""}`;
}

function lastError(failed: readonly SessionPhase[]): string[] {
  const errors = failed.flatMap(({ id, errors: own }) =>
    own.filter((error) => !error.resolved).map((error) => ({ id, ...error })),
  );
  const last = errors.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1)).at(-1);
  if (last === undefined) return [];
  return [`Last error, phase ${last.id}: ${short(last.message, MAX_ERROR)}`];
}

/** Shortens to one line, by characters and not by columns, because nothing is aligned here and hooks load it. */
export function short(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`;
}

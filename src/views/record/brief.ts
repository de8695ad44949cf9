// Summarises a session in a few lines for a model: its state and what comes next. It is short, because every turn pays for it. Pure.

import { type PhaseState, phaseState } from "../../session/phase/phase-state.ts";
import type { Position } from "../../session/position.ts";
import { isClosed, type Session, type SessionPhase } from "../../session/session.ts";

const MAX_LISTED = 6;
export const MAX_TITLE = 48;
const MAX_ERROR = 160;

/** `isDriven`: whether an engine is running the session. */
export function briefLines(session: Session, position: Position, isDriven: boolean): string[] {
  const { counts } = position;
  const mode = session.execution_mode === null ? "execution mode not chosen" : `${session.execution_mode} mode`;
  const done = counts.completed + counts.skipped;
  return [
    `Maestro session ${session.session_id}: ${session.aborted ? "aborted" : session.status}, ${mode}, ${done} of ${session.total_phases} phases done.`,
    ...nextLines(session, position, isDriven),
  ];
}

/** How to continue, for a conversation that has read no instructions of Maestro. */
export function continueLines(session: Session, isDriven: boolean): string[] {
  if (session.aborted || session.status === "completed") return [];
  if (isDriven) return ["An engine is running it: maestro_wait follows it."];
  return [
    "If the user wants to continue it and you do not lead it yet: activate the skill session-management, section Resume (as /maestro:resume does).",
  ];
}

/** What runs, what can start, what failed, what is left to do. */
export function nextLines(session: Session, { counts }: Position, isDriven: boolean): string[] {
  if (session.aborted || session.status === "completed") return [];
  if (counts.completed + counts.skipped === session.total_phases) {
    return ["All phases are done: review the whole, then complete the session."];
  }
  const named = (label: string, ...states: PhaseState[]) => {
    const phases = session.phases.filter((phase) => states.includes(phaseState(session, phase, isDriven)));
    return phases.length === 0 ? [] : [`${label}: ${listed(phases)}.`];
  };
  return [
    ...named("In progress", "running"),
    ...named("Interrupted", "interrupted"),
    ...named("Agent done, to be integrated", "to_integrate"),
    ...named("Reported, to be verified (maestro verify <id>)", "to_verify"),
    ...named("To be retried", "to_retry"),
    ...named("Failed", "failed"),
    ...named("Ready", "ready"),
    ...lastError(session),
  ];
}

function listed(phases: readonly SessionPhase[]): string {
  const shown = phases.slice(0, MAX_LISTED).map(({ id, name, agents }) => {
    return `${id} ${short(name, MAX_TITLE)} (${agents.join(", ")})`;
  });
  return `${shown.join("; ")}${phases.length > shown.length ? `; and ${phases.length - shown.length} more` : ""}`;
}

function lastError(session: Session): string[] {
  const last = openErrors(session).at(-1);
  return last === undefined ? [] : [`Last error, phase ${last.phase}: ${short(last.message, MAX_ERROR)}`];
}

/** The errors that count until their phase is completed or skipped, also while it is retried; the oldest first. */
function openErrors({ phases }: Session): { phase: string; type: string; timestamp: string; message: string }[] {
  return phases
    .filter((phase) => !isClosed(phase))
    .flatMap(({ id, errors }) => errors.filter(({ resolved }) => !resolved).map((error) => ({ ...error, phase: id })))
    .sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}

/** The newest open errors, one line each. */
export function openErrorLines(session: Session): string[] {
  return openErrors(session)
    .slice(-MAX_LISTED)
    .map(({ phase, type, message }) => `- phase ${phase}, ${type}: ${short(message, MAX_ERROR)}`);
}

/** Shortens to one line, by characters and not by columns, because nothing is aligned here and hooks load it. */
export function short(text: string, length: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`;
}

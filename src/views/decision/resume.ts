// What the user sees before a session resumes: its state, interrupted attempts, errors, and changes made meanwhile. The block of unresolved
// errors is that of design document S2, to the letter.

import type { Conflict, Position } from "../../session/position.ts";
import {
  awaitsIntegration,
  findPhase,
  isClosed,
  lastAttempt,
  type Session,
  type SessionPhase,
} from "../../session/session.ts";
import { plural } from "../text/amount.ts";
import { cut, oneLine } from "../text/cell.ts";
import { ago, durationText } from "../text/duration.ts";
import type { Paint } from "../text/paint.ts";
import { visible } from "../text/visible.ts";
import { amountOf, keptWork } from "../work.ts";
import { conflictLines } from "./conflict-lines.ts";

const MAX_MESSAGE_LINES = 6;
const MAX_LISTED = 20;

/** `looksFixed` are the phases with a change, since their error, to something the error is about. */
export function resumeLines(
  session: Session,
  position: Position,
  conflicts: readonly Conflict[],
  now: Date,
  paint: Paint,
  looksFixed: ReadonlySet<string>,
): string[] {
  return [
    `Session Resume: ${session.session_id}`,
    "",
    ...summaryLines(session, position, now),
    ...interruptedLines(session, now, paint),
    ...waitingLines(session),
    ...errorLines(session, looksFixed, paint),
    "",
    ...conflictLines(session, conflicts, paint),
  ];
}

function summaryLines(session: Session, { counts, last_completed, next, ready }: Position, now: Date): string[] {
  const interrupted = session.phases.filter(isInterrupted).length;
  const parts: [number, string][] = [
    [interrupted, "interrupted"],
    [counts.in_progress - interrupted, "in progress"],
    [counts.failed, "failed"],
    [counts.pending, "pending"],
    [counts.aborted, "aborted"],
  ];
  const others = parts.filter(([count]) => count > 0).map(([count, word]) => `, ${count} ${word}`);
  const current = next === null ? undefined : findPhase(session, next);
  const state = current !== undefined && isInterrupted(current) ? "interrupted" : current?.status.replace("_", " ");
  return [
    oneLine(session.title),
    `Status:         ${session.status.replace("_", " ")}, last change ${ago(session.updated, now)}`,
    `Phases:         ${counts.completed + counts.skipped} of ${session.total_phases} done${others.join("")}`,
    `Last completed: ${last_completed === null ? "none yet" : phaseName(findPhase(session, last_completed))}`,
    `Current:        ${current === undefined ? "none left" : `${phaseName(current)}, ${state}`}`,
    ...(ready.length === 0 ? [] : [`Ready to start: phase ${some(ready)}`]),
  ];
}

/** Started, then stopped from outside or left behind by a crash. */
function isInterrupted(phase: SessionPhase): boolean {
  const attempt = lastAttempt(phase);
  if (phase.status !== "in_progress") return false;
  return attempt === undefined || attempt.result === null || attempt.result.outcome === "interrupted";
}

function interruptedLines(session: Session, now: Date, paint: Paint): string[] {
  const phases = session.phases.filter(isInterrupted);
  if (phases.length === 0) return [];
  const lines = phases
    .slice(0, MAX_LISTED)
    .map((phase) => paint.yellow(`- ${phaseName(phase)}: ${interruption(phase, now)}`));
  const more = phases.length - lines.length;
  return [
    "",
    "Interrupted; they restart with their remaining retries:",
    ...lines,
    ...(more > 0 ? [`  ... and ${more} more`] : []),
  ];
}

/** The agents of these phases are done, but their work was not integrated. */
function waitingLines(session: Session): string[] {
  const phases = session.phases.filter(awaitsIntegration);
  if (phases.length === 0) return [];
  const lines = phases
    .slice(0, MAX_LISTED)
    .map((phase) => `- ${phaseName(phase)}: attempt ${lastAttempt(phase)?.attempt}${also(phase)}`);
  const more = phases.length - lines.length;
  return ["", "Done, not yet integrated into the project:", ...lines, ...(more > 0 ? [`  ... and ${more} more`] : [])];
}

function interruption(phase: SessionPhase, now: Date): string {
  const attempt = lastAttempt(phase);
  if (attempt === undefined)
    return phase.started === null ? "no attempt on record" : `started ${ago(phase.started, now)}, no attempt on record`;
  const retry = phase.retry_count === 0 ? "" : `, retry ${phase.retry_count}`;
  const count = `attempt ${attempt.attempt}${retry}`;
  if (attempt.result === null)
    return `${count}, started ${ago(attempt.started, now)}, its end was not recorded${also(phase)}`;
  return `${count}, stopped after ${durationText(attempt.result.duration_ms)}${also(phase)}`;
}

function also(phase: SessionPhase): string {
  return keptChanges(phase)
    .map((kept) => `; its ${kept}`)
    .join("");
}

function keptChanges(phase: SessionPhase): string[] {
  const work = keptWork(phase);
  if (work === undefined) return [];
  return [`changes are kept, ${amountOf(work.changes)}: maestro diff ${phase.id} shows them`];
}

function errorLines(session: Session, looksFixed: ReadonlySet<string>, paint: Paint): string[] {
  const unresolved = session.aborted
    ? []
    : session.phases.filter((phase) => !isClosed(phase) && phase.errors.some((error) => !error.resolved));
  if (unresolved.length === 0) return [];
  const entries = unresolved.flatMap((phase, at) => [
    "",
    ...errorEntry(phase, at + 1, looksFixed.has(phase.id), paint),
  ]);
  return ["", "Unresolved Errors Detected:", ...entries];
}

/** The answers apply to the phase, so each phase is listed once, with its last error. */
function errorEntry(phase: SessionPhase, number: number, looksFixed: boolean, paint: Paint): string[] {
  const errors = phase.errors.filter((error) => !error.resolved);
  const error = errors.at(-1);
  if (error === undefined) return [];
  const [first = "", ...others] = visible(error.message).trim().split("\n");
  const shown = others.slice(0, MAX_MESSAGE_LINES - 1).map((line) => `          ${line}`);
  const left = others.length - shown.length;
  const verdict = looksFixed
    ? paint.green("It looks fixed: files of this phase have changed since.")
    : paint.dim("It does not look fixed: no file of this phase has changed since.");
  return [
    `${number}. Phase ${phase.id}: ${oneLine(phase.name)}`,
    `   Agent: ${error.agent}`,
    `   Error: ${first}`,
    ...shown,
    ...(left > 0 ? [`          [${plural(left, "more line")}]`] : []),
    `   Timestamp: ${error.timestamp}`,
    "",
    "   Has this issue been manually resolved?",
    "   [Yes - retry phase] [No - show options] [Skip phase]",
    "",
    `   ${verdict}`,
    ...(errors.length === 1
      ? []
      : [
          `   Before it: ${errors
            .slice(0, -1)
            .map((one) => cut(`${one.type}: ${one.message}`, 60))
            .join("; ")}`,
        ]),
    `   Yes: maestro retry ${phase.id}   Skip: maestro skip ${phase.id}   Abort: maestro abort`,
    ...keptChanges(phase).map((kept) => `   Its ${kept}`),
  ];
}

function phaseName(phase: SessionPhase | undefined): string {
  return phase === undefined
    ? "unknown"
    : `phase ${phase.id} ${oneLine(phase.name)} (${phase.agents[0] ?? "no agent"})`;
}

function some(ids: readonly string[]): string {
  return `${ids.slice(0, 10).join(", ")}${ids.length > 10 ? ", ..." : ""}`;
}

// What the user sees before a session resumes: its state, interrupted attempts, errors, and changes made meanwhile. The block of unresolved
// errors is that of design document S2, to the letter.

import type { ErrorRecord } from "../../session/events.ts";
import { phaseState } from "../../session/phase/phase-state.ts";
import type { Conflict, Position } from "../../session/position.ts";
import { awaitsReview } from "../../session/review/review.ts";
import { awaitsIntegration, findPhase, lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { plural } from "../text/amount.ts";
import { oneLine } from "../text/cell.ts";
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
  /** The command that starts Maestro for this user. */
  program = "maestro",
): string[] {
  return [
    `Session Resume: ${session.session_id}`,
    "",
    ...summaryLines(session, position, now),
    ...interruptedLines(session, now, paint, program),
    ...waitingLines(session, program),
    ...errorLines(session, looksFixed, paint, program),
    "",
    ...conflictLines(session, conflicts, paint),
  ];
}

function summaryLines(session: Session, { counts, last_completed, next, ready }: Position, now: Date): string[] {
  const interrupted = session.phases.filter((phase) => isInterrupted(session, phase)).length;
  const parts: [number, string][] = [
    [interrupted, "interrupted"],
    [counts.in_progress - interrupted, "in progress"],
    [counts.failed, "failed"],
    [counts.pending, "pending"],
    [counts.aborted, "aborted"],
  ];
  const others = parts.filter(([count]) => count > 0).map(([count, word]) => `, ${count} ${word}`);
  const current = next === null ? undefined : findPhase(session, next);
  const state =
    current !== undefined && isInterrupted(session, current) ? "interrupted" : current?.status.replace("_", " ");
  return [
    oneLine(session.title),
    `Status:         ${session.status.replace("_", " ")}, last change ${ago(session.updated, now)}`,
    `Phases:         ${counts.completed + counts.skipped} of ${session.total_phases} done${others.join("")}`,
    `Last completed: ${last_completed === null ? "none yet" : phaseName(findPhase(session, last_completed))}`,
    `Current:        ${current === undefined ? "none left" : `${phaseName(current)}, ${state}`}`,
    ...(ready.length === 0 ? [] : [`Ready to start: phase ${some(ready)}`]),
  ];
}

/** Started, then stopped from outside or left behind by a crash. Nothing works on a session that is about to be resumed. */
function isInterrupted(session: Session, phase: SessionPhase): boolean {
  const state = phaseState(session, phase, false);
  return state === "interrupted" || state === "running";
}

function interruptedLines(session: Session, now: Date, paint: Paint, program: string): string[] {
  const phases = session.phases.filter((phase) => isInterrupted(session, phase));
  if (phases.length === 0) return [];
  const lines = phases
    .slice(0, MAX_LISTED)
    .map((phase) => paint.yellow(`- ${phaseName(phase)}: ${interruption(phase, now, program)}`));
  const more = phases.length - lines.length;
  return [
    "",
    "Interrupted; they restart with their remaining retries:",
    ...lines,
    ...(more > 0 ? [`  ... and ${more} more`] : []),
  ];
}

/** The agents of these phases are done, but their work was not integrated. */
function waitingLines(session: Session, program: string): string[] {
  const phases = session.phases.filter(awaitsIntegration);
  if (phases.length === 0) return [];
  const lines = phases.slice(0, MAX_LISTED).map((phase) => {
    const review = awaitsReview(session, phase) ? ", waits for your review" : "";
    return `- ${phaseName(phase)}: attempt ${lastAttempt(phase)?.attempt}${review}${also(phase, program)}`;
  });
  const more = phases.length - lines.length;
  return ["", "Done, not yet integrated into the project:", ...lines, ...(more > 0 ? [`  ... and ${more} more`] : [])];
}

function interruption(phase: SessionPhase, now: Date, program: string): string {
  const attempt = lastAttempt(phase);
  if (attempt === undefined)
    return phase.started === null ? "no attempt on record" : `started ${ago(phase.started, now)}, no attempt on record`;
  const retry = phase.retry_count === 0 ? "" : `, retry ${phase.retry_count}`;
  const count = `attempt ${attempt.attempt}${retry}`;
  if (attempt.result === null)
    return `${count}, started ${ago(attempt.started, now)}, its end was not recorded${also(phase, program)}`;
  return `${count}, stopped after ${durationText(attempt.result.duration_ms)}${also(phase, program)}`;
}

function also(phase: SessionPhase, program: string): string {
  return keptChanges(phase, program)
    .map((kept) => `; its ${kept}`)
    .join("");
}

function keptChanges(phase: SessionPhase, program: string): string[] {
  const work = keptWork(phase);
  if (work === undefined) return [];
  return [`changes are kept, ${amountOf(work.changes)}: ${program} diff ${phase.id} shows them`];
}

function errorLines(session: Session, looksFixed: ReadonlySet<string>, paint: Paint, program: string): string[] {
  const unresolved = session.aborted
    ? []
    : session.phases.filter((phase) => phase.status === "failed" && phase.errors.some(isOpen));
  if (unresolved.length === 0) return [];
  const errors = unresolved.flatMap((phase) => phase.errors.filter(isOpen).map((error) => ({ phase, error })));
  const left = errors.length - MAX_LISTED;
  return [
    "",
    "Unresolved Errors Detected:",
    ...errors.slice(0, MAX_LISTED).flatMap(({ phase, error }, at) => ["", ...errorEntry(phase, error, at + 1)]),
    ...(left > 0 ? ["", `... and ${plural(left, "more error")}`] : []),
    ...unresolved
      .slice(0, MAX_LISTED)
      .flatMap((phase) => ["", ...answerLines(phase, looksFixed.has(phase.id), paint, program)]),
  ];
}

function isOpen({ resolved }: ErrorRecord): boolean {
  return !resolved;
}

function errorEntry(phase: SessionPhase, error: ErrorRecord, number: number): string[] {
  const [first = "", ...others] = visible(error.message).trim().split("\n");
  const shown = others.slice(0, MAX_MESSAGE_LINES - 1).map((line) => `          ${line}`);
  const left = others.length - shown.length;
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
  ];
}

/** Below the block, once for each phase: an answer applies to the phase, not to one of its errors. */
function answerLines(phase: SessionPhase, looksFixed: boolean, paint: Paint, program: string): string[] {
  const verdict = looksFixed
    ? paint.green("It looks fixed: files of this phase have changed since.")
    : paint.dim("It does not look fixed: no file of this phase has changed since.");
  return [
    `Phase ${phase.id}: ${oneLine(phase.name)}`,
    `   ${verdict}`,
    `   Yes: ${program} retry ${phase.id}   Skip: ${program} skip ${phase.id}   Abort: ${program} abort`,
    ...keptChanges(phase, program).map((kept) => `   Its ${kept}`),
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

// When phases and their attempts ran, from the record. An unrecorded end stays unknown.

import type { AttemptOutcome } from "../../session/events.ts";
import {
  type Attempt,
  begunAt,
  isQueued,
  lastAttempt,
  type Session,
  type SessionPhase,
} from "../../session/session.ts";

export interface Span {
  /** Null when the phase was worked on without a recorded attempt: by hand, or delegated with an earlier version. */
  attempt: number | null;
  start: number;
  /** Null when not recorded. */
  end: number | null;
  outcome: AttemptOutcome | "running" | "queued" | "unseen";
  /** The worker that ran it; absent for an attempt of this machine. */
  worker?: string;
}

/** Oldest first. */
export function spansOf(session: Session, phase: SessionPhase, now: Date): Span[] {
  if (phase.attempts.length > 0) return phase.attempts.map((attempt) => spanOf(session, phase, attempt, now));
  if (phase.started === null) return [];
  const start = Date.parse(phase.started);
  if (phase.completed !== null) {
    return [{ attempt: null, start, end: Date.parse(phase.completed), outcome: "success" }];
  }
  const isRunning = phase.status === "in_progress" && session.status === "in_progress";
  return [{ attempt: null, start, ...(isRunning ? running(now) : unseen) }];
}

/** The attempt that is working on the phase now, according to the record. */
export function runningAttempt(session: Session, phase: SessionPhase): Attempt | undefined {
  const attempt = lastAttempt(phase);
  const isRunning = phase.status === "in_progress" && session.status === "in_progress" && attempt?.result === null;
  return isRunning && attempt.lost !== true ? attempt : undefined;
}

/** How long the phase took, including retries and validation but not waits; null when unknown. */
export function workedMs(session: Session, phase: SessionPhase, now: Date): number | null {
  if (phase.attempts.length === 0) return lengthOf(spansOf(session, phase, now)[0]);
  const running = runningAttempt(session, phase);
  let worked: number | null = null;
  // Every frame of the live table calls this for every phase, so it parses only the dates it needs.
  for (const attempt of phase.attempts) {
    if (attempt.result !== null) worked = (worked ?? 0) + attempt.result.duration_ms;
    if (attempt === running && !isQueued(attempt))
      worked = (worked ?? 0) + Math.max(0, now.getTime() - startOf(attempt));
  }
  return worked === null ? null : worked + validationMs(phase);
}

function lengthOf(span: Span | undefined): number | null {
  return span === undefined || span.end === null ? null : Math.max(0, span.end - span.start);
}

/** From the first start to the last end; null before anything has run. */
export function wallTime(session: Session, now: Date): { start: number; end: number } | null {
  let wall: { start: number; end: number } | null = null;
  for (const phase of session.phases) {
    for (const { start, end } of spansOf(session, phase, now)) {
      wall ??= { start, end: start };
      wall = { start: Math.min(wall.start, start), end: Math.max(wall.end, end ?? start) };
    }
  }
  return wall;
}

/** When its agent began, as far as it is known; of an attempt in the queue, when it was offered. */
export function startOf(attempt: Attempt): number {
  return Date.parse(begunAt(attempt) ?? attempt.started);
}

function spanOf(session: Session, phase: SessionPhase, attempt: Attempt, now: Date): Span {
  const place = attempt.worker === undefined ? {} : { worker: attempt.worker };
  const span = { attempt: attempt.attempt, start: startOf(attempt), ...place };
  if (attempt.result !== null) {
    // Not the time of recording, because a result may be found long after its process ended. Its validation is included.
    const end = Math.max(span.start + attempt.result.duration_ms, Date.parse(attempt.validated?.at ?? "") || 0);
    const outcome = attempt.validated?.result === "fail" ? "failure" : attempt.result.outcome;
    return { ...span, end, outcome };
  }
  if (runningAttempt(session, phase) !== attempt) return { ...span, ...unseen };
  return { ...span, ...running(now), ...(isQueued(attempt) ? { outcome: "queued" } : {}) };
}

function running(now: Date): Pick<Span, "end" | "outcome"> {
  return { end: now.getTime(), outcome: "running" };
}

const unseen: Pick<Span, "end" | "outcome"> = { end: null, outcome: "unseen" };

/** From the end of the last attempt to the completion. */
function validationMs(phase: SessionPhase): number {
  const { validation, completed } = phase;
  const attempt = lastAttempt(phase);
  if (validation === undefined || completed === null || !attempt?.result || attempt.result.adopted) return 0;
  return Math.max(0, Date.parse(completed) - startOf(attempt) - attempt.result.duration_ms);
}

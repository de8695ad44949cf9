// One phase in the live table: what it is doing, and the most useful remark about it.

import { phaseState, waitsFor } from "../../session/phase/phase-state.ts";
import { awaitsReview } from "../../session/review/review.ts";
import { type Attempt, isQueued, lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { phaseTokens } from "../report/spending.ts";
import { runningAttempt, startOf, workedMs } from "../report/times.ts";
import { reopenedText } from "../retry.ts";
import { compact } from "../text/amount.ts";
import { stopwatch } from "../text/duration.ts";
import { headline } from "../text/headline.ts";
import type { Paint } from "../text/paint.ts";
import { placeText } from "../text/place.ts";
import { symbols } from "../text/symbols.ts";

/** What a frame needs besides the session. */
export interface Live {
  /** How many attempts may run in parallel; null means no limit. */
  slots: number | null;
  /** The latest activity of each running phase, by id. */
  activity: ReadonlyMap<string, string>;
  /** The tokens of each running attempt so far, by phase. */
  tokens?: ReadonlyMap<string, number>;
  /** The largest share of the work that was shown as done, 0 to 1: the bar does not go back when an estimate does. */
  shownDone?: number;
  now: Date;
  engine?: { pid: number };
}

export interface LiveRow {
  symbol: string;
  color: keyof Paint;
  /** The colour of the rest of the row: bright when it needs the user, dim when nothing happens. */
  tone: keyof Paint | null;
  cells: Record<"id" | "name" | "agent" | "state" | "time" | "attempt" | "tokens" | "activity", string>;
}

/** A word for what a phase is doing; a lower rank matters more right now. */
export interface Standing {
  word: string;
  rank: number;
  /** Whether its activity is shown. */
  isBusy: boolean;
}

export function standingOf(session: Session, phase: SessionPhase, { now }: { now: Date }): Standing {
  switch (phase.status) {
    case "in_progress":
      return { word: doing(session, phase, now), rank: 0, isBusy: true };
    case "failed":
      return { word: "failed", rank: 1, isBusy: true };
    case "pending": {
      const isReady = phaseState(session, phase, true) === "ready";
      return { word: isReady ? "ready" : "waiting", rank: isReady ? 2 : 3, isBusy: false };
    }
    case "completed":
      return { word: "done", rank: 5, isBusy: false };
    default:
      return { word: phase.status, rank: 4, isBusy: false };
  }
}

function doing(session: Session, phase: SessionPhase, now: Date): string {
  if (awaitsReview(session, phase)) return "review";
  if (session.status !== "in_progress") return "stopped";
  const running = runningAttempt(session, phase);
  if (running !== undefined) return isQueued(running) ? "queued" : "running";
  if (lastAttempt(phase)?.lost === true) return "stopped";
  const outcome = lastAttempt(phase)?.result?.outcome;
  if (outcome === undefined) return "working";
  if (outcome === "success") return "checking";
  const isRefused = session.quota !== null && Date.parse(session.quota.until) > now.getTime();
  if (isRefused) return "quota";
  return outcome === "interrupted" ? "stopped" : "retrying";
}

export function liveRow(session: Session, phase: SessionPhase, live: Live): LiveRow {
  const [symbol, color] = symbols[phase.status];
  const { word } = standingOf(session, phase, live);
  const attempt = lastAttempt(phase)?.attempt;
  return {
    symbol,
    color,
    tone: phase.status === "failed" ? "red" : phase.status === "pending" || phase.status === "skipped" ? "dim" : null,
    cells: {
      id: phase.id,
      name: phase.name,
      agent: phase.agents[0] ?? "",
      state: word,
      time: timeOf(session, phase, live.now),
      attempt: attempt === undefined ? "" : String(attempt),
      tokens: tokensOf(phase, live),
      activity: activityOf(session, phase, live),
    },
  };
}

/** For a running phase, the time since its attempt started, or since it waits for a worker; for an ended one, its total time. */
function timeOf(session: Session, phase: SessionPhase, now: Date): string {
  const attempt = runningAttempt(session, phase);
  if (attempt !== undefined) return stopwatch(now.getTime() - startOf(attempt));
  const worked = workedMs(session, phase, now);
  return worked === null ? "" : stopwatch(worked);
}

function tokensOf(phase: SessionPhase, live: Live): string {
  const recorded = phaseTokens(phase);
  const running = lastAttempt(phase)?.result === null ? live.tokens?.get(phase.id) : undefined;
  if (recorded !== null || running !== undefined) return compact((recorded ?? 0) + (running ?? 0));
  return phase.attempts.some((attempt) => attempt.result !== null) ? "?" : "";
}

/** The most useful remark about the phase, on one line. */
export function activityOf(session: Session, phase: SessionPhase, live: Live): string {
  switch (standingOf(session, phase, live).word) {
    case "waiting": {
      const waits = waitsFor(session, phase);
      return waits.length === 0 ? "" : `after ${waits.slice(0, 8).join(", ")}${waits.length > 8 ? ", ..." : ""}`;
    }
    case "quota":
      return "rejected for now, to be retried";
    case "ready":
      return phase.parallel ? "" : "runs alone";
    case "failed":
    case "retrying":
      return headline(phase.errors.at(-1)?.message ?? "");
    case "done":
      return afterwards(phase);
    case "review":
      return "waits for your review";
    default:
      return [...startedText(runningAttempt(session, phase)), live.activity.get(phase.id) ?? ""]
        .filter(Boolean)
        .join(": ");
  }
}

/** The runtime that took over for a running attempt, and the worker that it runs on. */
function startedText(attempt: Attempt | undefined): string[] {
  const { runtime, instead_of } = attempt ?? {};
  return [instead_of === undefined ? "" : `${runtime} instead of ${instead_of}`, placeText(attempt)];
}

/** "after 2 retries, reopened" */
function afterwards(phase: SessionPhase): string {
  const { retry_count: retries } = phase;
  const retried = retries === 0 ? "" : `after ${retries === 1 ? "a retry" : `${retries} retries`}`;
  return [retried, reopenedText(phase)].filter((text) => text !== "").join(", ");
}

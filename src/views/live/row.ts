// One phase in the live table: what it is doing, and what is worth saying about it.

import { findPhase, isClosed, lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { phaseTokens } from "../report/spending.ts";
import { runningAttempt, workedMs } from "../report/times.ts";
import { compact } from "../text/amount.ts";
import { stopwatch } from "../text/duration.ts";
import { headline } from "../text/headline.ts";
import type { Paint } from "../text/paint.ts";
import { symbols } from "../text/symbols.ts";

/** What a frame is drawn from, besides the session. */
export interface Live {
  /** How many attempts may run side by side; null: all that are ready. */
  slots: number | null;
  /** What each running phase did last, by id. */
  activity: ReadonlyMap<string, string>;
  now: Date;
  engine?: { pid: number };
}

export interface LiveRow {
  symbol: string;
  color: keyof Paint;
  /** Of the rest of the row: loud when it needs a person, quiet when nothing happens to it. */
  tone: keyof Paint | null;
  cells: Record<"id" | "name" | "agent" | "state" | "time" | "attempt" | "tokens" | "activity", string>;
}

/** A word for what a phase is doing; the lower the rank, the more it matters now. */
export interface Standing {
  word: string;
  rank: number;
  /** There is news of it. */
  isBusy: boolean;
}

export function standingOf(session: Session, phase: SessionPhase, { now }: { now: Date }): Standing {
  switch (phase.status) {
    case "in_progress":
      return { word: doing(session, phase, now), rank: 0, isBusy: true };
    case "failed":
      return { word: "failed", rank: 1, isBusy: true };
    case "pending": {
      const isReady = waitsFor(session, phase).length === 0 && !session.aborted;
      return { word: isReady ? "ready" : "waiting", rank: isReady ? 2 : 3, isBusy: false };
    }
    case "completed":
      return { word: "done", rank: 5, isBusy: false };
    default:
      return { word: phase.status, rank: 4, isBusy: false };
  }
}

function doing(session: Session, phase: SessionPhase, now: Date): string {
  if (session.status !== "in_progress") return "stopped";
  if (runningAttempt(session, phase) !== undefined) return "running";
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
      tokens: tokensOf(phase),
      activity: activityOf(session, phase, live),
    },
  };
}

/** Of what runs, since it started; of what ended, all it took. */
function timeOf(session: Session, phase: SessionPhase, now: Date): string {
  const attempt = runningAttempt(session, phase);
  if (attempt !== undefined) return stopwatch(now.getTime() - Date.parse(attempt.started));
  const worked = workedMs(session, phase, now);
  return worked === null ? "" : stopwatch(worked);
}

function tokensOf(phase: SessionPhase): string {
  const tokens = phaseTokens(phase);
  if (tokens !== null) return compact(tokens);
  return phase.attempts.some((attempt) => attempt.result !== null) ? "?" : "";
}

/** What is worth saying about the phase, in one line or cut to it. */
export function activityOf(session: Session, phase: SessionPhase, live: Live): string {
  switch (standingOf(session, phase, live).word) {
    case "waiting": {
      const waits = waitsFor(session, phase);
      return waits.length === 0 ? "" : `after ${waits.slice(0, 8).join(", ")}${waits.length > 8 ? ", ..." : ""}`;
    }
    case "quota":
      return "refused for now, to be tried again";
    case "ready":
      return phase.parallel ? "" : "runs alone";
    case "failed":
    case "retrying":
      return headline(phase.errors.at(-1)?.message ?? "");
    case "done":
      return phase.retry_count === 0
        ? ""
        : `after ${phase.retry_count === 1 ? "a retry" : `${phase.retry_count} retries`}`;
    default:
      return live.activity.get(phase.id) ?? "";
  }
}

function waitsFor(session: Session, phase: SessionPhase): string[] {
  return phase.blocked_by.filter((id) => !isClosed(findPhase(session, id) ?? { status: "missing" }));
}

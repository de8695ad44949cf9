// The sign of each state: a shape, a word and a tone, so that colour alone never carries a meaning. Pure.

import type { AttemptOutcome } from "../../session/events.ts";
import { type PhaseState, phaseState } from "../../session/phase/phase-state.ts";
import { isQueued, lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";

/** What came of an attempt. `unaccepted`: its agent reported success, and the work was not taken. */
export type BarOutcome = AttemptOutcome | "running" | "queued" | "unseen" | "unaccepted";

export type Tone = "good" | "bad" | "warn" | "run" | "calm" | "ask";

export interface StateSign {
  shape: string;
  word: string;
  tone: Tone;
}

const stateSigns: Record<PhaseState, StateSign> = {
  waiting: { shape: "○", word: "waiting", tone: "calm" },
  ready: { shape: "◎", word: "ready", tone: "calm" },
  held: { shape: "‖", word: "held for review", tone: "ask" },
  not_started: { shape: "○", word: "not started", tone: "calm" },
  running: { shape: "▶", word: "running", tone: "run" },
  to_verify: { shape: "◇", word: "to verify", tone: "warn" },
  in_review: { shape: "◆", word: "in review", tone: "ask" },
  to_integrate: { shape: "⇥", word: "to integrate", tone: "warn" },
  to_retry: { shape: "↻", word: "to retry", tone: "warn" },
  interrupted: { shape: "◐", word: "interrupted", tone: "warn" },
  failed: { shape: "✗", word: "failed", tone: "bad" },
  completed: { shape: "✓", word: "completed", tone: "good" },
  skipped: { shape: "↷", word: "skipped", tone: "warn" },
  aborted: { shape: "■", word: "aborted", tone: "bad" },
};

/** An engine works on a phase between its attempts too, but no agent does: that does not look as if it ran. */
export function phaseSign(session: Session, phase: SessionPhase, isDriven: boolean): StateSign {
  const state = phaseState(session, phase, isDriven);
  const attempt = lastAttempt(phase);
  if (state !== "running" || attempt === undefined) return stateSigns[state];
  if (isQueued(attempt)) return outcomeSigns.queued;
  const { result } = attempt;
  return result === null || result.outcome === "success" ? stateSigns.running : stateSigns.to_retry;
}

export const outcomeSigns: Record<BarOutcome, StateSign> = {
  success: { shape: "✓", word: "succeeded", tone: "good" },
  running: { shape: "▶", word: "running", tone: "run" },
  failure: { shape: "✗", word: "failed", tone: "bad" },
  timeout: { shape: "✗", word: "timed out", tone: "bad" },
  unaccepted: { shape: "✗", word: "done, not accepted", tone: "bad" },
  interrupted: { shape: "◐", word: "interrupted", tone: "warn" },
  quota: { shape: "◐", word: "rejected for quota", tone: "warn" },
  queued: { shape: "○", word: "waits for a worker", tone: "calm" },
  unseen: { shape: "?", word: "end not recorded", tone: "warn" },
};

const sessionSigns: Record<string, StateSign> = {
  in_progress: { shape: "▶", word: "in progress", tone: "run" },
  completed: { shape: "✓", word: "completed", tone: "good" },
  failed: { shape: "✗", word: "failed", tone: "bad" },
  interrupted: { shape: "◐", word: "interrupted", tone: "warn" },
};

/** A session in progress without an engine does not look as if it were running. */
export function sessionSign(status: string, { isAborted = false, isIdle = false } = {}): StateSign {
  if (isAborted) return { shape: "■", word: "aborted", tone: "bad" };
  if (isIdle && status === "in_progress") return { shape: "‖", word: "not running", tone: "warn" };
  return sessionSigns[status] ?? { shape: "?", word: status, tone: "calm" };
}

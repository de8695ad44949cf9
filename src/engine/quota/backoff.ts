// How a session slows down on quota errors: exponential back-off with full jitter, and fewer attempts at a time. Pure: the caller
// supplies the time and the random numbers.

export interface Backoff {
  /** Quota errors since the last success; a burst counts once. */
  hits: number;
  /** Nothing is launched before this time; -Infinity: no wait. */
  until: number;
  /** How many attempts may run at a time. */
  slots: number;
  /** The time of the first quota error since the last success; null when there was none. */
  since: number | null;
}

interface Refusal {
  /** Monotonic milliseconds, like every time in this file. */
  now: number;
  /** The wait that the provider asked for, if any. */
  retryAfterMs?: number | null | undefined;
  /** The longest first wait; 5 s by default. */
  baseMs?: number | undefined;
  /** Returns a number from 0 up to, but not including, 1. */
  random: () => number;
  /** Attempts that ran when the error came, including the rejected one. */
  running: number;
}

const QUOTA_BASE_MS = 5_000;
const LONGEST_DELAY_MS = 5 * 60_000;

export function startBackoff(slots: number): Backoff {
  return { hits: 0, until: Number.NEGATIVE_INFINITY, slots, since: null };
}

export function onQuota(state: Backoff, refusal: Refusal): Backoff {
  const { now, baseMs = QUOTA_BASE_MS, random, running } = refusal;
  const hint = refusal.retryAfterMs ?? 0;
  const since = state.since ?? now;
  if (now < state.until) {
    // The rest of a burst: these attempts were already running when the first one was rejected. Only the provider's hint extends the wait.
    return { ...state, since, hits: Math.max(1, state.hits), until: Math.max(state.until, now + hint) };
  }
  const hits = state.hits + 1;
  const delay = Math.min(LONGEST_DELAY_MS, baseMs * 2 ** Math.min(hits - 1, 30));
  const slots = Math.max(1, Math.floor(Math.min(state.slots, running) / 2));
  return { hits, until: now + Math.max(hint, random() * delay), slots, since };
}

export function onSuccess(state: Backoff, now: number, maxSlots: number): Backoff {
  // An attempt that succeeds during a wait was launched before it, so it does not show that more attempts are possible.
  const slots = now < state.until ? state.slots : Math.min(maxSlots, state.slots + 1);
  return { ...state, hits: 0, slots, since: null };
}

/** Whether quota errors without a success have lasted longer than `quotaWaitMs`, or will have by the end of the current wait. */
export function isExhausted(state: Backoff, now: number, quotaWaitMs: number): boolean {
  return state.since !== null && Math.max(now, state.until) - state.since > quotaWaitMs;
}

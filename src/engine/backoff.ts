// How a session slows down when the provider refuses: waits that double, with full jitter, and fewer attempts at a time. Pure: state in,
// state out; the clock and the dice are the caller's.

export interface Backoff {
  /** Refusals since the last success; a burst counts once. */
  hits: number;
  /** Nothing is launched before it; -Infinity: free. */
  until: number;
  /** How many may run at a time. */
  slots: number;
  /** The first refusal since the last success; null: there was none. */
  since: number | null;
}

interface Refusal {
  /** Monotonic ms, as everywhere here. */
  now: number;
  /** The provider's own hint, if it gave one. */
  retryAfterMs?: number | null | undefined;
  /** The first wait; 5 s when it is not given. */
  baseMs?: number | undefined;
  /** At least 0, less than 1. */
  random: () => number;
  /** Attempts that ran when the refusal came, the refused one included. */
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
    // The rest of a burst: those attempts were under way when the first was refused. Only the provider can make the wait longer.
    return { ...state, since, hits: Math.max(1, state.hits), until: Math.max(state.until, now + hint) };
  }
  const hits = state.hits + 1;
  const delay = Math.min(LONGEST_DELAY_MS, baseMs * 2 ** Math.min(hits - 1, 30));
  const slots = Math.max(1, Math.floor(Math.min(state.slots, running) / 2));
  return { hits, until: now + Math.max(hint, random() * delay), slots, since };
}

export function onSuccess(state: Backoff, now: number, maxSlots: number): Backoff {
  // What succeeds during a wait was launched before it, and does not show that more is possible.
  const slots = now < state.until ? state.slots : Math.min(maxSlots, state.slots + 1);
  return { ...state, hits: 0, slots, since: null };
}

/** Refused for longer than somebody wants to wait, without a single success; or sure to be. */
export function isExhausted(state: Backoff, now: number, quotaWaitMs: number): boolean {
  return state.since !== null && Math.max(now, state.until) - state.since > quotaWaitMs;
}

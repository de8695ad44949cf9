// Applies the back-off to the whole run: records each quota error once, and restores a wait that an earlier engine began.

import type { PhaseId } from "../ids.ts";
import { quotaHit } from "../session/decide/facts.ts";
import type { EventOf } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import { type Backoff, isExhausted, onQuota, onSuccess, startBackoff } from "./backoff.ts";

const SAME_REFUSAL_MS = 1000;
/** Upper bound for a restored wait, because the wall clock may have jumped. */
const LONGEST_WAIT_MS = 300_000;

export interface QuotaLimits {
  slots: number;
  quotaBaseMs: number;
  quotaWaitMs: number;
}

export class QuotaWatch {
  readonly #limits: QuotaLimits;
  readonly #now: () => Date;
  #backoff: Backoff;
  /** When the provider last rejected each phase's attempt. */
  readonly #refused = new Map<string, number>();

  constructor(limits: QuotaLimits, now: () => Date) {
    this.#limits = limits;
    this.#now = now;
    this.#backoff = startBackoff(limits.slots);
  }

  /** How many attempts may run now. */
  get slots(): number {
    return this.#backoff.slots;
  }

  /** Nothing is launched before this time. */
  get until(): number {
    return this.#backoff.until;
  }

  /** The provider has rejected requests for longer than the quota wait limit. */
  get isExhausted(): boolean {
    return isExhausted(this.#backoff, performance.now(), this.#limits.quotaWaitMs);
  }

  success(): void {
    this.#backoff = onSuccess(this.#backoff, performance.now(), this.#limits.slots);
  }

  /** A new attempt of the phase starts. */
  forget(phase: PhaseId): void {
    this.#refused.delete(phase);
  }

  /** The event to record for a quota error; null when it is already recorded. `running`: how many attempts were running. */
  refused(phase: PhaseId, retryAfterMs: number | null, running: number): EventOf<"quota.hit"> | null {
    const now = performance.now();
    // An attempt reports the same quota error more than once: while it runs and when it ends.
    const told = this.#refused.get(phase) ?? Number.NEGATIVE_INFINITY;
    this.#refused.set(phase, now);
    const isLonger = now + (retryAfterMs ?? 0) > this.#backoff.until + SAME_REFUSAL_MS;
    if (now - told < SAME_REFUSAL_MS && !isLonger) return null;
    const before = this.#backoff;
    const { quotaBaseMs: baseMs } = this.#limits;
    this.#backoff = onQuota(before, { now, retryAfterMs, baseMs, random: Math.random, running });
    const { until, slots } = this.#backoff;
    if (until === before.until) return null;
    const wait_ms = Math.max(0, Math.round(until - now));
    const ends = new Date(this.#now().getTime() + wait_ms).toISOString();
    return quotaHit({ phase, wait_ms, until: ends, slots: Number.isFinite(slots) ? slots : null });
  }

  /** Continues a wait that an earlier engine began. */
  remember(quota: Session["quota"]): void {
    const left = quota === null ? 0 : Date.parse(quota.until) - this.#now().getTime();
    if (left > 0) this.#backoff = { ...this.#backoff, until: performance.now() + Math.min(left, LONGEST_WAIT_MS) };
  }
}

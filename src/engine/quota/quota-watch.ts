// Applies the back-off to the attempts of one runtime and shares it with other sessions: records each quota error once, and restores a wait that an earlier
// engine began.

import { errno, MaestroError, reasonOf } from "../../errors.ts";
import type { PhaseId } from "../../ids.ts";
import { quotaHit } from "../../session/decide/facts.ts";
import type { EventOf } from "../../session/events.ts";
import type { Session } from "../../session/session.ts";
import { clockTime } from "../../views/text/duration.ts";
import type { RunContext } from "../run-context.ts";
import { type Backoff, isExhausted, onQuota, onSuccess, startBackoff } from "./backoff.ts";
import type { SharedQuota } from "./shared-quota.ts";

const LOOK_AGAIN_MS = 250;
const SAME_REFUSAL_MS = 1000;
/** Upper bound for a restored wait, because the wall clock may have jumped. */
const LONGEST_WAIT_MS = 300_000;

export interface QuotaLimits {
  slots: number;
  quotaBaseMs: number;
  quotaWaitMs: number;
}

interface Surroundings extends Pick<RunContext, "now" | "warn"> {
  sharedQuota: SharedQuota | null;
}

export class QuotaWatch {
  readonly #limits: QuotaLimits;
  readonly #now: () => Date;
  readonly #warn: (message: string) => void;
  #shared: SharedQuota | null;
  /** When this engine started, by the wall clock. */
  readonly #begun: number;
  /** The wait of another session that the user has been warned about. */
  #told = 0;
  #backoff: Backoff;
  /** When the provider last rejected each phase's attempt. */
  readonly #refused = new Map<string, number>();

  constructor(limits: QuotaLimits, { now, warn, sharedQuota }: Surroundings) {
    this.#limits = limits;
    this.#now = now;
    this.#begun = now().getTime();
    this.#warn = warn;
    this.#shared = sharedQuota;
    this.#backoff = startBackoff(limits.slots);
  }

  /** How many attempts may run now. */
  get slots(): number {
    return this.#backoff.slots;
  }

  /** Nothing is launched before this time: after a wait of this session, or of another one with the same credential. */
  get until(): number {
    const { until } = this.#backoff;
    const limit = this.#share((shared) => shared.limit, null);
    if (limit === null) return until;
    const now = performance.now();
    const left = limit.until - this.#now().getTime();
    if (left > 0) {
      this.#tell(limit.until, now + left > until + SAME_REFUSAL_MS);
      return Math.max(until, now + left);
    }
    // Other sessions have all the slots.
    return this.#share((shared) => shared.room, 1) === 0 ? Math.max(until, now + LOOK_AGAIN_MS) : until;
  }

  /** The provider has rejected requests for longer than the quota wait limit. */
  get isExhausted(): boolean {
    const { quotaWaitMs } = this.#limits;
    const limit = this.#share((shared) => shared.limit, null);
    // Only this engine's own time counts: a resumed session tries again.
    const since = limit === null || limit.since === null ? null : Math.max(limit.since, this.#begun);
    const elsewhere = since !== null && Math.max(this.#now().getTime(), limit?.until ?? 0) - since > quotaWaitMs;
    return elsewhere || isExhausted(this.#backoff, performance.now(), quotaWaitMs);
  }

  /** How many of `wanted` attempts may start, with respect to other sessions that use the same credential. */
  claim(wanted: number): number {
    return this.#share((shared) => shared.claim(wanted), wanted);
  }

  /** Attempts that were claimed have ended, or do not start. */
  release(count: number): void {
    this.#share((shared) => shared.release(count), undefined);
  }

  close(): void {
    this.#share((shared) => shared.close(), undefined);
    this.#shared = null;
  }

  success(): void {
    this.#backoff = onSuccess(this.#backoff, performance.now(), this.#limits.slots);
    this.#share((shared) => shared.success(), undefined);
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
    // Before the other sessions are told, which takes a while on a busy disk: nothing may start before the recorded time.
    const ends = new Date(this.#now().getTime() + wait_ms).toISOString();
    this.#share((shared) => shared.refused(wait_ms), undefined);
    return quotaHit({ phase, wait_ms, until: ends, slots: Number.isFinite(slots) ? slots : null });
  }

  /** Continues a wait that an earlier engine began. */
  remember(quota: Session["quota"]): void {
    const left = quota === null ? 0 : Date.parse(quota.until) - this.#now().getTime();
    if (left > 0) this.#backoff = { ...this.#backoff, until: performance.now() + Math.min(left, LONGEST_WAIT_MS) };
  }

  /** A state directory that cannot be used costs the other sessions' news, never the run. */
  #share<T>(use: (shared: SharedQuota) => T, otherwise: T): T {
    if (this.#shared === null) return otherwise;
    try {
      return use(this.#shared);
    } catch (error) {
      if (!(error instanceof MaestroError) && errno(error) === undefined) throw error;
      this.#shared = null;
      this.#warn(`Quota is not shared with other sessions any more: ${reasonOf(error)}`);
      return otherwise;
    }
  }

  #tell(until: number, isNews: boolean): void {
    if (!isNews || until <= this.#told) return;
    this.#told = until;
    const time = clockTime(new Date(until));
    this.#warn(`The provider rejected another session with the same credential: nothing starts before ${time}`);
  }
}

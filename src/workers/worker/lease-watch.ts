// Watches over a claim while its attempt runs: renews it, notices a cancellation, and stops the agent in time when the queue or the engine
// is lost. Its clock is monotonic and its own: it does not depend on an answer.

import { deadline, type LeaseTimes } from "../protocol/lease.ts";
import type { Claim, WorkerQueue } from "../queue/worker-queue.ts";

/** Why an attempt is stopped before its end. */
export type StopReason = "cancelled" | "lease" | "orphan" | "drain";

const TICK_MS = 200;

export class LeaseWatch {
  readonly #claim: Claim;
  readonly #queue: WorkerQueue;
  readonly #times: LeaseTimes & { orphanMs: number };
  readonly #stop: (why: StopReason) => void;
  #renewedAt: number;
  #engineAt: number;
  #lastAsked: number;
  #isAsking = false;
  readonly #timer: NodeJS.Timeout;

  constructor(
    claim: Claim,
    queue: WorkerQueue,
    times: LeaseTimes & { orphanMs: number },
    /** `claimedAt`: when the claim was asked for, in monotonic time. */
    { claimedAt, stop }: { claimedAt: number; stop: (why: StopReason) => void },
  ) {
    this.#claim = claim;
    this.#queue = queue;
    this.#times = times;
    this.#stop = stop;
    this.#renewedAt = claimedAt;
    this.#engineAt = claimedAt;
    this.#lastAsked = claimedAt;
    this.#timer = setInterval(() => this.#tick(), Math.min(TICK_MS, times.renewalMs));
  }

  /** Whether the worker may still rely on its claim. */
  get isHeld(): boolean {
    return performance.now() < deadline(this.#times, this.#renewedAt);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    if (!this.isHeld) this.#stop("lease");
    if (now - this.#engineAt > this.#times.orphanMs) this.#stop("orphan");
    if (this.#isAsking || now - this.#lastAsked < this.#times.renewalMs) return;
    this.#lastAsked = now;
    this.#isAsking = true;
    this.#ask(now)
      // A queue that cannot be reached has not renewed the claim: the clock above keeps running.
      .catch(() => undefined)
      .finally(() => {
        this.#isAsking = false;
      });
  }

  async #ask(sentAt: number): Promise<void> {
    if (await this.#claim.renew()) this.#renewedAt = sentAt;
    const { key, home } = this.#claim.job;
    if (await this.#queue.isCancelled(key)) this.#stop("cancelled");
    if (await this.#queue.hasEngine(home)) this.#engineAt = performance.now();
  }
}

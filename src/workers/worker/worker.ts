// The loop of a worker: claims an order when a slot is free, reports that the worker is alive, and ends when it has drained.

import { errno, MaestroError, reasonOf } from "../../errors.ts";
import type { WorkerEntry } from "../queue/registry.ts";
import type { Claim } from "../queue/worker-queue.ts";
import { type RunningOrder, runOrder, type Workshop } from "./attempt.ts";

/** How often queues are asked when no message says that there is work. */
const POLL_MS = 1000;
/** An entry outlives this many missed signs of its worker. */
const MISSED_SIGNS = 3;

export interface WorkerOptions {
  slots: number;
  /** What the worker says about itself. */
  about: Omit<WorkerEntry, "running" | "isDraining" | "seen" | "slots">;
  register: (entry: WorkerEntry, ttlMs: number) => Promise<void>;
  /** Throws when the exchange cannot be read: then nothing can be done with an order. */
  requireExchange: () => Promise<void>;
  now: () => Date;
  /** Said when the worker can take its first order. */
  greeting: string;
  /** Called when the worker is ready, and when an order begins and ends. */
  tell: (line: string) => void;
}

export class WorkerLoop {
  readonly #shop: Workshop;
  readonly #options: WorkerOptions;
  readonly #running = new Map<string, RunningOrder & { since: string }>();
  #isDraining = false;
  #hasWork = true;
  /** Whether the exchange must be read before another order is claimed. */
  #isExchangeInDoubt = true;
  #hasWarned = false;
  #isReady = false;
  #wake: () => void = () => undefined;

  constructor(shop: Workshop, options: WorkerOptions) {
    this.#shop = shop;
    this.#options = options;
  }

  /** The first call takes no new work and lets attempts finish; the second stops them, and their work so far is delivered. */
  drain(): void {
    if (this.#isDraining) for (const order of this.#running.values()) order.stop("drain");
    else this.#options.tell(`Draining: ${this.#running.size} running; a second signal stops them`);
    this.#isDraining = true;
    this.#wake();
  }

  async run(): Promise<void> {
    const { queue, times } = this.#shop;
    await queue.open({
      work: () => {
        this.#hasWork = true;
        this.#wake();
      },
      cancel: (key) => this.#running.get(key)?.stop("cancelled"),
    });
    const beat = setInterval(() => this.#sign(), times.renewalMs);
    this.#sign();
    try {
      while (!this.#isDraining || this.#running.size > 0) {
        if (!(await this.#takeOne())) await this.#wait();
      }
    } finally {
      clearInterval(beat);
    }
  }

  /** Whether another order may be waiting. */
  async #takeOne(): Promise<boolean> {
    if (this.#isDraining || !this.#hasWork || this.#running.size >= this.#options.slots) return false;
    this.#hasWork = false;
    if (this.#isExchangeInDoubt && !(await Promise.race([this.#findsExchange(), this.#drained()]))) return false;
    const askedAt = performance.now();
    const claim = await Promise.race([this.#claim(), this.#drained()]);
    if (claim === undefined) return false;
    this.#hasWork = true;
    this.#begin(claim, askedAt);
    return true;
  }

  async #claim(): Promise<Claim | undefined> {
    try {
      return await this.#shop.queue.claim();
    } catch (error) {
      this.#shop.equipment.warn(`Cannot take orders from the queue: ${reasonOf(error)}`);
      return undefined;
    }
  }

  /** A worker that cannot read its exchange leaves orders to others. */
  async #findsExchange(): Promise<boolean> {
    const { warn } = this.#shop.equipment;
    try {
      await this.#options.requireExchange();
      if (!this.#isReady) this.#options.tell(this.#options.greeting);
      else if (this.#hasWarned) warn("The exchange can be read again");
      this.#isReady = true;
      this.#isExchangeInDoubt = false;
      this.#hasWarned = false;
      return true;
    } catch (error) {
      if (!isExpected(error)) throw error;
      if (!this.#hasWarned) warn(`${reasonOf(error)}. The worker takes no order until the exchange can be read`);
      this.#hasWarned = true;
      return false;
    }
  }

  /** Resolves when the worker drains: a queue that does not answer must not hold it up. */
  #drained(): Promise<undefined> {
    return new Promise((resolve) => {
      const before = this.#wake;
      this.#wake = () => {
        before();
        if (this.#isDraining) resolve(undefined);
      };
    });
  }

  #begin(claim: Claim, claimedAt: number): void {
    const { key } = claim.job;
    const order = runOrder(this.#shop, claim, claimedAt);
    this.#running.set(key, { ...order, since: this.#options.now().toISOString() });
    this.#options.tell(`${key}: claimed`);
    this.#sign();
    order.done
      .then(() => this.#options.tell(`${key}: done`))
      .catch((error: unknown) => {
        this.#isExchangeInDoubt = true;
        this.#shop.equipment.warn(isExpected(error) ? `${key}: ${reasonOf(error)}` : String(error));
      })
      .finally(() => {
        this.#running.delete(key);
        this.#hasWork = true;
        this.#sign();
        this.#wake();
      });
  }

  #sign(): void {
    const { about, slots, register, now } = this.#options;
    const running = [...this.#running.values()].map(({ claim, since }) => ({
      key: claim.job.key,
      queue: claim.queue,
      since,
    }));
    const entry = { ...about, slots, running, isDraining: this.#isDraining, seen: now().toISOString() };
    // The next one comes soon; without the queue it waits.
    register(entry, MISSED_SIGNS * this.#shop.times.renewalMs).catch(() => undefined);
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#hasWork = true;
        resolve();
      }, POLL_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function isExpected(error: unknown): boolean {
  return error instanceof MaestroError || errno(error) !== undefined;
}

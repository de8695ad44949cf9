// The worker's side of the queue: claims an attempt when a slot is free, renews the claim, and ends it. BullMQ must never run an attempt a
// second time, so a job that was claimed before is failed here instead.

import { type Job as QueuedJob, UnrecoverableError, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { randomHex } from "../../disk/random.ts";
import { type Job, readJob } from "../protocol/job.ts";
import type { LeaseTimes } from "../protocol/lease.ts";
import { type Offer, readQueueName, serves } from "../protocol/queue-name.ts";
import { CANCEL, cancelKey, engineKey, PREFIX, QUEUES, signChannel, WAKE } from "../protocol/redis-names.ts";
import { refusedText } from "../protocol/refusal.ts";
import { signText, type WorkerSign } from "../protocol/sign.ts";
import { forMessages } from "./connection.ts";

/** BullMQ heeds a rate limit only with this option: as a limit of its own it means nothing. */
const NO_LIMIT = { max: 1_000_000, duration: 1000 };

export interface Claim {
  queue: string;
  job: Job;
  /** Whether the queue still sees the attempt as this worker's; rejects when it cannot be asked. */
  renew: () => Promise<boolean>;
  /** False when the queue has given the attempt up. */
  complete: () => Promise<boolean>;
  refuse: (reason: string) => Promise<boolean>;
}

export class WorkerQueue {
  readonly #redis: Redis;
  readonly #messages: Redis;
  readonly #offer: Offer;
  readonly #name: string;
  readonly #times: LeaseTimes;
  readonly #warn: (message: string) => void;
  readonly #workers = new Map<string, Worker>();
  #turn = 0;

  constructor(redis: Redis, about: { offer: Offer; name: string; times: LeaseTimes }, warn: (message: string) => void) {
    this.#redis = redis;
    this.#messages = forMessages(redis);
    this.#offer = about.offer;
    this.#name = about.name;
    this.#times = about.times;
    this.#warn = warn;
  }

  async open(hear: { work: () => void; cancel: (key: string) => void }): Promise<void> {
    await this.#messages.subscribe(WAKE, CANCEL);
    this.#messages.on("message", (channel: string, text: string) => {
      if (channel === CANCEL) hear.cancel(text);
      else hear.work();
    });
    // Messages of the time without a connection are lost.
    this.#messages.on("ready", () => hear.work());
  }

  /** The next attempt of any queue that this worker serves; undefined when none waits. */
  async claim(): Promise<Claim | undefined> {
    const names = (await this.#redis.smembers(QUEUES)).filter((name) => this.#serves(name)).sort();
    // Another queue is first each time, so that none starves.
    this.#turn += 1;
    for (let at = 0; at < names.length; at += 1) {
      const claim = await this.#claimFrom(names[(at + this.#turn) % names.length] as string);
      if (claim !== undefined) return claim;
    }
    return undefined;
  }

  isCancelled(key: string): Promise<boolean> {
    return this.#redis.exists(cancelKey(key)).then((count) => count > 0);
  }

  hasEngine(home: string): Promise<boolean> {
    return this.#redis.exists(engineKey(home)).then((count) => count > 0);
  }

  /** A sign that cannot be sent is lost: the next one says the same or more. */
  tell(home: string, sign: WorkerSign): void {
    if (this.#redis.status !== "ready") return;
    this.#redis.publish(signChannel(home), signText(sign)).catch(() => undefined);
  }

  async close(): Promise<void> {
    for (const worker of this.#workers.values()) await worker.close(true);
    this.#messages.disconnect();
  }

  #serves(name: string): boolean {
    const named = readQueueName(name);
    return named !== undefined && serves(this.#offer, named);
  }

  async #claimFrom(name: string): Promise<Claim | undefined> {
    const worker = this.#worker(name);
    for (;;) {
      const token = randomHex(16);
      const taken: QueuedJob | undefined = await worker.getNextJob(token, { block: false });
      if (taken === undefined) return undefined;
      const job = readJob(taken.data);
      const isAgain = taken.deferredFailure !== undefined || taken.stalledCounter > 0 || taken.attemptsStarted > 1;
      if (job !== undefined && !isAgain) return this.#claimed(name, job, taken, token);
      await ended(() =>
        taken.moveToFailed(new UnrecoverableError(isAgain ? "lost" : refusedText("not an order")), token),
      );
    }
  }

  #claimed(queue: string, job: Job, taken: QueuedJob, token: string): Claim {
    const { leaseMs } = this.#times;
    return {
      queue,
      job,
      renew: async () => (await taken.extendLock(token, leaseMs)) === 1,
      complete: () => ended(() => taken.moveToCompleted("", token, false)),
      refuse: (reason) => ended(() => taken.moveToFailed(new UnrecoverableError(refusedText(reason)), token, false)),
    };
  }

  #worker(name: string): Worker {
    const known = this.#workers.get(name);
    if (known !== undefined) return known;
    const made = new Worker(name, null, {
      connection: this.#redis,
      prefix: PREFIX,
      autorun: false,
      name: this.#name,
      lockDuration: this.#times.leaseMs,
      skipStalledCheck: true,
      skipLockRenewal: true,
      drainDelay: 1,
      limiter: NO_LIMIT,
    });
    made.on("error", (error) => {
      if (!/ECONN|Connection is closed|EPIPE|ETIMEDOUT|LOADING/.test(error.message))
        this.#warn(`Queue: ${error.message}`);
    });
    this.#workers.set(name, made);
    return made;
  }
}

/** False when the queue answers that the claim is not this worker's any more. */
async function ended(move: () => Promise<unknown>): Promise<boolean> {
  try {
    await move();
    return true;
  } catch (error) {
    if (error instanceof Error && /lock|Missing key|not in the active state/i.test(error.message)) return false;
    throw error;
  }
}

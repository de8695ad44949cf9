// The engine's side of the queue: adds an attempt, reads its state, and looks for claims whose worker is lost. What it reads are hints:
// the exchange has the results, and the journal decides.

import { Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { crashPoint } from "../../disk/fault.ts";
import type { Job } from "../protocol/job.ts";
import type { LeaseTimes } from "../protocol/lease.ts";
import { CANCEL, cancelKey, engineKey, PREFIX, QUEUES, signChannel, WAKE } from "../protocol/redis-names.ts";
import { readSign, type WorkerSign } from "../protocol/sign.ts";
import { forMessages } from "./connection.ts";
import type { JobState } from "./job-state.ts";
import { type WorkerEntry, workersIn } from "./registry.ts";

const DAY_SECONDS = 86_400;
/** Workers take the jobs of all sessions in the order of their priority; BullMQ has this many. */
const MAX_PRIORITY = 2 ** 21 - 1;
/** An engine counts as gone when it has missed this many of its signs. */
const MISSED_SIGNS = 4;

export class EngineQueue {
  readonly #redis: Redis;
  readonly #messages: Redis;
  readonly #home: string;
  readonly #times: LeaseTimes;
  readonly #warn: (message: string) => void;
  readonly #queues = new Map<string, { queue: Queue; sweeper: Worker }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(redis: Redis, home: string, times: LeaseTimes, warn: (message: string) => void) {
    this.#redis = redis;
    this.#messages = forMessages(redis);
    this.#home = home;
    this.#times = times;
    this.#warn = warn;
  }

  /** `hear` gets the signs of this engine's attempts. */
  async open(hear: (sign: WorkerSign) => void): Promise<void> {
    const channel = signChannel(this.#home);
    await this.#messages.subscribe(channel);
    this.#messages.on("message", (_, text: string) => {
      const sign = readSign(text);
      if (sign !== undefined) hear(sign);
    });
    const { sweepMs } = this.#times;
    const beat = () =>
      void this.#redis.set(engineKey(this.#home), "1", "PX", MISSED_SIGNS * sweepMs).catch(() => undefined);
    beat();
    this.#timer = setInterval(beat, sweepMs);
  }

  /** Adding an attempt that the queue already has changes nothing. `ordinal`: how many of the session's attempts are ahead of it, plus one. */
  async add(name: string, job: Job, ordinal: number): Promise<void> {
    const { queue } = await this.#queue(name);
    const options = {
      jobId: job.key,
      attempts: 1,
      priority: Math.min(Math.max(1, ordinal), MAX_PRIORITY),
      removeOnComplete: { age: DAY_SECONDS },
      removeOnFail: { age: DAY_SECONDS },
    };
    await queue.add("attempt", job, options);
    crashPoint("job-in-queue");
    await this.#list(name);
  }

  /** Workers look only into the queues of this list. */
  async #list(name: string): Promise<void> {
    await this.#redis.sadd(QUEUES, name);
    await this.#redis.publish(WAKE, name);
  }

  async state(name: string, key: string): Promise<JobState> {
    const { queue } = await this.#queue(name);
    const before = await queue.getJobState(key);
    const job = await queue.getJob(key);
    if (job === undefined) return { kind: "missing" };
    // It was claimed in between.
    const state = job.attemptsStarted > 0 ? await queue.getJobState(key) : before;
    if (state === "completed") return { kind: "completed" };
    if (state === "active") return { kind: "active", worker: job.processedBy ?? "" };
    if (state === "failed") return { kind: "failed", reason: job.failedReason ?? "", worker: job.processedBy ?? "" };
    if (state === "unknown") return { kind: "missing" };
    // BullMQ puts a job whose claim has ended back among the waiting ones.
    if (job.attemptsStarted > 0) return { kind: "lost" };
    // Another engine may have died before it listed the queue, or Redis may have lost the list.
    if ((await this.#redis.sismember(QUEUES, name)) === 0) await this.#list(name);
    return { kind: "waiting" };
  }

  /** Takes an attempt out of the queue; false when a worker has it. */
  async remove(name: string, key: string): Promise<boolean> {
    const { queue } = await this.#queue(name);
    return (await queue.remove(key)) === 1 || (await queue.getJob(key)) === undefined;
  }

  /** Tells the worker that has the attempt to stop it. */
  async cancel(key: string): Promise<void> {
    await this.#redis.set(cancelKey(key), "1", "EX", DAY_SECONDS);
    await this.#redis.publish(CANCEL, key);
  }

  /**
   * Limits a queue whose credential the provider has rejected: no claim for `waitMs`, and then at most half of `running` at once. What is
   * rejected during a wait ran before it, and only makes the wait longer.
   */
  async limit(name: string, waitMs: number, running: number): Promise<void> {
    const { queue } = await this.#queue(name);
    const leftMs = await queue.getRateLimitTtl();
    if (waitMs > leftMs) await queue.rateLimit(waitMs);
    if (leftMs > 0) return;
    const slots = Math.max(1, Math.floor(running / 2));
    await queue.setGlobalConcurrency(Math.min(slots, (await queue.getGlobalConcurrency()) ?? slots));
  }

  /** Ends the limit of a queue after its wait, whichever engine has set it: that one may be gone. */
  async lift(name: string): Promise<void> {
    const { queue } = await this.#queue(name);
    if ((await queue.getGlobalConcurrency()) === null || (await queue.getRateLimitTtl()) > 0) return;
    await queue.removeGlobalConcurrency();
  }

  workers(): Promise<WorkerEntry[]> {
    return workersIn(this.#redis);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const { queue, sweeper } of this.#queues.values()) {
      await sweeper.close(true);
      await queue.close();
    }
    this.#messages.disconnect();
    this.#redis.disconnect();
  }

  async #queue(name: string): Promise<{ queue: Queue; sweeper: Worker }> {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const { leaseMs, sweepMs } = this.#times;
    const shared = { connection: this.#redis, prefix: PREFIX };
    const queue = new Queue(name, shared);
    // Never runs anything: it only finds jobs whose claim has ended.
    const sweeper = new Worker(name, null, {
      ...shared,
      autorun: false,
      lockDuration: leaseMs,
      stalledInterval: sweepMs,
      maxStalledCount: 0,
      skipLockRenewal: true,
    });
    queue.on("error", (error: Error) => this.#problem(error));
    sweeper.on("error", (error: Error) => this.#problem(error));
    const made = { queue, sweeper };
    this.#queues.set(name, made);
    await sweeper.startStalledCheckTimer();
    return made;
  }

  /** A lost connection is reported once, by the code that restores it. */
  #problem(error: Error): void {
    if (!/ECONN|Connection is closed|EPIPE|ETIMEDOUT|LOADING/.test(error.message))
      this.#warn(`Queue: ${error.message}`);
  }
}

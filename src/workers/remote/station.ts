// What all remote attempts of an engine share: the queue, the exchange, the key, and the listeners for messages of workers.

import { errno, MaestroError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import type { CommitId } from "../../ids.ts";
import type { Exchange } from "../exchange/address.ts";
import { find, push, type Refs } from "../exchange/transport.ts";
import { type AttemptKey, inRef, outRef } from "../protocol/attempt-key.ts";
import type { LeaseTimes } from "../protocol/lease.ts";
import { readQueueName, serves } from "../protocol/queue-name.ts";
import type { WorkerSign } from "../protocol/sign.ts";
import type { EngineQueue } from "../queue/engine-queue.ts";
import type { OfferedOrder, Sender } from "./offer.ts";
import { canStillRun, idsNamed, namesOf, otherKeyWarning } from "./other-key.ts";

/** So many finished orders stay in the exchange: the next push is compared with them. */
const KEPT_ORDERS = 4;

export interface StationOptions {
  queue: EngineQueue;
  exchange: Exchange;
  sender: Sender;
  times: LeaseTimes;
  /** The engine, also after a restart. */
  home: string;
  /** The wait when the provider names none. */
  quotaBaseMs: number;
  warn: (message: string) => void;
}

export class Station {
  readonly options: StationOptions;
  readonly #listeners = new Map<AttemptKey, (sign: WorkerSign) => void>();
  /** References of attempts that have ended, oldest first. */
  readonly #spent: string[][] = [];
  readonly #open = new Set<AttemptKey>();
  readonly #told = new Set<string>();
  /** The ids of workers with another key. */
  readonly #refused = new Set<string>();

  constructor(options: StationOptions) {
    this.options = options;
  }

  hear(sign: WorkerSign): void {
    this.#listeners.get(sign.key)?.(sign);
  }

  /** Counts an attempt as outstanding until `leave`; returns how many are, which is its place among those of the session. */
  enter(key: AttemptKey): number {
    this.#open.add(key);
    return this.#open.size;
  }

  leave(key: AttemptKey): void {
    this.#open.delete(key);
  }

  listen(key: AttemptKey, listener: (sign: WorkerSign) => void): () => void {
    this.#listeners.set(key, listener);
    return () => void this.#listeners.delete(key);
  }

  async sendOrder(repository: Repository, { key, order }: OfferedOrder): Promise<void> {
    const old = this.#spent.length > KEPT_ORDERS ? (this.#spent.shift() ?? []) : [];
    const deleted: Refs = Object.fromEntries(old.map((ref) => [ref, null]));
    const { exchange } = this.options;
    try {
      await push(repository, exchange, { [inRef(key)]: order, ...deleted });
    } catch (error) {
      // Another engine may have deleted what is old.
      if (!(error instanceof MaestroError) || old.length === 0) throw error;
      await push(repository, exchange, { [inRef(key)]: order });
    }
  }

  async addJob({ key, order, queue }: OfferedOrder, ordinal: number): Promise<void> {
    const { home } = this.options;
    await this.options.queue.add(queue, { v: 1, key, order, home }, ordinal);
    await this.#tellUnserved(queue);
  }

  /** The delivery's commit; undefined when the exchange has none. */
  async delivered(repository: Repository, key: AttemptKey): Promise<CommitId | undefined> {
    return (await find(repository, this.options.exchange, [outRef(key)])).get(outRef(key));
  }

  /** The attempt has ended here. `isTaken`: its delivery was in the exchange. */
  spent(key: AttemptKey, isTaken: boolean): void {
    this.#spent.push(isTaken ? [inRef(key), outRef(key)] : [inRef(key)]);
  }

  /** The provider rejected an attempt: no worker claims from the queue for a while, and then only half as many at once. */
  async limit(name: string, retryAfterMs: number | null): Promise<void> {
    const workers = await this.options.queue.workers();
    const running = workers.reduce((sum, one) => sum + one.running.filter(({ queue }) => queue === name).length, 0);
    await this.options.queue.limit(name, retryAfterMs ?? this.options.quotaBaseMs, running);
  }

  /** An attempt of the queue succeeded. */
  lift(name: string): Promise<void> {
    return this.options.queue.lift(name);
  }

  /**
   * A worker has refused an order because its key is another one. Null when another worker may take it; otherwise the names of those that
   * refuse.
   */
  async refusedKey(name: string, worker: string): Promise<string[] | null> {
    const workers = await this.options.queue.workers();
    for (const id of idsNamed(workers, worker)) this.#refused.add(id);
    const keys = { workers, refused: this.#refused };
    const named = readQueueName(name);
    if (named === undefined || !canStillRun(keys, named)) return namesOf(keys, worker);
    const warning = otherKeyWarning(worker);
    if (!this.#told.has(warning)) this.options.warn(warning);
    this.#told.add(warning);
    return null;
  }

  async #tellUnserved(name: string): Promise<void> {
    const named = readQueueName(name);
    if (named === undefined || this.#told.has(name)) return;
    const workers = await this.options.queue.workers();
    if (workers.some((worker) => serves(worker, named))) return;
    this.#told.add(name);
    const wanted = [`runtime ${named.runtime}`, ...named.needs.map((label) => `label ${label}`)].join(", ");
    this.options.warn(`No running worker has ${wanted}: attempts wait for one`);
  }
}

/** Errors of the exchange, of git and of the disk: they concern one attempt, and may pass. */
export function isPassing(error: unknown): boolean {
  return error instanceof MaestroError || errno(error) !== undefined;
}

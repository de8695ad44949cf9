// Opens a worker: connects it to the queue, delivers what an earlier one left, and runs its loop until it has drained.

import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { cacheRoot } from "../../git/cache-directory.ts";
import type { Repository } from "../../git/repository.ts";
import { userStateRoot } from "../../store/files/user-record.ts";
import { plural } from "../../views/text/amount.ts";
import type { Exchange } from "../exchange/address.ts";
import type { LeaseTimes } from "../protocol/lease.ts";
import type { Offer } from "../protocol/queue-name.ts";
import { connect } from "../queue/connection.ts";
import type { QueueAddress } from "../queue/queue-address.ts";
import { register, unregister } from "../queue/registry.ts";
import { WorkerQueue } from "../queue/worker-queue.ts";
import { requireExchange } from "../remote/reachable.ts";
import type { Workshop } from "./attempt.ts";
import { openClone, tidyClone } from "./clone.ts";
import type { Equipment } from "./equipment.ts";
import { deliverLeftovers } from "./leftovers.ts";
import { Spool } from "./spool.ts";
import { WorkerLoop } from "./worker.ts";

export interface OpenWorkerOptions {
  address: QueueAddress;
  exchange: Exchange;
  secret: string;
  times: LeaseTimes & { orphanMs: number };
  name: string;
  slots: number;
  offer: Offer;
  version: string;
  equipment: Equipment;
  tell: (line: string) => void;
  /** Registers what a signal does; returns the function that takes it back. */
  onSignal: (handler: () => void) => () => void;
}

/** Opens the clone for the usual object format. */
const ANY_ORDER = "0".repeat(40);

/** Resolves when the worker has drained. Throws when the queue cannot be reached. */
export async function runWorker(options: OpenWorkerOptions): Promise<void> {
  const { exchange, secret, times, name, slots, offer, equipment, tell } = options;
  const { env, warn, now, run: id } = equipment;
  const redis = await connect(options.address, warn);
  const queue = new WorkerQueue(redis, { offer, name, times }, warn);
  const key = createHash("sha256").update(exchange.url).digest("hex").slice(0, 16);
  const spool = new Spool(join(userStateRoot(env), "worker", key));
  const shop: Workshop = {
    name,
    equipment,
    exchange,
    secret,
    queue,
    spool,
    times,
    clone: cloneOf(env, exchange.url, spool),
  };
  const about = {
    id,
    name,
    host: hostname(),
    pid: process.pid,
    version: options.version,
    ...offer,
    started: now().toISOString(),
  };
  const loop = new WorkerLoop(shop, {
    slots,
    about,
    greeting: `Worker ${name} is ready: ${plural(slots, "slot")}, runtimes ${offer.runtimes.join(", ")}`,
    register: (entry, ttlMs) => register(redis, entry, ttlMs),
    requireExchange: async () => requireExchange(await shop.clone(ANY_ORDER), exchange),
    now,
    tell,
  });
  let isEnding = false;
  const stopListening = options.onSignal(() => {
    isEnding = true;
    loop.drain();
  });
  try {
    // Beside the loop: an exchange that cannot be reached must not keep it from running.
    const leftovers = deliverLeftovers(shop, () => !isEnding);
    await loop.run();
    await leftovers;
  } finally {
    stopListening();
    await queue.close();
    await Promise.race([unregister(redis, id), new Promise((resolve) => setTimeout(resolve, 500))]).catch(
      () => undefined,
    );
    redis.disconnect();
  }
}

/** The clone for the object format of an order; each is opened once. */
function cloneOf(env: Equipment["env"], url: string, spool: Spool): (order: string) => Promise<Repository> {
  const clones = new Map<string, Promise<Repository>>();
  return (order) => {
    const format = order.length === 64 ? "sha256" : "sha1";
    const known = clones.get(format);
    if (known !== undefined) return known;
    const made = openClone(cacheRoot(env), url, format).then(async (repository) => {
      await tidyClone(repository, spool.keys());
      return repository;
    });
    clones.set(format, made);
    return made;
  };
}

// The list of running workers. Each writes its own entry, which expires soon after the worker exits.

import type { Redis } from "ioredis";
import * as is from "../../shape.ts";
import { WORKERS, workerKey } from "../protocol/redis-names.ts";
import { connect } from "./connection.ts";
import type { QueueAddress } from "./queue-address.ts";

const running = is.object({ key: is.text(100), queue: is.text(2000), since: is.time });

const entry = is.object({
  id: is.text(100),
  name: is.text(200),
  host: is.text(300),
  pid: is.integer(1),
  version: is.text(100),
  slots: is.integer(1),
  runtimes: is.list(is.text(1000), 100),
  labels: is.list(is.text(200), 100),
  /** The attempts that it runs now. */
  running: is.list(running, 10_000),
  isDraining: is.boolean,
  started: is.time,
  /** When it wrote this. */
  seen: is.time,
});

export type WorkerEntry = is.TypeOf<typeof entry>;

/** `ttlMs`: without a newer entry the worker counts as gone after that. */
export async function register(redis: Redis, made: WorkerEntry, ttlMs: number): Promise<void> {
  await redis
    .multi()
    .sadd(WORKERS, made.id)
    .set(workerKey(made.id), JSON.stringify(made), "PX", Math.ceil(ttlMs))
    .exec();
}

export async function unregister(redis: Redis, id: string): Promise<void> {
  await redis.multi().srem(WORKERS, id).del(workerKey(id)).exec();
}

/** The running workers, by name. Entries of workers that have exited are removed. */
export async function workersIn(redis: Redis): Promise<WorkerEntry[]> {
  const ids = await redis.smembers(WORKERS);
  if (ids.length === 0) return [];
  const texts = await redis.mget(ids.map(workerKey));
  const gone = ids.filter((_, at) => texts[at] === null);
  if (gone.length > 0) await redis.srem(WORKERS, ...gone);
  const entries = texts.flatMap((text) => readEntry(text ?? ""));
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** As `workersIn`, with a connection of its own. */
export async function listWorkers(address: QueueAddress): Promise<WorkerEntry[]> {
  const redis = await connect(address, () => undefined);
  try {
    return await workersIn(redis);
  } finally {
    redis.disconnect();
  }
}

function readEntry(text: string): WorkerEntry[] {
  try {
    const value: unknown = JSON.parse(text);
    return entry(value) === undefined ? [value as WorkerEntry] : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

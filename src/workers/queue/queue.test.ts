import type { Redis } from "ioredis";
import { describe, expect, type TestContext, test } from "vitest";
import { until } from "../../../test/support/processes.ts";
import { startRedis } from "../../../test/support/redis.ts";
import { attemptKey } from "../protocol/attempt-key.ts";
import { queueName } from "../protocol/queue-name.ts";
import { QUEUES } from "../protocol/redis-names.ts";
import { connect } from "./connection.ts";
import { EngineQueue } from "./engine-queue.ts";
import { type Claim, WorkerQueue } from "./worker-queue.ts";

const times = { leaseMs: 400, renewalMs: 100, sweepMs: 100 };
const name = queueName({ runtime: "gemini", pool: "login", needs: [] });
const jobOf = (attempt: number) => ({
  v: 1 as const,
  key: attemptKey({ run: "0123456789abcdef", phase: "1", attempt }),
  order: "a".repeat(40),
  home: "0".repeat(16),
});
const offer = { runtimes: ["gemini"], labels: [] };

/** An engine and two workers at a server of their own. */
async function meeting(
  context: TestContext,
  use: (parts: {
    engine: EngineQueue;
    another: EngineQueue;
    worker: WorkerQueue;
    other: WorkerQueue;
    /** The connection of `engine`. */
    connection: Redis;
  }) => Promise<void>,
): Promise<void> {
  const redis = await startRedis(context);
  const address = { url: redis.url, password: undefined };
  const connections = await Promise.all([1, 2, 3, 4].map(() => connect(address, () => undefined)));
  const [one, two, three, four] = connections as [Redis, Redis, Redis, Redis];
  const engine = new EngineQueue(one, "0".repeat(16), times, () => undefined);
  const another = new EngineQueue(four, "1".repeat(16), times, () => undefined);
  const worker = new WorkerQueue(two, { offer, name: "one", times }, () => undefined);
  const other = new WorkerQueue(three, { offer, name: "two", times }, () => undefined);
  try {
    await engine.open(() => undefined);
    await use({ engine, another, worker, other, connection: one });
  } finally {
    await Promise.all([engine.close(), another.close(), worker.close(), other.close()]);
    for (const connection of connections) connection.disconnect();
    await redis.close();
  }
}

/** Claims an attempt as soon as the queue has one. */
async function claimed(worker: WorkerQueue): Promise<Claim> {
  for (const end = Date.now() + 10_000; Date.now() < end; ) {
    const claim = await worker.claim();
    if (claim !== undefined) return claim;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("nothing was claimed");
}

describe("the queue", () => {
  test("gives no order for the time of a limit, and no more at once than it allows, over all workers", async (context) => {
    await meeting(context, async ({ engine, worker, other }) => {
      for (const attempt of [1, 2, 3]) await engine.add(name, jobOf(attempt), attempt);
      const limitedAt = performance.now();
      await engine.limit(name, 500, 3);
      expect(await worker.claim()).toBeUndefined();
      const first = await claimed(worker);
      expect(performance.now() - limitedAt).toBeGreaterThan(450);
      expect(await other.claim()).toBeUndefined();
      expect(await first.complete()).toBe(true);
      const second = await claimed(other);
      expect(await worker.claim()).toBeUndefined();
      await engine.lift(name);
      const third = await claimed(worker);
      expect([second.job.key, third.job.key]).toEqual([jobOf(2).key, jobOf(3).key]);
    });
  });

  test("halves its attempts once for rejections during one wait, and any engine ends the limit when the wait is over", async (context) => {
    await meeting(context, async ({ engine, worker, another }) => {
      for (const attempt of [1, 2, 3]) await engine.add(name, jobOf(attempt), attempt);
      for (const running of [4, 3, 2, 1]) await engine.limit(name, 400, running);
      await another.lift(name);
      expect(await worker.claim()).toBeUndefined();
      await claimed(worker);
      await claimed(worker);
      expect(await worker.claim()).toBeUndefined();
      await another.lift(name);
      expect((await claimed(worker)).job.key).toBe(jobOf(3).key);
    });
  });

  test("gives up a claim that is not renewed, notifies the engine, and never gives the order to another worker", async (context) => {
    await meeting(context, async ({ engine, worker, other }) => {
      const { key } = jobOf(1);
      await engine.add(name, jobOf(1), 1);
      expect(await engine.state(name, key)).toEqual({ kind: "waiting" });
      const claim = await claimed(worker);
      expect(await engine.state(name, key)).toEqual({ kind: "active", worker: "one" });
      expect(await claim.renew()).toBe(true);
      let state = await engine.state(name, key);
      while (state.kind === "active") state = await engine.state(name, key);
      expect(["lost", "failed"]).toContain(state.kind);
      expect(await other.claim()).toBeUndefined();
      expect([await claim.renew(), await claim.complete()]).toEqual([false, false]);
      expect(await engine.state(name, key)).toMatchObject({ kind: "failed", reason: "lost" });
    });
  });

  test("takes back an order that no worker has, and makes a worker stop one that it has", async (context) => {
    await meeting(context, async ({ engine, worker }) => {
      const heard: string[] = [];
      await worker.open({ work: () => undefined, cancel: (key) => heard.push(key) });
      await engine.add(name, jobOf(1), 1);
      expect(await engine.remove(name, jobOf(1).key)).toBe(true);
      expect(await worker.claim()).toBeUndefined();
      await engine.add(name, jobOf(2), 1);
      const claim = await claimed(worker);
      expect(await engine.remove(name, claim.job.key)).toBe(false);
      await engine.cancel(claim.job.key);
      await until("the worker hears it", () => heard.includes(claim.job.key));
      expect([await worker.isCancelled(claim.job.key), await worker.isCancelled(jobOf(1).key)]).toEqual([true, false]);
    });
  });

  test("gives an order to a worker although Redis lost its data while the order was added", async (context) => {
    await meeting(context, async ({ engine, worker, connection }) => {
      const added = connection.sadd.bind(connection) as (...words: string[]) => Promise<number>;
      let losses = 0;
      connection.sadd = (async (...words: string[]) => {
        if (losses === 0) await connection.flushall();
        const count = await added(...words);
        if (losses === 1) await connection.flushall();
        losses += 1;
        return count;
      }) as Redis["sadd"];
      for (let time = 1; time <= 3; time += 1) {
        if ((await engine.state(name, jobOf(1).key)).kind === "missing") await engine.add(name, jobOf(1), 1);
      }
      expect([losses, (await claimed(worker)).job.key]).toEqual([3, jobOf(1).key]);
    });
  });

  test("is listed again for the workers when an engine died before it had listed it", async (context) => {
    await meeting(context, async ({ engine, another, worker, connection }) => {
      await engine.add(name, jobOf(1), 1);
      await connection.srem(QUEUES, name);
      expect(await worker.claim()).toBeUndefined();
      expect(await another.state(name, jobOf(1).key)).toEqual({ kind: "waiting" });
      expect((await claimed(worker)).job.key).toBe(jobOf(1).key);
    });
  });
});

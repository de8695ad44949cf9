import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { commandLine } from "../../../test/support/command-line.ts";
import { startRedis, type TestRedis } from "../../../test/support/redis.ts";
import { resolveSettings } from "../../settings.ts";
import type { Finding } from "../check/finding.ts";
import type { Io } from "../io.ts";
import { checkWorkers } from "./doctor-workers.ts";
import { type QueueFacts, queueFindings } from "./queue-health.ts";

let place: string;
let server: TestRedis | undefined;
beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "maestro-doctor-workers-")));
});
afterAll(async () => {
  rmSync(place, { recursive: true });
  await server?.close();
});

async function ours(context: TestContext): Promise<TestRedis> {
  server ??= await startRedis(context);
  return server;
}

const key = "0123456789abcdef".repeat(2);
const project = () => ({
  path: place,
  environment: (own: Record<string, string> = {}) => ({ PATH: process.env.PATH, HOME: place, ...own }),
});

async function findings(env: Record<string, string>, now = () => new Date()): Promise<Finding[]> {
  const io = { cwd: place, env: { PATH: process.env.PATH, HOME: place, ...env }, now } as unknown as Io;
  return checkWorkers(io, resolveSettings(place, io.env));
}

const levels = (found: readonly Finding[]) => found.map(({ check, level }) => `${check} ${level}`);

describe("doctor with workers", () => {
  test("finds nothing wrong with a local queue, a new exchange and a key, except that the queue has no user of its own", async (context) => {
    const redis = await ours(context);
    const exchange = join(place, "exchange.git");
    await commandLine(project(), ["exchange", "init", exchange]);
    const env = { MAESTRO_WORKERS: redis.url, MAESTRO_EXCHANGE: exchange, MAESTRO_WORKER_KEY: key };
    const found = await findings(env);
    expect(levels(found)).toEqual([
      "workers ok",
      ...Array(4).fill("queue ok"),
      "queue warn",
      "queue ok",
      "exchange ok",
    ]);
    expect(found[1]?.message).toMatch(/^Queue: (?:Redis|Valkey) \d/);
    expect(found.find(({ level }) => level === "warn")?.message).toContain("can access every key");
    chmodSync(join(exchange, "hooks/update"), 0o644);
    expect((await findings(env)).at(-1)).toMatchObject({
      level: "fail",
      hint: expect.stringContaining("maestro exchange init"),
    });
  });

  test("accepts a user that reaches only Maestro's keys, and asks for the password of one", async (context) => {
    const redis = await ours(context);
    const rights = ["~maestro:*", "&maestro:*", "+@all", "-@dangerous", "-@admin", "+info"];
    await redis.send("ACL", "SETUSER", "maestro", "on", ">letmein-42", ...rights);
    const url = redis.url.replace("://", "://maestro@");
    const without = await findings({ MAESTRO_WORKERS: url, MAESTRO_WORKER_KEY: key });
    expect(without.find(({ check }) => check === "queue")).toMatchObject({
      level: "fail",
      message: expect.stringContaining("Cannot reach the queue"),
    });
    const found = await findings({
      MAESTRO_WORKERS: url,
      MAESTRO_WORKER_KEY: key,
      MAESTRO_QUEUE_PASSWORD: "letmein-42",
    });
    expect(found.map(({ message }) => message)).toContain("The queue's user maestro can access only Maestro's keys");
    expect(levels(found).filter((one) => one === "queue fail")).toEqual([]);
    expect(JSON.stringify(found)).not.toContain("letmein");
  });

  test("says what is wrong with key, times, queue and exchange, all at once", async () => {
    writeFileSync(join(place, "short"), "short\n");
    const found = await findings({
      MAESTRO_WORKERS: "redis://127.0.0.1:1",
      MAESTRO_EXCHANGE: join(place, "absent.git"),
      MAESTRO_WORKER_KEY_FILE: join(place, "short"),
    });
    expect(levels(found)).toEqual(["workers fail", "queue fail", "exchange fail"]);
    expect(found.map(({ message }) => message).join("\n")).toMatch(
      /at least 32 characters[\s\S]*Cannot reach[\s\S]*does not exist/,
    );
    expect(found.every(({ hint }) => hint !== undefined)).toBe(true);
  });

  test("compares the clocks", async (context) => {
    const redis = await ours(context);
    const late = () => new Date(Date.now() - 60_000);
    const found = await findings({ MAESTRO_WORKERS: redis.url, MAESTRO_WORKER_KEY: key }, late);
    expect(found.find(({ message }) => message.includes("clock"))).toMatchObject({
      level: "warn",
      message: expect.stringContaining("ahead of"),
    });
  });
});

describe("the server of a queue", () => {
  const good: QueueFacts = {
    url: "redis://host",
    info: { redis_version: "7.0.15", aof_enabled: "1", maxmemory: "0", maxmemory_policy: "noeviction" },
    bind: ["127.0.0.1", "-::1"],
    saves: true,
    user: "maestro",
    hasPassword: true,
    readsAll: false,
    clockMs: 5,
  };
  const worst = (over: Partial<QueueFacts>, info: Record<string, string> = {}) =>
    queueFindings({ ...good, info: { ...good.info, ...info }, ...over }).filter(({ level }) => level !== "ok");

  test("is healthy", () => {
    expect(worst({})).toEqual([]);
    expect(worst({}, { valkey_version: "8.0.1" })).toEqual([]);
  });

  test.each<[string, Partial<QueueFacts>, Record<string, string>, string, RegExp]>([
    ["is too old", {}, { redis_version: "6.0.16" }, "fail", /too old/],
    ["loses everything", { saves: false }, { aof_enabled: "0" }, "warn", /loses everything/],
    ["loses the last minutes", {}, { aof_enabled: "0" }, "warn", /last minutes/],
    ["drops attempts", {}, { maxmemory: "100", maxmemory_policy: "allkeys-lru" }, "fail", /allkeys-lru/],
    ["would drop attempts", {}, { maxmemory_policy: "allkeys-lru" }, "warn", /allkeys-lru/],
    ["is open to everyone", { bind: ["*"], hasPassword: false }, {}, "fail", /requires no password/],
    ["binds to every address", { bind: [], hasPassword: false }, {}, "fail", /every address/],
    ["sends its password in the clear", { bind: ["10.0.0.5"] }, {}, "warn", /unencrypted/],
    ["gives its user all keys", { readsAll: true }, {}, "warn", /every key/],
    ["has another time", { clockMs: -9000 }, {}, "warn", /behind/],
    ["does not report its facts", { info: null }, {}, "warn", /does not report its version/],
  ])("%s", (_what, over, info, level, message) => {
    expect(over.info === null ? queueFindings({ ...good, info: null })[0] : worst(over, info)[0]).toMatchObject({
      level,
      message: expect.stringMatching(message),
      hint: expect.any(String),
    });
  });

  test("may listen everywhere with a password and TLS", () => {
    expect(worst({ bind: ["*"], url: "rediss://host" })).toEqual([]);
  });
});

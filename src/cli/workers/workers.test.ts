import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, type TestContext, test } from "vitest";
import { commandLine } from "../../../test/support/command-line.ts";
import { startRedis, type TestRedis } from "../../../test/support/redis.ts";
import { queueName } from "../../workers/protocol/queue-name.ts";
import { WORKERS, workerKey } from "../../workers/protocol/redis-names.ts";
import type { WorkerEntry } from "../../workers/queue/registry.ts";
import { workerTable } from "./workers.ts";

let place: string;
let server: TestRedis | undefined;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "maestro-list-"));
});
afterAll(async () => {
  rmSync(place, { recursive: true });
  await server?.close();
});

const workers = (words: string[], env: Record<string, string> = {}) =>
  commandLine(
    { path: place, environment: (own = {}) => ({ PATH: "/bin", HOME: place, ...own }) },
    ["workers", ...words],
    { env },
  );

const now = new Date("2026-02-14T22:58:40.000Z");
const queue = queueName({ runtime: "gemini", pool: "GEMINI_API_KEY", needs: ["gpu"] });
const entry: WorkerEntry = {
  id: "1",
  name: "anvil",
  host: "build",
  pid: 7,
  version: "0.1.0",
  slots: 4,
  runtimes: ["gemini", "claude"],
  labels: ["gpu"],
  running: [{ key: "0123456789abcdef-0123456789ab-1", queue, since: "2026-02-14T22:58:00.000Z" }],
  isDraining: false,
  started: "2026-02-14T22:50:00.000Z",
  seen: "2026-02-14T22:58:35.000Z",
};

test("the table has slots, runtimes, labels, version, last sign, and what each worker runs", () => {
  expect(
    workerTable([entry, { ...entry, id: "2", name: "forge", running: [], labels: [], isDraining: true }], now),
  ).toEqual([
    "WORKER  SLOTS             RUNTIMES       LABELS  VERSION  HOST   LAST SIGN",
    "anvil   1 of 4            gemini claude  gpu     0.1.0    build  5 s ago",
    "  0123456789abcdef-0123456789ab-1: gemini gpu, for 40 s",
    "forge   0 of 4, draining  gemini claude          0.1.0    build  5 s ago",
    "",
    "2 workers, 1 of 8 slots in use",
  ]);
});

test("maestro workers lists what is in the queue, and takes its password from a file or a variable", async (context: TestContext) => {
  server = await startRedis(context, ["--requirepass", "open-sesame"]);
  const { url } = server;
  const refused = await workers(["--queue", url]);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("MAESTRO_QUEUE_PASSWORD")]);
  const env = { MAESTRO_QUEUE_PASSWORD: "open-sesame" };
  const elsewhere = await workers(["--queue", `${url}/999`], env);
  expect([elsewhere.code, elsewhere.stderr]).toEqual([3, expect.stringContaining("DB index is out of range")]);
  expect((await workers(["--queue", url], env)).stdout).toContain("No worker is running");
  writeFileSync(join(place, "password"), "open-sesame\n");
  const words = ["--queue", url, "--password-file", "password", "--json"];
  expect(JSON.parse((await workers(words)).stdout)).toEqual({ queue: url, workers: [] });

  const { connect } = await import("../../workers/queue/connection.ts");
  const redis = await connect({ url, password: "open-sesame" }, () => undefined);
  await redis.sadd(WORKERS, entry.id, "gone");
  await redis.set(workerKey(entry.id), JSON.stringify(entry));
  redis.disconnect();
  const listed = JSON.parse((await workers(["--json"], { ...env, MAESTRO_WORKERS: url })).stdout);
  expect(listed.workers).toEqual([
    expect.objectContaining({
      name: "anvil",
      slots: 4,
      draining: false,
      running: [{ attempt: entry.running[0]?.key, runtime: "gemini", needs: ["gpu"], since: entry.running[0]?.since }],
    }),
  ]);
});

test("maestro worker does not start without any agent program", async () => {
  const project = { path: place, environment: (own = {}) => ({ PATH: "/absent", HOME: place, ...own }) };
  const words = ["worker", "--queue", "redis://127.0.0.1:1", "--exchange", place];
  const env = { MAESTRO_WORKER_KEY: "k".repeat(32) };
  const { code, stderr } = await commandLine(project, words, { env });
  expect([code, stderr]).toEqual([3, expect.stringContaining("No agent program is on the PATH")]);
  expect((await commandLine(project, [...words, "--runtimes", ","], { env })).code).toBe(2);
});

test("maestro workers refuses a password in the address, and an address that is missing or wrong", async () => {
  const told = await workers(["--queue", "redis://:hunter2@localhost"]);
  expect([told.code, told.stderr.includes("hunter2")]).toEqual([2, false]);
  expect((await workers([])).code).toBe(2);
  expect((await workers(["--queue", "redis://localhost:1:2"])).code).toBe(2);
  expect((await workers(["--queue", "http://localhost"])).code).toBe(2);
});

import { describe, expect, test } from "vitest";
import { attemptKey, attemptKeyForm, inRef, outRef } from "./attempt-key.ts";
import { type DeliveryNote, readDelivery } from "./delivery.ts";
import { MAX_JOB_BYTES, readJob } from "./job.ts";
import { deadline } from "./lease.ts";
import { type Order, readOrder, withPlaceholder } from "./order.ts";
import { queueName, readQueueName, serves } from "./queue-name.ts";
import { isSealed, sealOf } from "./seal.ts";
import { readSign, signText } from "./sign.ts";

const run = "0123456789abcdef";
const key = attemptKey({ run, phase: "1", attempt: 1 });

describe("the key of an attempt", () => {
  test("tells attempts of different runs, phases and numbers apart, and nothing about the plan", () => {
    const others = [
      attemptKey({ run: "f".repeat(16), phase: "1", attempt: 1 }),
      attemptKey({ run, phase: "secret-name", attempt: 1 }),
      attemptKey({ run, phase: "1", attempt: 2 }),
    ];
    expect(new Set([key, ...others]).size).toBe(4);
    for (const one of [key, ...others]) expect(one).toMatch(attemptKeyForm);
    expect(others.join()).not.toContain("secret");
    expect([inRef(key), outRef(key)]).toEqual([`refs/maestro-exchange/in/${key}`, `refs/maestro-exchange/out/${key}`]);
  });
});

describe("the name of a queue", () => {
  test.each([
    { runtime: "gemini", pool: "login", needs: [] },
    { runtime: "acp:node agent.js --flag", pool: "GEMINI_API_KEY", needs: ["gpu", "ssd"] },
    { runtime: "ä %20:", pool: "login", needs: [] },
  ])("gives back what it was made of: %j", (named) => {
    const name = queueName(named);
    expect(name).not.toContain(":");
    expect(readQueueName(name)).toEqual(named);
  });

  test("does not depend on the order of labels", () => {
    const named = { runtime: "gemini", pool: "login" };
    expect(queueName({ ...named, needs: ["b", "a", "b"] })).toBe(queueName({ ...named, needs: ["a", "b"] }));
  });

  test.each(["v2 gemini login ", "v1 gemini login", "bull", "v1 ge%zzmini login ", "v1 a:b login "])(
    "of another version or program is not read: %j",
    (name) => expect(readQueueName(name)).toBeUndefined(),
  );

  test("is served by a worker with the runtime and all labels", () => {
    const named = { runtime: "gemini", pool: "login", needs: ["gpu"] };
    expect(serves({ runtimes: ["gemini"], labels: ["gpu", "ssd"] }, named)).toBe(true);
    expect(serves({ runtimes: ["gemini"], labels: ["ssd"] }, named)).toBe(false);
    expect(serves({ runtimes: ["claude"], labels: ["gpu"] }, named)).toBe(false);
  });
});

describe("a job", () => {
  const job = { v: 1, key, order: "a".repeat(40), home: "0".repeat(16) } as const;

  test("is far below the limit, and has names only", () => {
    expect(readJob(job)).toEqual(job);
    expect(JSON.stringify(job).length).toBeLessThan(MAX_JOB_BYTES / 10);
  });

  test.each([
    { ...job, v: 2 },
    { ...job, key: "../x" },
    { ...job, order: "HEAD" },
    { ...job, extra: "x" },
    { ...job, home: "x".repeat(MAX_JOB_BYTES) },
    null,
  ])("of another form is not read: %j", (wrong) => expect(readJob(wrong)).toBeUndefined());
});

describe("a seal", () => {
  const secret = "k".repeat(32);
  const sealed = { kind: "delivery", key, tree: "a".repeat(40), order: "b".repeat(40) } as const;

  test("proves what it was made for, and nothing else", () => {
    const seal = sealOf(secret, sealed);
    expect(isSealed(secret, sealed, seal)).toBe(true);
    const others = [
      { ...sealed, kind: "order" as const },
      { ...sealed, key: attemptKey({ run, phase: "1", attempt: 2 }) },
      { ...sealed, tree: "c".repeat(40) },
      { ...sealed, order: "" },
    ];
    for (const other of others) expect(isSealed(secret, other, seal)).toBe(false);
    expect(isSealed("x".repeat(32), sealed, seal)).toBe(false);
    for (const wrong of ["", seal.slice(1), `${seal}0`, seal.toUpperCase()])
      expect(isSealed(secret, sealed, wrong)).toBe(false);
  });
});

const order: Order = {
  v: 1,
  key,
  session: "2026-02-14-task-api",
  phase: "1",
  attempt: 1,
  name: "coder.p1-1",
  agent: "coder",
  tier: "full",
  runtime: "gemini",
  model: null,
  root: `/maestro-${"0".repeat(32)}`,
  prefix: "packages/api/",
  timeout_ms: 1000,
  setup_timeout_ms: 1000,
  grace_ms: 0,
  sandbox: false,
  setup: "",
  requires: ["GEMINI_API_KEY"],
  passes: ["APP_*"],
  force: ["a.txt"],
};
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));

describe("an order", () => {
  test("is read back as it was written", () => expect(readOrder(bytesOf(order))).toEqual({ order }));

  test.each([
    { ...order, requires: ["A=B"] },
    { ...order, prefix: "/etc/" },
    { ...order, root: "/etc" },
    { ...order, tier: "all" },
    { ...order, env: { A: "b" } },
    "text",
  ])("of another form is refused: %j", (wrong) => expect(readOrder(bytesOf(wrong))).toHaveProperty("fault"));

  test("that is not JSON is refused", () => expect(readOrder(Buffer.from("{"))).toHaveProperty("fault"));

  test("names no path of the machine that made it", () => {
    const prompt = "Project root: /home/me/project\nin /home/me/project/src and /home/me/cache/w1/project";
    const paths = ["/home/me/project", "/home/me/cache/w1/project"];
    expect(withPlaceholder(prompt, paths, "/@")).toBe("Project root: /@\nin /@/src and /@");
  });
});

describe("a delivery", () => {
  const note: DeliveryNote = {
    v: 1,
    key,
    worker: "anvil",
    kind: "ended",
    message: "",
    code: 0,
    killed: null,
    failure: null,
    duration_ms: 5,
    nested: [],
    setup: [],
    metered: { usage: [{ model: "m", input: 3, output: 2, cached: 1, thoughts: 0 }], requests: 2 },
    withheld: null,
    warnings: [],
  };
  test("is read back as it was written", () => expect(readDelivery(bytesOf(note))).toEqual({ delivery: note }));
  test.each([
    { ...note, code: 300 },
    { ...note, killed: "no" },
    { ...note, kind: "success" },
  ])("of another form does not count: %j", (wrong) => expect(readDelivery(bytesOf(wrong))).toHaveProperty("fault"));
});

describe("a sign", () => {
  test("is cut to what an engine shows, and a longer one is not read", () => {
    const sign = { key, worker: "anvil", kind: "running", activity: "x".repeat(5000) } as const;
    expect(readSign(signText(sign))?.activity?.length).toBe(200);
    expect(readSign(JSON.stringify(sign))).toBeUndefined();
    expect(readSign("{")).toBeUndefined();
  });
});

test("a worker's own clock ends before the lease does", () => {
  expect(deadline({ leaseMs: 60_000, renewalMs: 10_000, sweepMs: 15_000 }, 100)).toBe(48_100);
});

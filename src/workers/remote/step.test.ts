import { describe, expect, test } from "vitest";
import { OTHER_KEY, refusedText } from "../protocol/refusal.ts";
import { type RemoteStanding, stepOf } from "./step.ts";

const standing = (over: Partial<RemoteStanding>): RemoteStanding => ({
  state: { kind: "waiting" },
  isDelivered: null,
  wasClaimed: false,
  missingMs: 0,
  leaseMs: 60_000,
  ...over,
});
const lost = { kind: "lost", message: "The worker of the attempt is gone" };

describe("what follows for an attempt on a worker", () => {
  test.each<[string, Partial<RemoteStanding>, object]>([
    ["it waits in the queue", {}, { kind: "wait" }],
    ["a worker took it", { state: { kind: "active", worker: "a" } }, { kind: "claimed", worker: "a" }],
    ["a worker still has it", { state: { kind: "active", worker: "a" }, wasClaimed: true }, { kind: "wait" }],
    [
      "its delivery is there, whatever the queue says",
      { state: { kind: "lost" }, isDelivered: true },
      { kind: "take" },
    ],
    ["its worker is gone: look first", { state: { kind: "lost" }, wasClaimed: true }, { kind: "look" }],
    ["its worker is gone, and left nothing", { state: { kind: "lost" }, isDelivered: false, wasClaimed: true }, lost],
    ["it failed in the queue", { state: { kind: "failed", reason: "lost", worker: "a" }, isDelivered: false }, lost],
    ["the queue completed it: look", { state: { kind: "completed" } }, { kind: "look" }],
    [
      "the queue completed it, and nothing is there",
      { state: { kind: "completed" }, isDelivered: false, wasClaimed: true },
      { kind: "lost", message: "The worker of the attempt ended without a delivery" },
    ],
    [
      "a worker refused it",
      { state: { kind: "failed", reason: refusedText("not an order"), worker: "a" }, isDelivered: false },
      { kind: "refused", message: "The worker refused the order: not an order" },
    ],
    [
      "a worker with another key refused it: look first",
      { state: { kind: "failed", reason: refusedText(OTHER_KEY), worker: "a" } },
      { kind: "look" },
    ],
    [
      "a worker with another key refused it, and it is not done",
      { state: { kind: "failed", reason: refusedText(OTHER_KEY), worker: "a" }, isDelivered: false, wasClaimed: true },
      { kind: "other_key", worker: "a" },
    ],
    ["the queue forgot it before a worker took it: look", { state: { kind: "missing" } }, { kind: "look" }],
    ["and nothing is there: add it", { state: { kind: "missing" }, isDelivered: false }, { kind: "add" }],
    [
      "the queue forgot it while a worker ran it: that worker may still deliver",
      { state: { kind: "missing" }, isDelivered: false, wasClaimed: true, missingMs: 59_999 },
      { kind: "wait" },
    ],
    [
      "until its lease is over",
      { state: { kind: "missing" }, isDelivered: false, wasClaimed: true, missingMs: 60_000 },
      lost,
    ],
  ])("%s", (_, over, step) => expect(stepOf(standing(over))).toEqual(step));
});

import { expect, test } from "vitest";
import {
  at,
  begin,
  end,
  fails,
  move,
  phase,
  runs,
  sessionOf,
  type Timed,
} from "../../../test/support/sample-session.ts";
import { findPhase } from "../../session/session.ts";
import { whyOf } from "./why.ts";

const now = at(50).getTime();
const driven = { now, slots: null, isDriven: true };
const after = (id: string) => ({ blocked_by: [id as never] });

function why(
  id: string,
  phases: Parameters<typeof sessionOf>[0],
  timed: Timed[],
  moment: Parameters<typeof whyOf>[2] = driven,
) {
  const session = sessionOf(phases, timed);
  const found = findPhase(session, id);
  if (found === undefined) throw new Error(`no phase ${id}`);
  return whyOf(session, found, moment);
}

const started = (id: string): Timed[] => [move(1, id, "pending", "in_progress"), begin(1, id)];

test("names the phases that a phase is blocked by, with their states", () => {
  const reason = why("2", [phase("1"), phase("2", after("1"))], started("1"));
  expect(reason).toMatchObject({ kind: "blocked", phases: ["1"] });
  expect(reason?.text).toBe("Blocked by 1 (in progress).");
});

test("says that all slots are taken", () => {
  const reason = why("3", [phase("1"), phase("2"), phase("3")], [...started("1"), ...started("2")], {
    ...driven,
    slots: 2,
  });
  expect(reason).toMatchObject({ kind: "slots", phases: ["1", "2"] });
  expect(reason?.text).toContain("2 of 2");
});

test("says until when the quota is exhausted", () => {
  const until = at(600).toISOString();
  const hit: Timed = [2, { type: "quota.hit", phase: "1" as never, wait_ms: 600_000, until, slots: 1 }];
  const reason = why("2", [phase("1"), phase("2")], [...started("1"), hit]);
  expect(reason?.kind).toBe("quota");
  expect(reason?.text).toContain("9 min 10 s");
});

test("says that a batch has to be reviewed", () => {
  const tree = "a".repeat(40) as never;
  const opened: Timed = [20, { type: "review.opened", phases: ["1" as never], batch: 1, tree }];
  const set: Timed = [0, { type: "session.review_set", review: "batch" }];
  const reason = why("2", [phase("1"), phase("2", after("1"))], [set, ...runs(1, 9, "1"), opened]);
  expect(reason).toMatchObject({ kind: "review", text: "Paused for the review of batch-1." });
});

test("says that a phase which runs alone waits for other phases, and they for it", () => {
  const alone = phase("2", { parallel: false });
  expect(why("2", [phase("1"), alone], started("1"))?.kind).toBe("alone");
  expect(why("1", [phase("1"), alone], started("2"))?.text).toBe("Phase 2 runs alone.");
});

test("never says that slots are taken when nothing runs", () => {
  const idle = why("2", [phase("1"), phase("2")], [], { now, slots: 1, isDriven: false });
  expect(idle?.text).toBe(
    'Of the phases that can start, those with a longer path to the end start first. No engine is running. Continue with "maestro resume".',
  );
});

test("says that the budget is spent", () => {
  const amounts = { wanted: { usd: 1 }, spent: { usd: 5 }, proposed: { usd: 6 } };
  const spent: Timed = [10, { type: "session.budget_spent", phase: "2" as never, ...amounts }];
  const set: Timed = [0, { type: "session.budget_set", budget: { usd: 5 }, before: { usd: 0 } }];
  expect(why("2", [phase("1"), phase("2")], [set, spent])?.text).toBe(
    "The budget is spent: you decide whether to raise it.",
  );
});

test("says what a failed phase and a ready phase without an engine wait for", () => {
  const failed = [...started("1"), end(4, "1", 3, { outcome: "failure" as const }), ...fails(5, "1", "runtime", "no")];
  expect(why("1", [phase("1"), phase("2")], failed)?.kind).toBe("user");
  expect(why("2", [phase("1"), phase("2")], failed)).toMatchObject({ kind: "user", phases: ["1"] });
  expect(why("1", [phase("1")], [], { ...driven, isDriven: false })?.text).toContain("maestro resume");
  expect(why("1", [phase("1")], runs(1, 2, "1"))).toBeUndefined();
  expect(why("1", [phase("1")], started("1"))).toMatchObject({ kind: "runs" });
});

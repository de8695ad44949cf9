import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../../test/support/session.ts";
import { judgeForeign } from "../decide/foreign-event.ts";
import { decideApproval, decideReopening, decideReview, requireReview } from "../decide/review/decide-review.ts";
import type { SessionEvent } from "../events.ts";
import { positionOf } from "../position.ts";
import type { Review, Session, SessionPhase } from "../session.ts";
import { judgeMove } from "../transitions.ts";
import { barrierOf, isApproved, openReview, reviewName } from "./review.ts";

const tree = "a".repeat(40);
const other = "b".repeat(40);
const plan = [
  frozenPhase("1", { files_modified: ["a.txt"] }),
  frozenPhase("2"),
  frozenPhase("3", { blocked_by: ["1"] }),
  frozenPhase("4", { blocked_by: ["3"] }),
];
const done = (...ids: string[]) =>
  ids.flatMap((id) => [moved(id, "pending", "in_progress"), moved(id, "in_progress", "completed")]);
const byBatch: SessionEvent = { type: "session.review_set", review: "batch" };
const batchOpened: SessionEvent = { type: "review.opened", phases: ["1", "2"], batch: 1, tree };
const batchApproved: SessionEvent = {
  type: "review.approved",
  phases: ["1", "2"],
  batch: 1,
  tree,
  user_decision: true,
};
const phaseOpened: SessionEvent = { type: "review.opened", phases: ["1"], attempt: 1, tree };
const session = (...events: SessionEvent[]) => sessionAfter(plan, ...events);
const inReview = () => session(byBatch, ...done("1", "2"), batchOpened);
const inPhaseReview = (...events: SessionEvent[]) =>
  session(
    { type: "session.review_set", review: "phase" },
    moved("1", "pending", "in_progress"),
    phaseOpened,
    ...events,
  );

describe("a session that is reviewed after each batch (C41)", () => {
  const barrier = (...events: SessionEvent[]) => {
    const { depth, review } = barrierOf(session(byBatch, ...events));
    return { depth, review };
  };

  test("stops at the first batch that is not done, not approved, or has been reopened", () => {
    expect(barrier()).toEqual({ depth: 0, review: null });
    expect(barrier(...done("1"))).toEqual({ depth: 0, review: null });
    expect(barrier(...done("1", "2"))).toEqual({ depth: 0, review: { batch: 1, phases: ["1", "2"] } });
    const approved = [...done("1", "2"), batchOpened, batchApproved];
    expect(barrier(...approved)).toEqual({ depth: 1, review: null });
    expect(barrier(...approved, ...done("3"))).toEqual({ depth: 1, review: { batch: 2, phases: ["3"] } });
    const again: SessionEvent = { type: "phase.reopened", phase: "1", hashes: {} };
    expect(barrier(...approved, again)).toEqual({ depth: 0, review: null });
    expect(barrier(...approved, again, moved("1", "in_progress", "completed"))).toEqual({
      depth: 0,
      review: { batch: 1, phases: ["1"] },
    });
  });

  test("asks for no review of the last batch, or of a batch that the user skipped", () => {
    const all = [...done("1", "2"), batchApproved, ...done("3")];
    const approved: SessionEvent = { type: "review.approved", phases: ["3"], batch: 2, tree, user_decision: true };
    expect(barrier(...all, approved, ...done("4"))).toMatchObject({ review: null });
    const skipped = [moved("1", "pending", "skipped"), moved("2", "pending", "skipped")];
    expect(barrier(...skipped)).toEqual({ depth: 1, review: null });
  });

  test("ignores unfinished phases that were not requested", () => {
    const only = new Set(["1", "3"]);
    expect(barrierOf(session(byBatch, ...done("1")), only)).toMatchObject({ depth: 0, review: { phases: ["1"] } });
  });
});

describe("an open review (C41)", () => {
  test("is found by its name, its number or a phase that it covers", () => {
    for (const name of ["batch-1", "batch", "1", "2"]) expect(requireReview(inReview(), name).batch).toBe(1);
    expect(() => requireReview(inReview(), "3")).toThrow('No review of "3" is open');
    expect(() => requireReview(session(), "1")).toThrow("No review");
    expect([inReview(), inPhaseReview()].map((one) => reviewName(openReview(one) as Review))).toEqual(["batch-1", "1"]);
  });

  test("of a batch lets no other phase start, for the engine or for a person", () => {
    const phase = inReview().phases[2] as SessionPhase;
    const move = { to: "in_progress", userDecision: true, maxRetries: 0 } as const;
    expect(judgeMove(inReview(), phase, move)).toMatchObject({
      reason: "Cannot move phase 3 from pending to in_progress: it waits for the review of batch-1",
    });
    expect(positionOf(inReview()).ready).toEqual([]);
  });

  test("is opened once for a tree, and again for another one", () => {
    expect(decideReview(inReview(), { phases: ["1", "2"], batch: 1, tree })).toEqual([]);
    expect(decideReview(inReview(), { phases: ["1", "2"], batch: 1, tree: other })).toMatchObject([{ tree: other }]);
  });

  test("is approved only for the tree that was shown", () => {
    const review = openReview(inPhaseReview()) as Review;
    expect(() => decideApproval(inPhaseReview(), { ...review, tree: other })).toThrow("has changed since");
    const approved = inPhaseReview(...decideApproval(inPhaseReview(), review));
    expect(openReview(approved)).toBeNull();
    expect([
      isApproved(approved, "1", 1, tree),
      isApproved(approved, "1", 1, other),
      isApproved(approved, "1", 2, tree),
    ]).toEqual([true, false, false]);
    expect(isApproved(inPhaseReview(), "1", 1, tree)).toBe(false);
  });

  test("keeps its phase from being completed in another way, also by the user", () => {
    const complete = (from: Session, userDecision: boolean) =>
      judgeMove(from, from.phases[0] as SessionPhase, { to: "completed", userDecision, maxRetries: 0 });
    for (const decided of [true, false]) {
      expect(complete(inPhaseReview(), decided)).toMatchObject({
        legal: false,
        reason: "Cannot move phase 1 from in_progress to completed: its work waits for the user's review",
      });
    }
    const approved = inPhaseReview(...decideApproval(inPhaseReview(), openReview(inPhaseReview()) as Review));
    expect(complete(approved, false)).toEqual({ legal: true });
  });

  test.each<[string, (from: Session) => SessionEvent[]]>([
    ["its phase is skipped", () => [moved("1", "in_progress", "skipped")]],
    ["it is rejected", (from) => decideReopening(from, { phase: "1", isRejection: true, hashes: {} })],
    ["another review mode is chosen", () => [{ type: "session.review_set", review: "end" }]],
  ])("ends when %s", (_, next) => {
    expect(openReview(inPhaseReview(...next(inPhaseReview())))).toBeNull();
  });
});

describe("a phase that is reopened (C41)", () => {
  test("is completed, or rejected in the open review", () => {
    const reopen = (from: Session, isRejection = false) =>
      decideReopening(from, { phase: "1", isRejection, hashes: {} });
    expect(reopen(session(...done("1")))).toEqual([{ type: "phase.reopened", phase: "1", hashes: {} }]);
    expect(() => reopen(session())).toThrow("Cannot reopen phase 1: it is pending, not completed");
    expect(() => reopen(session(...done("1")), true)).toThrow('No review of "1" is open');
    expect(reopen(inPhaseReview(), true)).toMatchObject([{ rejected: tree }]);
    expect(reopen(inReview(), true)).toMatchObject([{ rejected: tree }]);
    const aborted: SessionEvent = { type: "session.status_set", status: "failed", aborted: true };
    expect(() => reopen(session(...done("1"), aborted))).toThrow("was aborted");
  });

  test("brings a completed session back to work, and keeps what the user said", () => {
    const all = [...done("1", "2", "3", "4"), { type: "session.status_set", status: "completed" } as const];
    const events = decideReopening(session(...all), { phase: "1", guidance: "Better.", hashes: { "a.txt": null } });
    const again = session(...all, ...events);
    expect(again).toMatchObject({ status: "in_progress", current_phase: "1" });
    expect(again.phases[0]).toMatchObject({
      status: "in_progress",
      reopened: 1,
      retry_count: 0,
      retry_decisions: [{ reopened: true, guidance: "Better." }],
    });
    expect(again.phases[2]?.status).toBe("completed");
  });
});

describe("while an engine runs the session, another process (C41)", () => {
  const judged = (from: Session, ...change: SessionEvent[]) => judgeForeign(from, change, { stateDir: ".gemini" });

  test("may approve, reject, reopen, and show a review again", () => {
    const opened: SessionEvent = { ...batchOpened, tree: other } as SessionEvent;
    for (const event of [
      batchApproved,
      opened,
      ...decideReopening(inReview(), { phase: "2", isRejection: true, hashes: {} }),
    ])
      expect(judged(inReview(), event)).toEqual({ events: [event] });
  });

  test.each<[string, Session, SessionEvent, string]>([
    [
      "approve another tree",
      inReview(),
      { ...batchApproved, tree: other } as SessionEvent,
      "another tree is shown for review",
    ],
    ["approve without a review", session(...done("1")), batchApproved, "no review is open"],
    ["open a review", session(...done("1", "2")), batchOpened, "the engine alone opens a review"],
    [
      "reject without a review",
      session(...done("1")),
      { type: "phase.reopened", phase: "1", rejected: tree, hashes: {} },
      "Cannot reject phase 1: no review of its work is open",
    ],
    [
      "record hashes of other files",
      session(...done("1")),
      { type: "phase.reopened", phase: "1", hashes: { "x.txt": null } },
      'phase 1 does not own "x.txt"',
    ],
    ["choose another review mode", session(), byBatch, "session.review_set is recorded by the engine alone"],
  ])("may not %s", (_, from, event, refused) => {
    expect(judged(from, event)).toEqual({ refused });
  });
});

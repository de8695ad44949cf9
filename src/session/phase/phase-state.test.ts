import { describe, expect, test } from "vitest";
import {
  begin,
  end,
  fails,
  move,
  phase,
  place,
  reported,
  runs,
  sessionOf,
  type Timed,
} from "../../../test/support/sample-session.ts";
import type { PhaseId, TreeId } from "../../ids.ts";
import { findPhase, type SessionPhase } from "../session.ts";
import { type PhaseState, phaseState } from "./phase-state.ts";

const plan = [phase("1", { validation: ["npm test"] }), phase("2", { blocked_by: ["1"] })];
const started = [move(1, "1", "pending", "in_progress"), begin(1, "1")];
const done = [...started, end(9, "1", 8), reported(9, "1")];
const retried = [
  ...started,
  end(9, "1", 8, { outcome: "failure" }),
  ...fails(9, "1", "runtime", "no"),
  move(10, "1", "failed", "in_progress"),
];
const aborted: Timed = [11, { type: "session.status_set", status: "failed", aborted: true }];

const tree = "a".repeat(40) as TreeId;
const batchReview: Timed = [20, { type: "review.opened", phases: ["1" as PhaseId], batch: 1, tree }];
const phaseReview: Timed = [20, { type: "review.opened", phases: ["1" as PhaseId], attempt: 1, tree }];

describe("what a phase is doing (C43)", () => {
  test.each<[string, readonly Timed[], string, PhaseState, PhaseState]>([
    ["nothing has started", [], "1", "ready", "ready"],
    ["another phase comes first", [], "2", "waiting", "waiting"],
    ["the phase before it is done", runs(1, 2, "1"), "2", "ready", "ready"],
    ["the session was aborted", [aborted], "2", "not_started", "not_started"],
    ["an attempt has no recorded end", started, "1", "running", "interrupted"],
    ["its agent has reported", done, "1", "running", "to_verify"],
    ["its work is in a worktree", [...done, place(1, "1")], "1", "running", "to_integrate"],
    ["the user decided a retry", retried, "1", "running", "to_retry"],
    ["the retry was stopped", [...retried, begin(11, "1", 2)], "1", "running", "interrupted"],
    ["it was started without an attempt", [move(1, "1", "pending", "in_progress")], "1", "running", "running"],
    ["a batch is reviewed", [...runs(1, 2, "1"), batchReview], "2", "held", "held"],
    ["its work is reviewed", [...done, place(1, "1"), phaseReview], "1", "in_review", "in_review"],
    ["it has failed", retried.slice(0, -1), "1", "failed", "failed"],
    ["it is completed", runs(1, 2, "1"), "1", "completed", "completed"],
    ["it was skipped", [move(1, "1", "pending", "skipped")], "1", "skipped", "skipped"],
  ])("when %s", (_, timed, id, driven, idle) => {
    const session = sessionOf(plan, timed);
    const one = findPhase(session, id) as SessionPhase;
    expect([phaseState(session, one, true), phaseState(session, one, false)]).toEqual([driven, idle]);
  });

  test("when a conversation has delegated it: running without an engine, until the conversation has ended", () => {
    const session = sessionOf(plan, [started[0] as Timed, begin(1, "1", 1, { runtime: "native" })]);
    const one = findPhase(session, "1") as SessionPhase;
    const lost = { ...one, attempts: one.attempts.map((attempt) => ({ ...attempt, lost: true as const })) };
    expect([phaseState(session, one, false), phaseState(session, lost, false)]).toEqual(["running", "interrupted"]);
  });
});

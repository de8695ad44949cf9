import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../test/support/session.ts";
import { phaseStatuses, sessionStatuses } from "./event-parts.ts";
import type { PhaseStatus } from "./events.ts";
import { findPhase, type Session, type SessionPhase } from "./session.ts";
import { judgeMove, judgeStatus } from "./transitions.ts";

/** Decision C20: moves that are always legal, and moves that need the user's decision. All others are illegal. */
const free = ["pending>in_progress", "in_progress>completed", "in_progress>failed", "failed>in_progress"];
const byDecision = ["pending>skipped", "in_progress>skipped", "failed>skipped", "failed>aborted"];

const inStatus = (status: PhaseStatus): { session: Session; phase: SessionPhase } => {
  const session = sessionAfter([frozenPhase("1")]);
  const phase = findPhase(session, "1") as SessionPhase;
  phase.status = status;
  return { session, phase };
};

describe("a phase (C20, K142-K149)", () => {
  for (const from of phaseStatuses) {
    for (const to of phaseStatuses) {
      const pair = `${from}>${to}`;
      const legal = { free: free.includes(pair), decision: free.includes(pair) || byDecision.includes(pair) };
      test(`may ${legal.free ? "" : legal.decision ? "only by the user's decision " : "never "}go from ${from} to ${to}`, () => {
        for (const userDecision of [false, true]) {
          const { session, phase } = inStatus(from);
          const verdict = judgeMove(session, phase, { to, userDecision, maxRetries: 2 });
          expect(verdict.legal).toBe(userDecision ? legal.decision : legal.free);
          if (!verdict.legal) {
            expect(verdict.reason).toContain(from);
            expect(verdict.reason).toContain(to);
          }
        }
      });
    }
  }

  test("does not start before the phases it depends on are closed (K149)", () => {
    const phases = [frozenPhase("1"), frozenPhase("2"), frozenPhase("3", { blocked_by: ["1", "2"] })];
    const start = (session: Session) =>
      judgeMove(session, findPhase(session, "3") as SessionPhase, {
        to: "in_progress",
        userDecision: true,
        maxRetries: 2,
      });
    expect(start(sessionAfter(phases))).toMatchObject({
      legal: false,
      reason: expect.stringContaining("it waits for phases 1, 2"),
    });
    const oneDone = [moved("1", "pending", "in_progress"), moved("1", "in_progress", "completed")];
    expect(start(sessionAfter(phases, ...oneDone))).toMatchObject({
      legal: false,
      reason: expect.stringContaining("it waits for phase 2"),
    });
    expect(start(sessionAfter(phases, ...oneDone, moved("2", "pending", "skipped"))).legal).toBe(true);
  });

  test("is retried MAESTRO_MAX_RETRIES times, then the user decides (K150)", () => {
    const { session, phase } = inStatus("failed");
    const retry = (userDecision: boolean) =>
      judgeMove(session, phase, { to: "in_progress", userDecision, maxRetries: 2 });
    phase.retry_count = 1;
    expect(retry(false).legal).toBe(true);
    phase.retry_count = 2;
    expect(retry(false)).toMatchObject({ legal: false, reason: expect.stringContaining("2 of 2") });
    expect(retry(true).legal).toBe(true);
  });

  test("does not move once the session is completed or was aborted", () => {
    const done = sessionAfter([frozenPhase("1"), frozenPhase("2")], {
      type: "session.status_set",
      status: "completed",
    });
    expect(
      judgeMove(done, findPhase(done, "1") as SessionPhase, { to: "in_progress", userDecision: true, maxRetries: 2 })
        .legal,
    ).toBe(false);
    const aborted = sessionAfter(
      [frozenPhase("1"), frozenPhase("2")],
      moved("1", "pending", "in_progress"),
      moved("1", "in_progress", "failed"),
      moved("1", "failed", "aborted"),
    );
    expect(aborted.status).toBe("failed");
    expect(
      judgeMove(aborted, findPhase(aborted, "2") as SessionPhase, {
        to: "in_progress",
        userDecision: true,
        maxRetries: 2,
      }),
    ).toMatchObject({
      legal: false,
      reason: expect.stringContaining("aborted"),
    });
  });
});

describe("a session (K141)", () => {
  const legal = [
    "in_progress>completed",
    "in_progress>failed",
    "in_progress>interrupted",
    "interrupted>in_progress",
    "interrupted>failed",
    "failed>in_progress",
  ];
  for (const from of sessionStatuses) {
    for (const to of sessionStatuses) {
      test(`${legal.includes(`${from}>${to}`) ? "may" : "may not"} go from ${from} to ${to}`, () => {
        const session = sessionAfter([frozenPhase("1")], moved("1", "pending", "skipped"));
        session.status = from;
        expect(judgeStatus(session, to).legal).toBe(legal.includes(`${from}>${to}`));
      });
    }
  }

  test("is not completed while a phase is open", () => {
    expect(judgeStatus(sessionAfter([frozenPhase("1")]), "completed")).toMatchObject({
      legal: false,
      reason: expect.stringContaining("1 (pending)"),
    });
  });
});

import { describe, expect, test } from "vitest";
import { frozenPhase, frozenPlan, moved, sessionAfter } from "../../../test/support/session.ts";
import type { SessionEvent } from "../events.ts";
import { applyEvent } from "../fold.ts";
import type { Session } from "../session.ts";
import { judgeForeign } from "./foreign-event.ts";
import { decideCompletion } from "./operation.ts";
import { acceptedOpen, decideAnswer } from "./requirement.ts";

const requirements = [
  { id: "R1", text: "It is fast" },
  { id: "R2", text: "It is small" },
];
const phases = [frozenPhase("1", { requirements: ["R1", "R2"] })];

/** A session with two requirements whose only phase is done, after `events`. */
function done(...events: SessionEvent[]): Session {
  const plan = { ...frozenPlan(phases), requirements };
  const created: SessionEvent = { type: "session.created", session_id: "s", task: null, execution_mode: null, plan };
  const all = [created, moved("1", "pending", "in_progress"), moved("1", "in_progress", "completed"), ...events];
  let session: Session | undefined;
  for (const [at, event] of all.entries()) {
    session = applyEvent(session, { ...structuredClone(event), seq: at + 1, ts: "2026-02-14T22:58:00.000Z" });
  }
  return session as Session;
}

const answer = (requirement: string, verdict: "met" | "not_met" | "dropped"): SessionEvent => ({
  ...{ type: "requirement.answered", requirement, verdict, evidence: "npm test" },
});
const met = [answer("R1", "met"), answer("R2", "met")];

describe("a session with requirements", () => {
  test.each<[what: string, events: SessionEvent[], named: string]>([
    ["an open one", [answer("R1", "met")], "1 requirement is not met: R2 (open)"],
    ["one that is not met", [answer("R1", "met"), answer("R2", "not_met")], "R2 (not met)"],
    ["a dropped one", [answer("R1", "dropped"), answer("R2", "met")], "R1 (dropped)"],
  ])("is completed with %s only for a reason, which is recorded (C56)", (_, events, named) => {
    const session = done(...events);
    expect(() => decideCompletion(session)).toThrow(named);
    expect(() => decideCompletion(session, { acceptOpen: "  " })).toThrow(named);
    const status = { type: "session.status_set", status: "completed", accept_open: "later" };
    expect(decideCompletion(session, { acceptOpen: "later" })).toEqual([status]);
    expect(() => acceptedOpen(session, undefined, "archive session s")).toThrow("Cannot archive session s");
  });

  test("is completed without a word when each is met, and records no reason then", () => {
    expect(decideCompletion(done(...met), { acceptOpen: "later" })).toEqual([
      { type: "session.status_set", status: "completed" },
    ]);
  });

  test("takes the last answer to each", () => {
    expect(decideCompletion(done(...met, answer("R1", "not_met")), { acceptOpen: "x" })).toMatchObject([
      { accept_open: "x" },
    ]);
  });

  test("keeps an answer when the plan is revised, unless its text changes, and a requirement that the revision leaves out", () => {
    const plan = { ...frozenPlan(phases), requirements: [{ id: "R1", text: "It is very fast" }] };
    const revised = done(...met, { type: "plan.revised", plan, text: "", superseded: null });
    expect(revised.requirements).toMatchObject([
      { id: "R1", text: "It is very fast" },
      { id: "R2", answer: { verdict: "met" } },
    ]);
    expect(revised.requirements[0]).not.toHaveProperty("answer");
  });
});

describe("an answer", () => {
  test("needs a known requirement, evidence and an open session", () => {
    const request = { id: "R1", verdict: "met" as const, evidence: "npm test" };
    expect(decideAnswer(done(), request)).toEqual([answer("R1", "met")]);
    expect(() => decideAnswer(done(), { ...request, id: "R9" })).toThrow('no requirement "R9"');
    expect(() => decideAnswer(done(), { ...request, evidence: " " })).toThrow("the evidence is empty");
    expect(() => decideAnswer(sessionAfter([frozenPhase("1")]), request)).toThrow("no requirement");
    const over = done(...met, { type: "session.status_set", status: "completed" });
    expect(() => decideAnswer(over, request)).toThrow("the session is completed");
  });

  test("is not recorded while an engine runs", () => {
    expect(judgeForeign(done(), [answer("R1", "met")], { stateDir: ".gemini" })).toEqual({
      refused: "requirements are answered when the run has ended",
    });
  });
});

import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../../test/support/session.ts";
import { agentTiers } from "../../agents/tiers.ts";
import { emptyContext } from "../../handoff/downstream-context.ts";
import type { SessionEvent } from "../events.ts";
import type { Session } from "../session.ts";
import { type DelegationRequest, isExecuting, judgeDelegation } from "./delegation.ts";

const plan = [
  frozenPhase("1"),
  frozenPhase("2", { agent: "tester", blocked_by: ["1"] }),
  frozenPhase("3"),
  frozenPhase("4", { agent: "architect" }),
];
const fresh = sessionAfter(plan);
const following = (...events: SessionEvent[]) => sessionAfter(plan, ...events);
const started = (id: string) => moved(id, "pending", "in_progress");
const failed = (id: string) => moved(id, "in_progress", "failed");
const retried = (id: string) => moved(id, "failed", "in_progress");
const completed = (id: string) => moved(id, "in_progress", "completed");
const handoff = { status: "success" as const, missing: [], summary: "", downstream_context: emptyContext() };
const aborted: SessionEvent = { type: "session.status_set", status: "failed", aborted: true };

function judge(session: Session | undefined, over: Partial<DelegationRequest> = {}) {
  return judgeDelegation(session, {
    agent: "coder",
    phase: undefined,
    mode: "sequential",
    running: new Set(),
    maxRetries: 2,
    ...over,
  });
}

const chosen = (id: string) => ({ kind: "phase", phase: expect.objectContaining({ id }) });
const refused = (reason: RegExp) => ({ kind: "refused", reason: expect.stringMatching(reason) });

describe("whether a session is being executed", () => {
  test.each<[string, Session | undefined, boolean]>([
    ["no session", undefined, false],
    ["a new one", fresh, true],
    ["one that was interrupted", following({ type: "session.status_set", status: "interrupted" }), true],
    ["one with a failed phase", following(started("1"), failed("1")), true],
    ["an aborted one", following(aborted), false],
    [
      "one with nothing left to do",
      sessionAfter([frozenPhase("1"), frozenPhase("2")], started("1"), completed("1"), {
        type: "phase.moved",
        phase: "2",
        from: "pending",
        to: "skipped",
      }),
      false,
    ],
  ])("%s: %j", (_, session, executing) => {
    expect(isExecuting(session)).toBe(executing);
    if (!executing) expect(judge(session, { phase: "1", mode: null })).toEqual({ kind: "outside" });
  });
});

describe("the phase that a delegation is about", () => {
  test("is the one that is named, when it is ready and the agent's", () => {
    expect(judge(fresh, { phase: "3" })).toEqual(chosen("3"));
    expect(judge(following(started("1"), completed("1")), { agent: "tester", phase: "2" })).toEqual(chosen("2"));
  });

  test("is the only one that is ready for the agent, when none is named", () => {
    expect(judge(fresh, { agent: "architect" })).toEqual(chosen("4"));
    expect(judge(following(started("1"), completed("1")))).toEqual(chosen("3"));
    expect(judge(fresh, { mode: "parallel", running: new Set(["1"]) })).toEqual(chosen("3"));
  });

  test("may be one that failed and has retries left, or one that was interrupted", () => {
    expect(judge(following(started("1"), failed("1")), { phase: "1" })).toEqual(chosen("1"));
    expect(judge(following(started("1")), { phase: "1" })).toEqual(chosen("1"));
  });

  test.each<[string, Session, Partial<DelegationRequest>, RegExp]>([
    [
      "several are ready",
      fresh,
      {},
      /^Maestro: 2 phases are ready for coder: say which one with a line "Phase: <id>"\./,
    ],
    ["none is ready", fresh, { agent: "tester" }, /^Maestro: no phase is ready for tester\./],
    ["there is none of that name", fresh, { phase: "x" }, /the plan has no phase "x"\./],
    ["a name of Object's own", fresh, { phase: "__proto__" }, /the plan has no phase "__proto__"\./],
    ["another agent's", fresh, { phase: "4" }, /phase 4 belongs to architect, not to coder\./],
    ["it waits", fresh, { agent: "tester", phase: "2" }, /phase 2 .*it waits for phase 1\./],
    ["it is done", following(started("1"), completed("1")), { phase: "1" }, /phase 1 from completed/],
    ["it is being worked on", fresh, { phase: "1", running: new Set(["1"]) }, /phase 1 is being worked on by another/],
    [
      "its retries are used up",
      following(started("1"), failed("1"), retried("1"), failed("1")),
      { phase: "1", maxRetries: 1 },
      /phase 1 has used up its 1 retries.*maestro_decide/,
    ],
    [
      "its report waits for its verification",
      sessionAfter([{ ...frozenPhase("1"), validation: ["npm test"] }, ...plan.slice(1)], started("1"), {
        type: "phase.handed_off",
        phase: "1",
        agent: "coder",
        handoff,
      }),
      { phase: "1" },
      /the report of phase 1 is in: run "maestro verify 1" first/,
    ],
    [
      "another one is at work and the mode is sequential",
      fresh,
      { phase: "1", running: new Set(["4"]) },
      /phase 4 is being worked on, and this session runs one phase at a time/,
    ],
    [
      "it runs alone and another one is at work",
      sessionAfter([frozenPhase("1", { parallel: false }), frozenPhase("2"), frozenPhase("3")]),
      { phase: "1", mode: "parallel", running: new Set(["2"]) },
      /phase 2 is being worked on, and one of the two runs alone/,
    ],
    ["no mode is chosen", fresh, { phase: "1", mode: null }, /no execution mode has been chosen.*"set_mode"/],
  ])("is refused when %s, with what can be delegated", (_, session, request, reason) => {
    const verdict = judge(session, request);
    expect(verdict).toEqual(refused(reason));
    expect(verdict).toEqual(refused(/Phases that can be delegated: |Nothing is ready to start\./));
  });

  test("is named with its title, its agent and its state in every refusal", () => {
    expect(judge(following(started("1"), failed("1"), started("3")), { phase: "x" })).toEqual(
      refused(
        /delegated: 1 "Phase 1" \(coder, failed\); 3 "Phase 3" \(coder, in progress\); 4 "Phase 4" \(architect\)\.$/,
      ),
    );
  });

  test("is one of a short list, however long the plan is", () => {
    const long = sessionAfter(Array.from({ length: 500 }, (_, index) => frozenPhase(String(index))));
    expect(judge(long)).toEqual(refused(/11 "Phase 11" \(coder\), and 488 more\.$/));
  });

  test("is nothing when all that is left waits for what was given up", () => {
    const stuck = sessionAfter(
      [frozenPhase("1"), frozenPhase("2", { blocked_by: ["9"] })],
      started("1"),
      completed("1"),
    );
    expect(judge(stuck)).toEqual(refused(/Nothing is ready to start\.$/));
  });
});

describe("work outside the plan", () => {
  test.each([...agentTiers])("%s (%s) may have it only if it cannot write", (agent, tier) => {
    const verdict = judge(fresh, { agent, phase: "none" });
    const reads = tier === "read-only" || tier === "read-shell";
    expect(verdict).toEqual(
      reads ? { kind: "outside" } : refused(/writes files, so its work needs a phase of the plan/),
    );
  });

  test("needs no execution mode, and is written in any case", () => {
    expect(judge(fresh, { agent: "debugger", phase: "None", mode: null })).toEqual({ kind: "outside" });
  });

  test("is refused to an agent that nobody knows", () => {
    expect(judge(fresh, { agent: "somebody", phase: "none" })).toEqual(refused(/somebody writes files/));
  });
});

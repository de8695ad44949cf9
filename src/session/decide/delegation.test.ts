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
    ["a new session", fresh, true],
    ["an interrupted session", following({ type: "session.status_set", status: "interrupted" }), true],
    ["a session with a failed phase", following(started("1"), failed("1")), true],
    ["an aborted session", following(aborted), false],
    [
      "a session whose phases are all closed",
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

describe("the phase of a delegation", () => {
  test("is the named one, if it is ready and belongs to the agent", () => {
    expect(judge(fresh, { phase: "3" })).toEqual(chosen("3"));
    expect(judge(following(started("1"), completed("1")), { agent: "tester", phase: "2" })).toEqual(chosen("2"));
  });

  test("is the only one that is ready for the agent, if none is named", () => {
    expect(judge(fresh, { agent: "architect" })).toEqual(chosen("4"));
    expect(judge(following(started("1"), completed("1")))).toEqual(chosen("3"));
    expect(judge(fresh, { mode: "parallel", running: new Set(["1"]) })).toEqual(chosen("3"));
  });

  test("may have failed with retries left, or may have been interrupted", () => {
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
    ["the plan does not have it", fresh, { phase: "x" }, /the plan has no phase "x"\./],
    ["its name is a property of Object", fresh, { phase: "__proto__" }, /the plan has no phase "__proto__"\./],
    ["it belongs to another agent", fresh, { phase: "4" }, /phase 4 belongs to architect, not to coder\./],
    ["it depends on an open phase", fresh, { agent: "tester", phase: "2" }, /phase 2 .*it waits for phase 1\./],
    ["it is completed", following(started("1"), completed("1")), { phase: "1" }, /phase 1 from completed/],
    [
      "another delegation is working on it",
      fresh,
      { phase: "1", running: new Set(["1"]) },
      /phase 1 is being worked on by another/,
    ],
    [
      "its retries are used up",
      following(started("1"), failed("1"), retried("1"), failed("1")),
      { phase: "1", maxRetries: 1 },
      /phase 1 has used up its 1 retries.*maestro_decide/,
    ],
    [
      "its report is not verified yet",
      sessionAfter([{ ...frozenPhase("1"), validation: ["npm test"] }, ...plan.slice(1)], started("1"), {
        type: "phase.handed_off",
        phase: "1",
        agent: "coder",
        handoff,
      }),
      { phase: "1" },
      /phase 1 is reported but not verified: run "maestro verify 1" first/,
    ],
    [
      "another phase is running and the mode is sequential",
      fresh,
      { phase: "1", running: new Set(["4"]) },
      /phase 4 is being worked on, and this session runs one phase at a time/,
    ],
    [
      "it must run alone and another phase is running",
      sessionAfter([frozenPhase("1", { parallel: false }), frozenPhase("2"), frozenPhase("3")]),
      { phase: "1", mode: "parallel", running: new Set(["2"]) },
      /phase 2 is being worked on, and one of the two must run alone/,
    ],
    ["no execution mode is chosen", fresh, { phase: "1", mode: null }, /no execution mode has been chosen.*"set_mode"/],
  ])("is refused when %s, with a list of the phases that can be delegated", (_, session, request, reason) => {
    const verdict = judge(session, request);
    expect(verdict).toEqual(refused(reason));
    expect(verdict).toEqual(refused(/Phases that can be delegated: |Nothing is ready to start\./));
  });

  test("is listed with its title, agent and status in a refusal", () => {
    expect(judge(following(started("1"), failed("1"), started("3")), { phase: "x" })).toEqual(
      refused(
        /delegated: 1 "Phase 1" \(coder, failed\); 3 "Phase 3" \(coder, in progress\); 4 "Phase 4" \(architect\)\.$/,
      ),
    );
  });

  test("is listed in a refusal together with at most eleven others", () => {
    const long = sessionAfter(Array.from({ length: 500 }, (_, index) => frozenPhase(String(index))));
    expect(judge(long)).toEqual(refused(/11 "Phase 11" \(coder\), and 488 more\.$/));
  });

  test("does not exist when every open phase is blocked", () => {
    const stuck = sessionAfter(
      [frozenPhase("1"), frozenPhase("2", { blocked_by: ["9"] })],
      started("1"),
      completed("1"),
    );
    expect(judge(stuck)).toEqual(refused(/Nothing is ready to start\.$/));
  });
});

describe("work outside the plan", () => {
  test.each([...agentTiers])("is allowed for %s (%s) only if it cannot write", (agent, tier) => {
    const verdict = judge(fresh, { agent, phase: "none" });
    const reads = tier === "read-only" || tier === "read-shell";
    expect(verdict).toEqual(
      reads ? { kind: "outside" } : refused(/writes files, so its work needs a phase of the plan/),
    );
  });

  test("needs no execution mode, and its name is not case-sensitive", () => {
    expect(judge(fresh, { agent: "debugger", phase: "None", mode: null })).toEqual({ kind: "outside" });
  });

  test("is refused for an unknown agent", () => {
    expect(judge(fresh, { agent: "stranger", phase: "none" })).toEqual(refused(/stranger writes files/));
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { frozenPhase, frozenPlan, moved, sessionAfter, startTime } from "../../test/support/session.ts";
import { attemptClaimed } from "./decide/facts.ts";
import { eventFault, type FrozenPlan, type SessionEvent } from "./events.ts";
import { fold, type TimedEvent } from "./fold.ts";
import { type Attempt, begunAt, findPhase, isQueued } from "./session.ts";

const two = [frozenPhase("1"), frozenPhase("2", { blocked_by: ["1"] })];
const failure = (message: string): SessionEvent => ({
  type: "phase.error_added",
  phase: "1",
  error: { agent: "coder", timestamp: startTime, type: "validation", message, resolution: "pending", resolved: false },
});

describe("a new session (C22, K139, K140)", () => {
  test("has every phase pending, is in progress, and starts at the first phase", () => {
    const session = sessionAfter(two);
    expect(session).toMatchObject({
      status: "in_progress",
      current_phase: "1",
      total_phases: 2,
      execution_mode: null,
      token_usage: { total_input: 0, total_output: 0, total_cached: 0, by_agent: {} },
    });
    const lists = { status: "pending", errors: [], files_created: [], files_modified: [], files_deleted: [] };
    const empty = { key_interfaces_introduced: [], patterns_established: [], integration_points: [] };
    const context = { ...empty, assumptions: [], warnings: [] };
    expect(session.phases).toMatchObject([
      { ...lists, downstream_context: context },
      { ...lists, downstream_context: context },
    ]);
  });

  test("records the paths of its design and its plan", () => {
    const plan = { ...frozenPlan(two), path: "plans/x-impl-plan.md", design_document: "plans/x-design.md" };
    const about = { session_id: "x", task: null, execution_mode: null };
    expect(fold([{ type: "session.created", ...about, plan, seq: 1, ts: startTime }])).toMatchObject({
      design_document: "plans/x-design.md",
      implementation_plan: "plans/x-impl-plan.md",
    });
  });

  test("does not exist before its first event", () => {
    expect(fold([])).toBeUndefined();
    expect(() => fold([{ type: "session.noted", text: "x", seq: 1, ts: startTime }])).toThrow(
      "before the session was created",
    );
  });
});

describe("an error of a journal of an earlier version (C45)", () => {
  test("with the type auth is read as runtime, also in an attempt", () => {
    const old = failure("401");
    const error = { ...(old as { error: object }).error, type: "auth" };
    const session = sessionAfter(two, { ...old, error } as never);
    expect(findPhase(session, "1")?.errors).toMatchObject([{ type: "runtime", message: "401" }]);
    expect(eventFault({ ...old, error } as never)).toBeUndefined();
  });
});

describe("an attempt that is offered to workers", () => {
  const offered: SessionEvent = {
    type: "attempt.started",
    phase: "1",
    attempt: 1,
    agent: "coder",
    run: "r.1",
    runtime: "gemini",
    model: null,
    batch: "s",
    name: "coder.p1-1",
    prompt_bytes: 1,
    timeout_ms: 1000,
    remote: true,
  };
  const attemptAfter = (...events: SessionEvent[]) => {
    const session = sessionAfter(two, moved("1", "pending", "in_progress"), offered, ...events);
    return { session, attempt: findPhase(session, "1")?.attempts[0] as Attempt };
  };

  test("waits in the queue until a worker takes it, and its time counts from then", () => {
    const { session, attempt } = attemptAfter();
    expect([isQueued(attempt), begunAt(attempt)]).toEqual([true, null]);
    const claim = attemptClaimed(session, { phase: "1", attempt: 1, worker: "anvil" });
    if (claim === null) throw new Error("the attempt can be claimed");
    expect(eventFault(claim)).toBeUndefined();
    const { session: after, attempt: claimed } = attemptAfter(claim);
    expect(claimed).toMatchObject({ worker: "anvil", started: "2026-02-14T22:58:02.000Z" });
    expect([isQueued(claimed), begunAt(claimed)]).toEqual([false, "2026-02-14T22:58:03.000Z"]);
    expect(attemptClaimed(after, { phase: "1", attempt: 1, worker: "anvil" })).toBeNull();
  });

  test("is another worker's when the first one gave it back, until it has ended", () => {
    const first: SessionEvent = { type: "attempt.claimed", phase: "1", attempt: 1, worker: "anvil" };
    const claim = attemptClaimed(attemptAfter(first).session, { phase: "1", attempt: 1, worker: "other" });
    if (claim === null) throw new Error("the attempt can be claimed");
    const { session, attempt } = attemptAfter(first, claim);
    expect([attempt.worker, begunAt(attempt)]).toEqual(["other", "2026-02-14T22:58:04.000Z"]);
    attempt.result = {} as never;
    expect(attemptClaimed(session, { phase: "1", attempt: 1, worker: "third" })).toBeNull();
  });

  test("is not claimed when it was not offered, or is not known", () => {
    const session = sessionAfter(two, moved("1", "pending", "in_progress"), { ...offered, remote: undefined });
    expect(attemptClaimed(session, { phase: "1", attempt: 1, worker: "anvil" })).toBeNull();
    expect(attemptClaimed(session, { phase: "1", attempt: 2, worker: "anvil" })).toBeNull();
  });

  test.each(["", "-x", "a b", "x".repeat(65)])("is not claimed by a worker named %j", (worker) => {
    expect(eventFault({ type: "attempt.claimed", phase: "1", attempt: 1, worker } as never)).toContain("worker");
  });
});

describe("phases", () => {
  test("take their times and the session's position from the moves (K152, K153)", () => {
    const session = sessionAfter(
      two,
      moved("1", "pending", "in_progress"),
      moved("1", "in_progress", "completed"),
      moved("2", "pending", "in_progress"),
    );
    expect(findPhase(session, "1")).toMatchObject({
      started: "2026-02-14T22:58:01.000Z",
      completed: "2026-02-14T22:58:02.000Z",
    });
    expect(session).toMatchObject({ current_phase: "2", updated: "2026-02-14T22:58:03.000Z", created: startTime });
  });

  test("make the still running phase current when another one ends", () => {
    const three = [frozenPhase("1"), frozenPhase("2"), frozenPhase("3")];
    const session = sessionAfter(
      three,
      moved("1", "pending", "in_progress"),
      moved("2", "pending", "in_progress"),
      moved("2", "in_progress", "completed"),
    );
    expect(session.current_phase).toBe("1");
  });

  test("count retries, and only retries (K145)", () => {
    const session = sessionAfter(
      two,
      moved("1", "pending", "in_progress"),
      moved("1", "in_progress", "failed"),
      moved("1", "failed", "in_progress"),
      moved("1", "in_progress", "failed"),
      moved("1", "failed", "in_progress"),
    );
    expect(findPhase(session, "1")?.retry_count).toBe(2);
  });

  test("append files without duplicates (K154)", () => {
    const files = (created: string[]): SessionEvent => ({
      type: "phase.files_added",
      phase: "1",
      created,
      modified: [],
      deleted: [],
      hashes: {},
    });
    const session = sessionAfter(two, files(["a"]), files(["b", "a"]));
    expect(findPhase(session, "1")?.files_created).toEqual(["a", "b"]);
  });

  test("resolve their errors when they complete after a retry (K157)", () => {
    const session = sessionAfter(
      two,
      moved("1", "pending", "in_progress"),
      failure("build failed"),
      moved("1", "in_progress", "failed"),
      moved("1", "failed", "in_progress"),
      moved("1", "in_progress", "completed"),
    );
    expect(findPhase(session, "1")?.errors[0]).toEqual({
      agent: "coder",
      timestamp: startTime,
      type: "validation",
      message: "build failed",
      resolution: "Resolved by retry 1",
      resolved: true,
    });
  });

  test("keep the Downstream Context of their hand-off (K155)", () => {
    const downstream_context = {
      key_interfaces_introduced: ["Task"],
      patterns_established: [],
      integration_points: [],
      assumptions: [],
      warnings: [],
    };
    const session = sessionAfter(two, {
      type: "phase.handed_off",
      phase: "1",
      agent: "coder",
      handoff: { status: "success", missing: [], summary: "", downstream_context },
    });
    expect(findPhase(session, "1")?.downstream_context).toEqual(downstream_context);
  });
});

describe("token usage (J131, K156)", () => {
  test("adds up by agent and in total, also for an agent named like a property of Object", () => {
    const used = (agent: string, input: number): SessionEvent => ({
      type: "tokens.used",
      agent,
      input,
      output: 2,
      cached: 1,
    });
    const session = sessionAfter(two, used("coder", 10), used("tester", 20), used("coder", 5), used("constructor", 1));
    expect(session.token_usage).toMatchObject({ total_input: 36, total_output: 8, total_cached: 4 });
    expect(Object.entries(session.token_usage.by_agent)).toEqual([
      ["coder", { input: 15, output: 4, cached: 2 }],
      ["tester", { input: 20, output: 2, cached: 1 }],
      ["constructor", { input: 1, output: 2, cached: 1 }],
    ]);
  });
});

describe("the session's own status", () => {
  test("fails when a phase is aborted (K148), and continues when a failed one is retried or skipped", () => {
    const failed: SessionEvent[] = [moved("1", "pending", "in_progress"), moved("1", "in_progress", "failed")];
    expect(sessionAfter(two, ...failed, moved("1", "failed", "aborted")).status).toBe("failed");
    const stopped: SessionEvent = { type: "session.status_set", status: "failed" };
    expect(sessionAfter(two, ...failed, stopped, moved("1", "failed", "in_progress")).status).toBe("in_progress");
    expect(sessionAfter(two, ...failed, stopped, moved("1", "failed", "skipped")).status).toBe("in_progress");
  });
});

describe("a retry that the user decides (L168)", () => {
  const plan = [frozenPhase("1"), frozenPhase("2")];
  const failed = [moved("1", "pending", "in_progress"), moved("1", "in_progress", "failed")];
  const changes = { agent: "tester", model: "m", timeout_ms: 1000, criteria: ["x"], guidance: "g" };
  const retried = {
    ...moved("1", "failed", "in_progress"),
    user_decision: true,
    reason: "why",
    ...changes,
  } as SessionEvent;
  const revised = (phases: FrozenPlan["phases"]): SessionEvent => ({
    type: "plan.revised",
    plan: { ...frozenPlan(phases), path: "v2.md" },
    text: "",
    superseded: null,
  });

  test("changes the phase for all further attempts, and is kept with its number", () => {
    const { agent, guidance: _, ...kept } = changes;
    expect(sessionAfter(plan, ...failed, retried).phases[0]).toMatchObject({
      agents: [agent],
      ...kept,
      retry_count: 1,
      retry_decisions: [{ retry: 1, reason: "why", ...changes }],
      plan: { agent: "coder", validation_criteria: ["it works"] },
    });
    const automatic = moved("1", "failed", "in_progress");
    expect(sessionAfter(plan, ...failed, automatic).phases[0]).not.toHaveProperty("retry_decisions");
  });

  test("survives a revision, except for what the revision changes itself", () => {
    const revisedTo = (over: object) =>
      sessionAfter(plan, ...failed, retried, revised([frozenPhase("1", over), frozenPhase("2")])).phases[0];
    expect(revisedTo({ description: "More." })).toMatchObject({ agents: ["tester"], criteria: ["x"], model: "m" });
    expect(revisedTo({ agent: "refactor" })).toMatchObject({ agents: ["refactor"], criteria: ["x"] });
    expect(revisedTo({ validation_criteria: ["other"] })).not.toHaveProperty("criteria");
  });
});

describe("a revised plan (L166)", () => {
  test("keeps the state of remaining phases, drops removed pending ones, and adds new ones", () => {
    const plan = {
      ...frozenPlan([frozenPhase("1", { title: "Renamed" }), frozenPhase("3")]),
      path: "v2.md",
      hash: "9",
    };
    const session = sessionAfter(two, moved("1", "pending", "in_progress"), moved("1", "in_progress", "completed"), {
      type: "plan.revised",
      plan,
      text: "",
      superseded: null,
    });
    expect(session.phases.map(({ id, name, status }) => [id, name, status])).toEqual([
      ["1", "Renamed", "completed"],
      ["3", "Phase 3", "pending"],
    ]);
    expect(session).toMatchObject({
      implementation_plan: "v2.md",
      plan_hash: "9",
      total_phases: 2,
      revision: 2,
      current_phase: "3",
    });
  });
});

describe("a revision that changes the commands of a phase (L166)", () => {
  const validated: SessionEvent = { type: "phase.validated", phase: "1", result: "pass", detail: "$ true: passed" };
  const plan = [frozenPhase("1", { validation: ["true", "b"], not_worse: ["b"] }), frozenPhase("2")];
  const revisedTo = (over: object, ...events: SessionEvent[]) =>
    sessionAfter(plan, moved("1", "pending", "in_progress"), validated, ...events, {
      type: "plan.revised",
      plan: {
        ...frozenPlan([frozenPhase("1", { validation: ["true", "b"], not_worse: ["b"], ...over })]),
        path: "v2.md",
      },
      text: "",
      superseded: null,
    }).phases[0];

  test.each([
    ["other commands", { validation: ["true", "c"] }],
    ["fewer commands", { validation: ["b"] }],
    ["commands that must pass now", { not_worse: [] }],
    ["no commands", { validation: [], not_worse: [] }],
  ])("makes the recorded validation of an unfinished phase void: %s", (_, over) => {
    expect(revisedTo(over)).not.toHaveProperty("validation");
  });

  test("keeps the validation when only something else changes, and of a finished phase in any case", () => {
    expect(revisedTo({ description: "More." })).toMatchObject({ validation: { result: "pass" } });
    const completed = moved("1", "in_progress", "completed");
    expect(revisedTo({ validation: ["c"] }, completed)).toMatchObject({
      ...{ status: "completed", validation: { result: "pass" } },
    });
  });
});

describe("an aborted session (K148)", () => {
  test("stays failed whatever else is recorded", () => {
    const aborted = [
      moved("1", "pending", "in_progress"),
      moved("1", "in_progress", "failed"),
      moved("1", "failed", "aborted"),
    ];
    expect(sessionAfter(two, ...aborted, moved("2", "pending", "skipped"))).toMatchObject({
      status: "failed",
      aborted: true,
    });
  });
});

describe("events", () => {
  test("are not changed by folding, so folding them twice gives the same session", () => {
    const record = JSON.parse(JSON.stringify(sessionAfter(two)));
    const { token_usage, phases } = record;
    const session = {
      session_id: "x",
      created: startTime,
      updated: startTime,
      status: "in_progress" as const,
      design_document: null,
      implementation_plan: null,
      execution_mode: null,
      current_phase: "1",
      total_phases: 2,
      token_usage,
      phases,
    };
    const events = [
      { type: "session.imported" as const, title: "X", session, seq: 1, ts: startTime },
      { type: "tokens.used" as const, agent: "coder", input: 5, output: 1, cached: 0, seq: 2, ts: startTime },
      { ...failure("x"), seq: 3, ts: startTime },
      {
        type: "phase.files_added" as const,
        phase: "1",
        created: ["a"],
        modified: [],
        deleted: [],
        hashes: {},
        seq: 4,
        ts: startTime,
      },
    ];
    const once = JSON.stringify(fold(events as TimedEvent[]));
    expect(JSON.stringify(fold(events as TimedEvent[]))).toBe(once);
  });

  test("of an unknown type are rejected with an error that names the type", () => {
    const unknown = { type: "phase.teleported", phase: "1" } as unknown as SessionEvent;
    expect(() => sessionAfter(two, unknown)).toThrow(
      "event 2 (phase.teleported) is not known to this version of Maestro",
    );
  });
});

describe("the work of an attempt", () => {
  const about = { phase: "1", attempt: 1, from: "a".repeat(40), to: "b".repeat(40) };
  const start: SessionEvent = {
    ...{ type: "attempt.started", phase: "1", attempt: 1, agent: "coder", run: "r", runtime: "gemini", model: null },
    ...{ batch: "b", name: "coder.p1-1", prompt_bytes: 1, timeout_ms: 1 },
  };
  const attemptAfter = (...events: SessionEvent[]) =>
    sessionAfter(two, moved("1", "pending", "in_progress"), start, ...events).phases[0]?.attempts[0];

  test("can be integrated, reverted and integrated again", () => {
    const integrated: SessionEvent = { type: "phase.integrated", ...about };
    const reverted: SessionEvent = { type: "phase.reverted", ...about };
    expect(attemptAfter(integrated)).toMatchObject({ integrated: { to: about.to } });
    expect(attemptAfter(integrated, reverted)).toMatchObject({ reverted: true });
    expect(attemptAfter(integrated, reverted)).not.toHaveProperty("integrated");
    expect(attemptAfter(integrated, reverted, integrated)).not.toHaveProperty("reverted");
  });
});

describe("folding the same events", () => {
  test("gives the same session every time", () => {
    const steps = fc.array(
      fc.constantFrom<SessionEvent>(
        moved("1", "pending", "in_progress"),
        moved("1", "in_progress", "failed"),
        moved("1", "failed", "in_progress"),
        failure("x"),
        { type: "session.noted", text: "n" },
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(steps, (events) => {
        const again = sessionAfter(two, ...events);
        expect(sessionAfter(two, ...events)).toEqual(again);
        expect(again.seq).toBe(events.length + 1);
      }),
    );
  });
});

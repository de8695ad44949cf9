import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { frozenPhase, frozenPlan, moved, sessionAfter, startTime } from "../../../test/support/session.ts";
import { type Amounts, unitsOf } from "../../amounts.ts";
import type { EventOf, SessionEvent } from "../events.ts";
import { applyEvent, fold, type TimedEvent } from "../fold.ts";
import type { Session, SessionPhase } from "../session.ts";
import { ledgerOf, spentBefore } from "./ledger.ts";
import { budgetStanding, exceeded, proposedBudget, reservationFor, settle } from "./reserve.ts";

const none = { reported: null, metered: null, isUnbilled: false };
const budget = (cap: Amounts): SessionEvent => ({ type: "session.budget_set", budget: cap, before: {} });

function started(phase: string, attempt: number, reserved?: Amounts): SessionEvent {
  const where = { run: "r", runtime: "gemini", batch: "b", name: `coder.p${phase}-${attempt}` };
  const start = { agent: "coder", model: null, prompt_bytes: 1, timeout_ms: 1, ...where };
  const kept = reserved === undefined ? {} : { reserved };
  return { type: "attempt.started", phase, attempt, ...start, ...kept } as unknown as SessionEvent;
}

function finished(phase: string, attempt: number, over: Partial<EventOf<"attempt.finished">> = {}): SessionEvent {
  const end = { outcome: "success", exit_code: 0, signal: null, duration_ms: 1, usage: null, ...over };
  return { type: "attempt.finished", phase, attempt, ...end } as unknown as SessionEvent;
}

/** Three phases that finished with these dollars, and one that waits. */
function havingSpent(spent: readonly number[], cap: Amounts, over: Parameters<typeof frozenPhase>[1] = {}) {
  const done = spent.map((_, at) => frozenPhase(`d${at}`));
  const events = spent.flatMap((usd, at) => [
    moved(`d${at}`, "pending", "in_progress"),
    started(`d${at}`, 1, { usd: 1 }),
    finished(`d${at}`, 1, { spent: { usd } }),
    moved(`d${at}`, "in_progress", "completed"),
  ]);
  const session = sessionAfter([...done, frozenPhase("1", over)], budget(cap), ...events);
  return { session, phase: session.phases.at(-1) as SessionPhase };
}

describe("what an attempt reserves", () => {
  test("is nothing without a budget", () => {
    const session = sessionAfter([frozenPhase("1")]);
    expect(reservationFor(budgetStanding(session), session.phases[0] as SessionPhase, {})).toEqual({
      kind: "unlimited",
    });
  });

  test("is the budget of its phase, also when the session has none", () => {
    const { session, phase } = havingSpent([], { usd: 5 }, { budget: { usd: 2, tok: 100 } });
    expect(reservationFor(budgetStanding(session), phase, { usd: 1 })).toEqual({
      kind: "reserved",
      amounts: { usd: 2, tok: 100 },
    });
    const free = sessionAfter([frozenPhase("1", { budget: { tok: 100 } })]);
    expect(reservationFor(budgetStanding(free), free.phases[0] as SessionPhase, {})).toEqual({
      kind: "reserved",
      amounts: { tok: 100 },
    });
  });

  test("is otherwise twice the estimate", () => {
    const { session, phase } = havingSpent([0.1, 0.1, 0.1], { usd: 5 });
    expect(reservationFor(budgetStanding(session), phase, { usd: 0.6 })).toEqual({
      kind: "reserved",
      amounts: { usd: 1.2 },
    });
  });

  test("is otherwise what nine of ten finished attempts did not exceed", () => {
    const { session, phase } = havingSpent([0.4, 0.1, 0.3], { usd: 5 });
    expect(reservationFor(budgetStanding(session), phase, {})).toEqual({ kind: "reserved", amounts: { usd: 0.4 } });
  });

  test("is otherwise an equal share of what is left", () => {
    const phases = ["1", "2", "3", "4"].map((id) => frozenPhase(id));
    const session = sessionAfter(
      phases,
      budget({ usd: 4, tok: 10 }),
      moved("1", "pending", "in_progress"),
      started("1", 1, { usd: 1 }),
    );
    const phase = session.phases[1] as SessionPhase;
    expect(reservationFor(budgetStanding(session), phase, {})).toEqual({
      kind: "reserved",
      amounts: { usd: 1, tok: 3 },
    });
  });

  test("is twice as much after an attempt that was stopped at its reservation, unless its phase says how much", () => {
    const over = [
      started("1", 1, { usd: 1 }),
      finished("1", 1, { outcome: "failure", reason: "over_budget", spent: { usd: 1.1 } }),
    ];
    const again = (own: Amounts | undefined) => {
      const phase = frozenPhase("1", own === undefined ? {} : { budget: own });
      const session = sessionAfter([phase], budget({ usd: 9 }), moved("1", "pending", "in_progress"), ...over);
      return reservationFor(budgetStanding(session), session.phases[0] as SessionPhase, { usd: 0.1 });
    };
    expect(again(undefined)).toEqual({ kind: "reserved", amounts: { usd: 2 } });
    expect(again({ usd: 0.5 })).toEqual({ kind: "reserved", amounts: { usd: 0.5 } });
  });

  test("is what is left, down to half of what it should be", () => {
    const { session, phase } = havingSpent([4.4], { usd: 5 });
    expect(reservationFor(budgetStanding(session), phase, { usd: 0.6 })).toEqual({
      kind: "reserved",
      amounts: { usd: 0.6 },
    });
    expect(reservationFor(budgetStanding(session), phase, { usd: 0.61 })).toEqual({
      kind: "short",
      wanted: { usd: 1.22 },
    });
  });
});

describe("what an attempt is charged", () => {
  test("is what it reported, else what was metered, else all that it had reserved", () => {
    const reserved = { usd: 1, tok: 100 };
    expect(settle({ ...none, reserved, reported: { usd: 0.2, tok: 30, req: 2 } })).toEqual({ usd: 0.2, tok: 30 });
    expect(settle({ ...none, reserved, metered: { tok: 130 } })).toEqual({ usd: 1, tok: 130 });
    expect(settle({ ...none, reserved })).toEqual(reserved);
    expect(settle({ ...none, reserved, isUnbilled: true })).toEqual({ usd: 0, tok: 0 });
  });

  test("is its reservation when its end has no amount", () => {
    const events = [budget({ usd: 5 }), started("1", 1, { usd: 2 }), finished("1", 1)];
    expect(ledgerOf(sessionAfter([frozenPhase("1")], ...events))).toMatchObject({
      spent: { usd: 2 },
      left: { usd: 3 },
    });
  });

  test("counts what attempts used before the session had a budget", () => {
    const usage = [{ model: "m", input: 10, output: 5, cached: 4, thoughts: 1 }];
    const events = [started("1", 1), finished("1", 1, { usage })];
    const session = sessionAfter([frozenPhase("1")], ...events);
    expect(spentBefore(session, ([one]) => ({ tok: (one?.input ?? 0) + (one?.output ?? 0) }))).toEqual({ tok: 15 });
  });
});

test("a proposed budget lets every open phase have one attempt, in round numbers", () => {
  const { session } = havingSpent([4.91], { usd: 5, tok: 1000 });
  expect(proposedBudget(session, budgetStanding(session), () => ({ usd: 1.2 }))).toEqual({ usd: 6.2 });
});

/** An engine with many attempts at once, whose usage grows in steps, and which is killed at random. */
class Simulation {
  readonly #events: TimedEvent[] = [];
  readonly #running = new Map<
    string,
    { attempt: number; used: number; cost: number; step: number; reserved: number }
  >();
  readonly #cap: number;
  session: Session;
  mostOver = 0;

  constructor(cap: number, phases: number) {
    this.#cap = cap;
    const plan = frozenPlan(Array.from({ length: phases }, (_, at) => frozenPhase(String(at))));
    const about = { session_id: "2026-02-14-task-api", task: null, execution_mode: "parallel" as const };
    this.session = this.#record({ type: "session.created", ...about, plan, budget: { tok: cap } } as never);
  }

  start(cost: number, step: number): void {
    const phase = this.session.phases.find(({ id, status }) => status !== "completed" && !this.#running.has(id));
    if (phase === undefined || this.#running.size >= 16) return;
    const reservation = reservationFor(budgetStanding(this.session), phase, {});
    if (reservation.kind !== "reserved") return;
    const attempt = phase.attempts.length + 1;
    if (phase.status === "pending") this.#record(moved(phase.id, "pending", "in_progress"));
    this.#record(started(phase.id, attempt, reservation.amounts));
    this.#running.set(phase.id, { attempt, used: 0, cost, step, reserved: reservation.amounts.tok ?? 0 });
    const { spent, reserved } = ledgerOf(this.session) ?? expect.unreachable();
    expect((spent.tok ?? 0) + (reserved.tok ?? 0)).toBeLessThanOrEqual(this.#cap);
  }

  /** One attempt uses a step more; it ends when it is done or over its reservation. */
  advance(at: number): void {
    const [phase, one] = [...this.#running][at % Math.max(1, this.#running.size)] ?? [];
    if (phase === undefined || one === undefined) return;
    one.used = Math.min(one.cost, one.used + one.step);
    const isOver = exceeded({ tok: one.used }, { tok: one.reserved }) !== undefined;
    if (!isOver && one.used < one.cost) return;
    this.#end(phase, isOver ? "failure" : "success", { tok: one.used });
  }

  /** After a kill the meter is lost with the engine: every attempt is adopted without a report. */
  kill(): void {
    for (const phase of [...this.#running.keys()]) this.#end(phase, "interrupted", null);
    const again = fold(structuredClone(this.#events)) ?? expect.unreachable();
    expect(ledgerOf(again)).toEqual(ledgerOf(this.session));
    this.session = again;
  }

  #end(phase: string, outcome: "success" | "failure" | "interrupted", reported: Amounts | null): void {
    const one = this.#running.get(phase) ?? expect.unreachable();
    this.#running.delete(phase);
    const spent = settle({ ...none, reserved: { tok: one.reserved }, reported });
    expect(spent.tok).toBeLessThanOrEqual(one.reserved + one.step);
    if (reported === null) expect(spent.tok).toBe(one.reserved);
    const reason = outcome === "failure" ? { reason: "over_budget" } : {};
    this.#record(finished(phase, one.attempt, { outcome, spent, ...reason }));
    if (outcome === "success") this.#record(moved(phase, "in_progress", "completed"));
  }

  #record(event: SessionEvent): Session {
    const timed = { ...event, seq: this.#events.length + 1, ts: startTime };
    this.#events.push(structuredClone(timed));
    this.session = applyEvent(this.session, timed);
    const ledger = ledgerOf(this.session);
    const used = ledger === null ? 0 : (ledger.spent.tok ?? 0) + (ledger.reserved.tok ?? 0);
    this.mostOver = Math.max(this.mostOver, used - this.#cap);
    return this.session;
  }
}

const deed = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ cost: fc.integer({ min: 1, max: 4000 }), step: fc.integer({ min: 1, max: 50 }) }),
  },
  { weight: 9, arbitrary: fc.record({ advance: fc.nat(15) }) },
  { weight: 1, arbitrary: fc.constant("kill" as const) },
);

test("spent and reserved stay within the cap but for the last step of each running attempt, over kills and resumes", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40_000 }),
      fc.integer({ min: 1, max: 40 }),
      fc.array(deed, { maxLength: 400 }),
      (cap, phases, deeds) => {
        const simulation = new Simulation(cap, phases);
        let before = 0;
        for (const one of deeds) {
          if (one === "kill") simulation.kill();
          else if ("advance" in one) simulation.advance(one.advance);
          else simulation.start(one.cost, one.step);
          const spent = ledgerOf(simulation.session)?.spent.tok ?? 0;
          // Nothing that was spent comes back.
          expect(spent).toBeGreaterThanOrEqual(before);
          before = spent;
        }
        expect(simulation.mostOver).toBeLessThanOrEqual(16 * 50);
      },
    ),
    { numRuns: 150 },
  );
});

test("one attempt at a time goes beyond the cap by its last step at most", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.array(fc.tuple(fc.nat(2000), fc.integer({ min: 1, max: 50 })), { maxLength: 60 }),
      (cap, costs) => {
        const simulation = new Simulation(cap, 60);
        for (const [cost, step] of costs) {
          simulation.start(cost + 1, step);
          for (let at = 0; at <= cost / step + 1; at++) simulation.advance(0);
          expect(simulation.mostOver).toBeLessThan(50);
        }
        expect(unitsOf(ledgerOf(simulation.session)?.cap ?? {})).toEqual(["tok"]);
      },
    ),
    { numRuns: 100 },
  );
});

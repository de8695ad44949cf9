// Runs simulated engines over random plans, failures, quota errors and crashes, and checks what holds for every schedule.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { begin, finished, shown, started, unlimited } from "../../test/support/scheduling.ts";
import { frozenPhase, moved, sessionAfter, startTime } from "../../test/support/session.ts";
import type { SessionEvent } from "../session/events.ts";
import { applyEvent } from "../session/fold.ts";
import { findPhase, isClosed, lastAttempt, type Session, type SessionPhase } from "../session/session.ts";
import { tailsOf } from "./priority.ts";
import { type Backoff, onQuota, onSuccess, startBackoff } from "./quota/backoff.ts";
import { type Action, type Limits, type Schedule, type Situation, schedule } from "./schedule.ts";

/** The result of each attempt of a phase; further attempts succeed. */
type Fate = ("success" | "failure" | "quota" | "invalid")[];

interface World {
  phases: { blocked_by: number[]; parallel: boolean; minutes: number; lasts: number; checkLasts: number; fate: Fate }[];
  limits: Limits;
  maxRetries: number;
  /** The step at which the engine dies and another one takes over, and whether its running attempts left results. */
  crash: { step: number; leavesResult: boolean } | null;
}

interface Run {
  launched: { phase: string; at: number }[];
  end: Schedule["end"];
  session: Session;
  time: number;
  crashed: boolean;
  log: string[];
}

/** An engine without processes: it performs each schedule and passes it to `watch`. */
function simulate(world: World, watch?: (look: Look) => void): Run {
  const { limits, maxRetries } = world;
  let session: Session = sessionAfter(
    world.phases.map(({ blocked_by, parallel, minutes }, at) =>
      frozenPhase(String(at), { blocked_by: blocked_by.map(String), parallel, estimate: { minutes } }),
    ),
  );
  const run: Run = { launched: [], end: null, session, time: 0, crashed: false, log: [] };
  const live = new Map<string, { ends: number; does: Action["kind"] }>();
  let lastLaunch: number | null = null;
  let backoff: Backoff = startBackoff(limits.slots);
  let dice = 0;

  const needs = new Map<string, Action["kind"]>(session.phases.map(({ id }) => [id, "launch"]));
  const record = (...events: SessionEvent[]) => {
    for (const event of events) {
      if (event.type === "attempt.started") needs.set(event.phase, "adopt");
      if (event.type === "attempt.finished")
        needs.set(event.phase, event.outcome === "success" ? "validate" : "launch");
      if (event.type === "phase.moved" && event.to === "in_progress") needs.set(event.phase, "launch");
      if (event.type === "phase.moved" && event.to !== "in_progress") needs.delete(event.phase);
      const seq = session.seq + 1;
      session = applyEvent(session, { ...event, seq, ts: new Date(Date.parse(startTime) + seq).toISOString() });
    }
  };
  const scriptOf = (id: string) => world.phases[Number(id)] as World["phases"][number];
  const fateOf = (phase: SessionPhase) => {
    const made = phase.attempts.length;
    return scriptOf(phase.id).fate[made - 1] ?? "success";
  };
  const failedOnce = (phase: SessionPhase) => {
    record(moved(phase.id, "in_progress", "failed"));
    if (phase.retry_count < maxRetries) record(moved(phase.id, "failed", "in_progress"));
  };
  const attemptEnds = (phase: SessionPhase, now: number) => {
    const { attempt } = lastAttempt(phase) as { attempt: number };
    const fate = fateOf(phase);
    record(finished(phase.id, fate === "invalid" ? "success" : fate, attempt));
    if (fate === "failure") failedOnce(phase);
    if (fate === "success" || fate === "invalid") backoff = onSuccess(backoff, now, limits.slots);
    if (fate !== "quota") return;
    dice = (dice + 0.37) % 1;
    backoff = onQuota(backoff, { now, baseMs: 4, random: () => dice, running: live.size + 1 });
  };
  const act = ({ kind, phase: id }: Action, now: number) => {
    const phase = findPhase(session, id) as SessionPhase;
    if (kind === "adopt") {
      // The engine died before it recorded the end, with or without a result on disk.
      if (world.crash?.leavesResult) attemptEnds(phase, now);
      else record(finished(id, "interrupted", lastAttempt(phase)?.attempt));
      return;
    }
    if (kind === "launch") {
      if (phase.status === "pending") record(begin(id));
      record(started(id, phase.attempts.length + 1));
      run.launched.push({ phase: id, at: now });
      lastLaunch = now;
    }
    const { lasts, checkLasts } = scriptOf(id);
    live.set(id, { ends: now + (kind === "launch" ? lasts : checkLasts), does: kind });
  };
  const end = (id: string, now: number) => {
    const phase = findPhase(session, id) as SessionPhase;
    const does = live.get(id)?.does;
    live.delete(id);
    if (does === "launch") attemptEnds(phase, now);
    else if (fateOf(phase) === "invalid") failedOnce(phase);
    else record(moved(id, "in_progress", "completed"));
  };

  for (let step = 0; step < 20_000; step += 1) {
    const now = run.time;
    if (world.crash?.step === step) {
      live.clear();
      run.crashed = true;
      lastLaunch = null;
      backoff = startBackoff(limits.slots);
    }
    const situation: Situation = {
      live: new Set(live.keys()),
      now,
      lastLaunch,
      notBefore: backoff.until,
      slots: backoff.slots,
      draining: false,
    };
    const answer = schedule(session, limits, situation);
    watch?.({ needs, session, limits, situation, answer, again: () => schedule(session, limits, situation) });
    run.log.push(`${now}: ${shown(answer).join(", ")}`);
    for (const action of answer.actions) act(action, now);
    if (answer.idle) return { ...run, end: answer.end, session };
    const [next] = [...live].sort(([, a], [, b]) => a.ends - b.ends);
    const wakeAt = answer.wakeAt ?? Infinity;
    run.time = Math.max(now, Math.min(next?.[1].ends ?? Infinity, wakeAt));
    expect(run.time, "it waits for nothing").toBeLessThan(Infinity);
    if (next !== undefined && next[1].ends <= wakeAt) end(next[0], run.time);
  }
  throw new Error("It does not end.");
}

interface Look {
  /** What each open phase needs next, derived from its events. */
  needs: ReadonlyMap<string, Action["kind"]>;
  session: Session;
  limits: Limits;
  situation: Situation;
  answer: Schedule;
  again: () => Schedule;
}

const slots = fc.constantFrom(1, 2, 3, 8, Infinity);
/** Most phases succeed at once; otherwise few runs would get far. */
const fate = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Fate>([]) },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom<Fate[number]>("success", "failure", "quota", "quota", "invalid"), {
      maxLength: 4,
    }),
  },
);

const worlds = (over: { alone?: boolean; stagger?: boolean; faults?: boolean; crash?: boolean } = {}) =>
  fc
    .array(
      fc.record({
        edges: fc.array(fc.nat(), { maxLength: 3 }),
        alone: over.alone === true ? fc.nat(5).map((one) => one === 0) : fc.constant(false),
        minutes: fc.nat(9),
        lasts: fc.integer({ min: 1, max: 30 }),
        checkLasts: fc.nat(3),
        fate: over.faults === true ? fate : fc.constant<Fate>([]),
      }),
      { minLength: 1, maxLength: 60, size: "max" },
    )
    .chain((rows) =>
      fc.record({
        phases: fc.constant(
          rows.map(({ edges, alone, ...row }, at) => ({
            ...row,
            parallel: !alone,
            blocked_by: at === 0 ? [] : [...new Set(edges.map((edge) => edge % at))],
          })),
        ),
        limits: fc.record({
          slots,
          staggerMs: over.stagger === true ? fc.constantFrom(0, 5) : fc.constant(0),
          mode: fc.constantFrom<Limits["mode"]>("parallel", "parallel", "sequential"),
          keepGoing: fc.boolean(),
        }),
        maxRetries: fc.nat(2),
        crash:
          over.crash === true
            ? fc.option(fc.record({ step: fc.nat(150), leavesResult: fc.boolean() }))
            : fc.constant(null),
      }),
    );

const anything = worlds({ alone: true, stagger: true, faults: true, crash: true });

const capacity = ({ limits, situation }: Look) =>
  limits.mode === "sequential" ? 1 : Math.min(limits.slots, situation.slots);
const isReady = (session: Session, phase: SessionPhase) =>
  phase.blocked_by.every((id) => isClosed(findPhase(session, id) as SessionPhase));
const chosenOf = ({ answer }: Look, kind: Action["kind"]) =>
  answer.actions.filter((action) => action.kind === kind).map(({ phase }) => phase);
const phasesOf = (session: Session, ids: Iterable<string>) =>
  [...ids].map((id) => findPhase(session, id) as SessionPhase);

/** Phases that could be launched and were not. */
function leftOver({ session, situation, answer, needs }: Look): SessionPhase[] {
  const taken = new Set([...situation.live, ...answer.actions.map(({ phase }) => phase)]);
  return session.phases.filter(
    (phase) => !taken.has(phase.id) && isReady(session, phase) && needs.get(phase.id) === "launch",
  );
}

describe("in any plan, with any failures, quota errors and crashes", () => {
  const always = (check: (look: Look) => void) => {
    fc.assert(fc.property(anything, (world) => void simulate(world, check)));
  };

  test("no phase starts before all its dependencies are closed, and none runs twice at the same time", () => {
    always((look) => {
      const chosen = look.answer.actions.map(({ phase }) => phase);
      expect(new Set(chosen).size).toBe(chosen.length);
      for (const phase of phasesOf(look.session, chosen)) {
        expect(isReady(look.session, phase)).toBe(true);
        expect(look.situation.live.has(phase.id)).toBe(false);
        expect(["pending", "in_progress"]).toContain(phase.status);
      }
    });
  });

  test("every phase gets what it needs: an attempt, a validation or an adoption (P4)", () => {
    always(({ answer, needs }) => {
      for (const { kind, phase } of answer.actions) expect(kind).toBe(needs.get(phase));
    });
  });

  test("no more phases run than there are slots", () => {
    always((look) => {
      const begun = [...chosenOf(look, "launch"), ...chosenOf(look, "validate")].length;
      if (begun > 0) expect(look.situation.live.size + begun).toBeLessThanOrEqual(capacity(look));
    });
  });

  test("no usable slot stays empty, except for the stagger, the quota and phases that run alone", () => {
    always((look) => {
      const { session, limits, situation, answer } = look;
      const running = phasesOf(session, [...situation.live, ...answer.actions.map(({ phase }) => phase)]);
      const isStopped = session.phases.some(({ status }) => status === "failed") && !limits.keepGoing;
      if (isStopped || answer.wakeAt !== null || running.length >= capacity(look)) return;
      if (running.some(({ parallel }) => !parallel)) return;
      const usable = leftOver(look).filter(({ parallel }) => parallel || running.length === 0);
      expect(usable.map(({ id }) => id)).toEqual([]);
    });
  });

  test("launches wait only as long as the stagger and the quota require", () => {
    always(({ limits, situation, answer }) => {
      const { now, lastLaunch, notBefore } = situation;
      const spaced = lastLaunch === null || limits.staggerMs === 0 ? -Infinity : lastLaunch + limits.staggerMs;
      const begun = answer.actions.filter(({ kind }) => kind === "launch").length;
      if (begun > 0) expect(now).toBeGreaterThanOrEqual(Math.max(notBefore, spaced));
      if (limits.staggerMs > 0) expect(begun).toBeLessThanOrEqual(1);
      if (answer.wakeAt === null || answer.actions.some(({ kind }) => kind === "adopt")) return;
      expect(answer.wakeAt).toBe(begun > 0 ? now + limits.staggerMs : Math.max(notBefore, spaced));
      expect(answer.wakeAt).toBeGreaterThan(now);
    });
  });

  test("nothing runs beside a phase that runs alone", () => {
    always((look) => {
      const begun = [...chosenOf(look, "launch"), ...chosenOf(look, "validate")];
      if (begun.length === 0) return;
      const running = phasesOf(look.session, [...look.situation.live, ...begun]);
      expect(running.length === 1 || running.every(({ parallel }) => parallel)).toBe(true);
    });
  });

  test("the phase with the longest path to an end goes first; in sequential mode plan order decides", () => {
    always((look) => {
      const { session, limits, answer } = look;
      if (answer.actions.some(({ kind }) => kind === "adopt")) return;
      const tails = tailsOf(session.phases);
      const rank = ({ id }: SessionPhase) => {
        const position = session.index.get(id) as number;
        return [limits.mode === "sequential" ? 0 : -(tails[position] as number), position] as const;
      };
      const isBefore = (a: SessionPhase, b: SessionPhase) =>
        rank(a)[0] < rank(b)[0] || (rank(a)[0] === rank(b)[0] && rank(a)[1] < rank(b)[1]);
      const begun = phasesOf(session, chosenOf(look, "launch"));
      for (const [at, phase] of begun.entries()) {
        if (at > 0) expect(isBefore(begun[at - 1] as SessionPhase, phase)).toBe(true);
        const overtaken = leftOver(look).filter((other) => other.parallel && isBefore(other, phase));
        expect(overtaken.map(({ id }) => id)).toEqual([]);
      }
    });
  });

  test("the same session in the same situation gives the same schedule, and stays unchanged (P10)", () => {
    always((look) => {
      const before = JSON.stringify(look.session);
      expect(look.again()).toEqual(look.answer);
      expect(JSON.stringify(look.session)).toBe(before);
    });
    fc.assert(
      fc.property(anything, (world) => {
        expect(simulate(world).log).toEqual(simulate(world).log);
      }),
    );
  });

  test("the run ends, with every phase completed or with a failed phase", () => {
    fc.assert(
      fc.property(anything, (world) => {
        const { session, end } = simulate(world);
        const failed = session.phases.filter(({ status }) => status === "failed");
        expect(end).toBe(failed.length > 0 ? "failed" : "completed");
        if (failed.length === 0) expect(session.phases.every(isClosed)).toBe(true);
        if (!world.limits.keepGoing) return;
        // Only phases behind a failed phase remain.
        for (const { status, blocked_by } of session.phases) {
          expect(["completed", "failed", "pending"]).toContain(status);
          if (status === "pending") expect(phasesOf(session, blocked_by).every(isClosed)).toBe(false);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("a phase has one attempt, plus one for each retry, quota error and crash (P4, F17)", () => {
    fc.assert(
      fc.property(anything, (world) => {
        const { session } = simulate(world);
        for (const phase of session.phases) {
          const outcomes = phase.attempts.map(({ result }) => result?.outcome);
          const uncounted = outcomes.filter((outcome) => outcome === "quota" || outcome === "interrupted").length;
          const counted = phase.attempts.length - uncounted;
          expect(phase.retry_count).toBeLessThanOrEqual(world.maxRetries);
          // Each retry allows one more attempt, which may not have started yet.
          expect(counted).toBeLessThanOrEqual(phase.retry_count + 1);
          if (phase.status === "completed") expect(counted).toBe(phase.retry_count + 1);
        }
      }),
    );
  });
});

describe("list scheduling", () => {
  test("takes at most 2 - 1/m times the shortest possible time", () => {
    fc.assert(
      fc.property(worlds(), fc.integer({ min: 1, max: 8 }), (world, m) => {
        const phases = world.phases.map((phase) => ({ ...phase, checkLasts: 0, minutes: phase.lasts }));
        const limits: Limits = { ...unlimited, slots: m };
        const { time, end } = simulate({ ...world, phases, limits });
        const ends: number[] = [];
        for (const { blocked_by, lasts } of phases) {
          ends.push(lasts + Math.max(0, ...blocked_by.map((at) => ends[at] as number)));
        }
        const work = phases.reduce((sum, { lasts }) => sum + lasts, 0);
        expect(end).toBe("completed");
        expect(time).toBeLessThanOrEqual((2 - 1 / m) * Math.max(...ends, work / m) + 1e-9);
      }),
      { numRuns: 200 },
    );
  });
});

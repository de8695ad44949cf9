import { describe, expect, test } from "vitest";
import { begin, calm, finished, shown, started, unlimited } from "../../test/support/scheduling.ts";
import { frozenPhase, moved, sessionAfter } from "../../test/support/session.ts";
import { emptyContext } from "../handoff/downstream-context.ts";
import type { SessionEvent } from "../session/events.ts";
import { findPhase, isClosed, type SessionPhase } from "../session/session.ts";
import { type Lane, type Limits, type Schedule, type Situation, schedule } from "./schedule.ts";

const complete = (phase: string) => [begin(phase), moved(phase, "in_progress", "completed")];
const fail = (phase: string) => [begin(phase), moved(phase, "in_progress", "failed")];

interface Case {
  /** Minutes by phase id; 5 by default. */
  minutes?: Record<string, number>;
  alone?: string[];
  events?: SessionEvent[];
  limits?: Partial<Limits>;
  now?: Partial<Omit<Situation, "live">>;
  live?: string[];
}

/** The schedule for a plan such as "a b c<a,b". */
function planned(plan: string, { minutes = {}, alone = [], events = [], limits, now, live = [] }: Case = {}) {
  const phases = plan.split(" ").map((word) => {
    const [id = "", waits = ""] = word.split("<");
    return frozenPhase(id, {
      parallel: !alone.includes(id),
      blocked_by: waits === "" ? [] : waits.split(","),
      ...(minutes[id] === undefined ? {} : { estimate: { minutes: minutes[id] } }),
    });
  });
  const session = sessionAfter(phases, ...events);
  return schedule(session, { ...unlimited, ...limits }, { ...calm, live: new Set(live), ...now });
}

const launches = (...ids: string[]) => ids.map((id) => `launch ${id}`);

describe("a phase starts", () => {
  test("when all its dependencies are completed or skipped, and not before (H110)", () => {
    expect(shown(planned("a b c<a,b d<b"))).toEqual(launches("a", "b"));
    const events = [...complete("a"), moved("b", "pending", "skipped")];
    expect(shown(planned("a b c<a,b d<b", { events }))).toEqual(launches("c", "d"));
    expect(shown(planned("a b c<a,b", { events: complete("a"), live: ["b"] }))).toEqual([]);
  });

  test("never when it depends on a phase that does not exist", () => {
    expect(planned("a<missing b<a")).toEqual({ actions: [], wakeAt: null, idle: true, end: "blocked" });
  });

  test("only when a slot is free, within the limits of the engine and of the quota", () => {
    expect(shown(planned("a b c d", { limits: { slots: 3 } }))).toEqual(launches("a", "b", "c"));
    expect(shown(planned("a b c d", { limits: { slots: 3 }, now: { slots: 2 } }))).toEqual(launches("a", "b"));
    const half = { events: [begin("a"), started("a")], live: ["a"], limits: { slots: 2 } };
    expect(shown(planned("a b c d", half))).toEqual(launches("b"));
    expect(planned("a b c d", { ...half, now: { slots: 1 } })).toMatchObject({
      actions: [],
      wakeAt: null,
      idle: false,
    });
  });

  test("even after the quota has lowered the slots below the running phases, or to zero", () => {
    const running = { events: [begin("a"), begin("b")], live: ["a", "b"], now: { slots: 1 } };
    expect(planned("a b c", running)).toMatchObject({ actions: [], idle: false });
    expect(shown(planned("a b", { now: { slots: 0 } }))).toEqual(launches("a"));
  });
});

describe("phases with different runtimes", () => {
  /** Phases a and b have one runtime, the others another. */
  const lanes = (first: Lane, second: Lane): Pick<Situation, "laneOf"> => ({
    laneOf: ({ id }) => (id === "a" || id === "b" ? first : second),
  });
  const open = () => ({ free: Infinity, notBefore: -Infinity });

  test("start only as often at once as their own runtime allows", () => {
    const now = lanes({ free: 1, notBefore: -Infinity }, open());
    expect(shown(planned("a b c d", { now }))).toEqual(launches("a", "c", "d"));
  });

  test("wait for the quota of their own runtime, and not for that of another", () => {
    const now = lanes({ free: Infinity, notBefore: 5000 }, open());
    const plan = planned("a b c d", { now });
    expect(shown(plan)).toEqual(launches("c", "d"));
    expect(plan.wakeAt).toBe(5000);
  });
});

describe("the requested phases", () => {
  const only = new Set(["a", "b"]);

  test("start, and no others; the run ends when they are done, although others remain", () => {
    expect(shown(planned("a b c d<a", { limits: { only } }))).toEqual(launches("a", "b"));
    const events = [...complete("a"), ...complete("b")];
    expect(planned("a b c d<a", { events, limits: { only } })).toMatchObject({ idle: true, end: "chosen" });
  });

  test("start even though a phase that was not requested has failed", () => {
    expect(shown(planned("a b c", { events: fail("c"), limits: { only } }))).toEqual(launches("a", "b"));
  });
});

describe("a review (C41)", () => {
  const tree = "a".repeat(40);
  const byBatch: SessionEvent = { type: "session.review_set", review: "batch" };
  const batch: SessionEvent = { type: "review.opened", phases: ["a", "b"], batch: 1, tree };

  test("after a batch is asked for when all of it is done, and nothing of the next one starts before the approval", () => {
    const events = [byBatch, ...complete("a")];
    expect(shown(planned("a b c<a", { events }))).toEqual(launches("b"));
    expect(shown(planned("a b c<a", { events: [...events, ...complete("b")], live: ["b"] }))).toEqual([]);
    const review = planned("a b c<a", { events: [...events, ...complete("b")] });
    expect(review.actions).toEqual([{ kind: "review", phase: "a", batch: 1, phases: ["a", "b"] }]);
    const open = [...events, ...complete("b"), batch];
    expect(planned("a b c<a", { events: open })).toMatchObject({ actions: [], idle: true, end: "review" });
    const approved: SessionEvent = { type: "review.approved", phases: ["a", "b"], batch: 1, tree, user_decision: true };
    expect(shown(planned("a b c<a", { events: [...open, approved] }))).toEqual(launches("c"));
  });

  const byPhase: SessionEvent = { type: "session.review_set", review: "phase" };
  const worked = (id: string, total = 1): SessionEvent[] => [
    begin(id),
    started(id),
    { type: "attempt.placed", phase: id, attempt: 1, worktree: "w", base: null },
    {
      type: "attempt.changed",
      phase: id,
      attempt: 1,
      base: null,
      commit: null,
      files: [],
      total,
      added: 0,
      removed: 0,
      outside: [],
    },
    finished(id, "success"),
  ];

  test("of a phase is asked for one phase at a time, and other phases still start", () => {
    const events = [byPhase, ...worked("a"), ...worked("b")];
    expect(shown(planned("a b c", { events }))).toEqual(["integrate a", "launch c"]);
    expect(shown(planned("a b c", { events, live: ["a"] }))).toEqual(launches("c"));
    const open: SessionEvent = { type: "review.opened", phases: ["b"], attempt: 1, tree };
    expect(shown(planned("a b c", { events: [...events, open] }))).toEqual(launches("c"));
    expect(planned("a b", { events: [...events, open] })).toMatchObject({ idle: true, end: "review" });
    const approved: SessionEvent = { type: "review.approved", phases: ["b"], tree, user_decision: true };
    expect(shown(planned("a b", { events: [...events, open, approved] }))).toEqual(["integrate b"]);
  });

  test("is not needed for work that changes nothing", () => {
    const open: SessionEvent = { type: "review.opened", phases: ["a"], attempt: 1, tree };
    const events = [byPhase, ...worked("a"), open, ...worked("b", 0)];
    expect(shown(planned("a b", { events }))).toEqual(["integrate b"]);
  });
});

describe("work of a native delegation", () => {
  test("is validated, not repeated", () => {
    const handoff = { status: "success" as const, missing: [], summary: "", downstream_context: emptyContext() };
    const events: SessionEvent[] = [begin("a"), { type: "phase.handed_off", phase: "a", agent: "coder", handoff }];
    const session = sessionAfter([frozenPhase("a", { validation: ["true"] })], ...events);
    expect(shown(schedule(session, unlimited, calm))).toEqual(["validate a"]);
  });
});

describe("the order", () => {
  test("follows the longest path to an end, then the plan", () => {
    expect(shown(planned("a b c d<b", { minutes: { c: 7 } }))).toEqual(launches("b", "c", "a"));
    expect(shown(planned("a b c", { limits: { slots: 2 } }))).toEqual(launches("a", "b"));
  });

  test("follows the plan in sequential mode, one phase at a time", () => {
    const sequential = { limits: { mode: "sequential" as const, slots: 8 }, minutes: { c: 70 } };
    expect(shown(planned("a b c", sequential))).toEqual(launches("a"));
    expect(shown(planned("a<c b c", sequential))).toEqual(launches("b"));
    expect(shown(planned("a b c", { ...sequential, events: [begin("a")], live: ["a"] }))).toEqual([]);
  });

  test("puts validations before launches, because they complete phases", () => {
    const events = [begin("b"), started("b"), finished("b", "success")];
    expect(shown(planned("a b", { events, minutes: { a: 60 } }))).toEqual(["validate b", "launch a"]);
    expect(shown(planned("a b", { events, limits: { slots: 1 } }))).toEqual(["validate b"]);
    expect(shown(planned("a b", { events, limits: { mode: "sequential" } }))).toEqual(["validate b"]);
  });

  test("is the same for validations as for launches", () => {
    const done = (id: string) => [begin(id), started(id), finished(id, "success")];
    const events = [...done("a"), ...done("b")];
    const late = { events, minutes: { b: 60 } };
    expect(shown(planned("a b", late))).toEqual(["validate b", "validate a"]);
    expect(shown(planned("a b", { ...late, limits: { slots: 1 } }))).toEqual(["validate b"]);
    expect(shown(planned("a b", { ...late, limits: { mode: "sequential" } }))).toEqual(["validate a"]);
  });
});

describe("a phase that runs alone", () => {
  test("starts when nothing else runs, and nothing starts while it runs", () => {
    expect(shown(planned("a b c", { alone: ["a"] }))).toEqual(launches("a"));
    const live = { alone: ["a"], events: [begin("a")], live: ["a"] };
    expect(planned("a b c", live)).toMatchObject({ actions: [], wakeAt: null, idle: false });
  });

  test("lets other phases go first rather than leave slots empty", () => {
    expect(shown(planned("a b c", { alone: ["b"] }))).toEqual(launches("a", "c"));
    expect(shown(planned("a b c", { alone: ["b"], events: [begin("a")], live: ["a"] }))).toEqual(launches("c"));
    expect(shown(planned("a b", { alone: ["b"], events: complete("a") }))).toEqual(launches("b"));
  });

  test("is validated alone", () => {
    const events = [begin("a"), started("a"), finished("a", "success")];
    expect(shown(planned("a b", { alone: ["a"], events }))).toEqual(["validate a"]);
    expect(shown(planned("a b c", { alone: ["a"], events: [...events, begin("b")], live: ["b"] }))).toEqual(
      launches("c"),
    );
  });

  test("does not schedule a wake-up while another phase runs", () => {
    const late = { alone: ["b"], events: [begin("a")], live: ["a"], now: { notBefore: 9000 } };
    expect(planned("a b", late)).toMatchObject({ actions: [], wakeAt: null });
  });
});

describe("launches are spaced", () => {
  const limits = { staggerMs: 500 };

  test("one per call, and the next is due after the stagger", () => {
    const first = planned("a b", { limits });
    expect([shown(first), first.wakeAt]).toEqual([launches("a"), 1500]);
    const soon = { limits, events: [begin("a")], live: ["a"], now: { lastLaunch: 1000, now: 1499 } };
    expect(planned("a b", soon)).toEqual({ actions: [], wakeAt: 1500, idle: false, end: null });
    expect(shown(planned("a b", { ...soon, now: { lastLaunch: 1000, now: 1500 } }))).toEqual(launches("b"));
  });

  test("without a wake-up when nothing else could start", () => {
    expect(planned("a b<a", { limits }).wakeAt).toBeNull();
    expect(planned("a b", { limits: { staggerMs: 500, slots: 1 } }).wakeAt).toBeNull();
    expect(planned("a b", { limits, alone: ["a"] }).wakeAt).toBeNull();
    expect(planned("a b", { limits, alone: ["b"] }).wakeAt).toBeNull();
  });

  test("and an engine that only waits for the stagger is not idle", () => {
    expect(planned("a", { limits, now: { lastLaunch: 900 } })).toMatchObject({ wakeAt: 1400, idle: false, end: null });
  });

  test("but validations and adoptions are not", () => {
    const now = { lastLaunch: 1000 };
    const done = [
      begin("a"),
      started("a"),
      finished("a", "success"),
      begin("b"),
      started("b"),
      finished("b", "success"),
    ];
    const both = planned("a b c", { limits, now, events: done });
    expect([shown(both), both.wakeAt]).toEqual([["validate a", "validate b"], 1500]);
    const dead = [begin("a"), started("a"), begin("b"), started("b")];
    expect(shown(planned("a b", { limits, now, events: dead }))).toEqual(["adopt a", "adopt b"]);
  });
});

describe("a quota wait", () => {
  test("delays launches until it is over, and nothing else", () => {
    const now = { notBefore: 5000 };
    expect(planned("a b", { now })).toEqual({ actions: [], wakeAt: 5000, idle: false, end: null });
    expect(planned("a b", { now: { notBefore: 1000 } })).toMatchObject({ wakeAt: null });
    const events = [begin("a"), started("a"), finished("a", "success")];
    const validated = planned("a b", { now, events });
    expect([shown(validated), validated.wakeAt]).toEqual([["validate a"], 5000]);
  });

  test("and the stagger both have to be over", () => {
    const limits = { staggerMs: 500 };
    expect(planned("a", { limits, now: { notBefore: 1200, lastLaunch: 900 } }).wakeAt).toBe(1400);
    expect(planned("a", { limits, now: { notBefore: 1600, lastLaunch: 900 } }).wakeAt).toBe(1600);
  });

  test("does not schedule a wake-up when no slot is free", () => {
    const full = { events: [begin("a")], live: ["a"], limits: { slots: 1 }, now: { notBefore: 5000 } };
    expect(planned("a b", full)).toMatchObject({ actions: [], wakeAt: null, idle: false });
  });
});

describe("a phase in progress without running work", () => {
  const unfinished = [begin("a"), started("a")];
  const retried = [moved("a", "in_progress", "failed"), moved("a", "failed", "in_progress")];

  test.each<[string, SessionEvent[], string]>([
    ["was started by hand and has no attempt", [begin("a")], "launch a"],
    ["has an attempt without a recorded end", unfinished, "adopt a"],
    ["has an attempt that succeeded", [...unfinished, finished("a", "success")], "validate a"],
    ["was interrupted", [...unfinished, finished("a", "interrupted")], "launch a"],
    ["was rejected by the provider", [...unfinished, finished("a", "quota")], "launch a"],
    ["is retried after a failure", [...unfinished, finished("a", "failure"), ...retried], "launch a"],
    ["is retried after a timeout", [...unfinished, finished("a", "timeout"), ...retried], "launch a"],
    ["is retried after a failed validation", [...unfinished, finished("a", "success"), ...retried], "launch a"],
    [
      "succeeded in its retry",
      [...unfinished, finished("a", "failure"), ...retried, started("a", 2), finished("a", "success", 2)],
      "validate a",
    ],
    ["died again in its retry", [...unfinished, finished("a", "failure"), ...retried, started("a", 2)], "adopt a"],
    [
      "succeeded after an interruption",
      [...unfinished, finished("a", "interrupted"), started("a", 2), finished("a", "success", 2)],
      "validate a",
    ],
  ])("%s (P4)", (_, events, expected) => {
    expect(shown(planned("a b<a", { events }))).toEqual([expected]);
    expect(shown(planned("a b<a", { events, live: ["a"] }))).toEqual([]);
  });

  test("is launched in its turn, not before other phases", () => {
    expect(shown(planned("a b", { events: [begin("b")], limits: { slots: 1 } }))).toEqual(launches("a"));
  });

  test("is not launched while a revised plan gives it an open dependency", () => {
    expect(shown(planned("a b<a", { events: [begin("b")] }))).toEqual(launches("a"));
  });

  test("is adopted before anything else is decided, regardless of slots, and scheduling is repeated at once", () => {
    const events = [...unfinished, begin("b"), started("b")];
    expect(planned("a b c", { events, limits: { slots: 1 } })).toEqual({
      actions: [
        { kind: "adopt", phase: "a" },
        { kind: "adopt", phase: "b" },
      ],
      wakeAt: 1000,
      idle: false,
      end: null,
    });
    const adopting = { events, limits: { slots: 3 }, live: ["a", "b"] };
    expect(shown(planned("a b c", adopting))).toEqual(launches("c"));
  });
});

describe("after a failure", () => {
  test("nothing new starts, but work that has begun is completed", () => {
    const failed = [...fail("a"), begin("b"), started("b")];
    expect(planned("a b c", { events: failed, live: ["b"] })).toMatchObject({ actions: [], idle: false, end: null });
    expect(shown(planned("a b c", { events: failed }))).toEqual(["adopt b"]);
    const succeeded = [...failed, finished("b", "success")];
    expect(shown(planned("a b c", { events: succeeded }))).toEqual(["validate b"]);
    const refused = [...failed, finished("b", "quota")];
    expect(planned("a b c", { events: refused })).toMatchObject({ actions: [], idle: true, end: "failed" });
  });

  test("independent phases continue with keepGoing, and its dependents never start", () => {
    const limits = { keepGoing: true };
    expect(shown(planned("a b<a c d<c", { events: fail("a"), limits }))).toEqual(launches("c"));
    const rest = { events: [...fail("a"), ...complete("c")], limits };
    expect(planned("a b<a c", rest)).toEqual({ actions: [], wakeAt: null, idle: true, end: "failed" });
  });

  test("only a decision restarts a failed phase", () => {
    expect(planned("a", { events: fail("a") })).toMatchObject({ actions: [], idle: true, end: "failed" });
    expect(shown(planned("a", { events: [...fail("a"), moved("a", "failed", "in_progress")] }))).toEqual(launches("a"));
    expect(shown(planned("a b<a", { events: [...fail("a"), moved("a", "failed", "skipped")] }))).toEqual(launches("b"));
  });
});

describe("when launches are stopped", () => {
  const now = { draining: true };

  test("work that has begun is completed", () => {
    expect(planned("a b", { now, events: [begin("a")], live: ["a"] })).toMatchObject({ actions: [], idle: false });
    const events = [begin("a"), started("a")];
    expect(shown(planned("a b", { now, events }))).toEqual(["adopt a"]);
    expect(shown(planned("a b", { now, events: [...events, finished("a", "success")] }))).toEqual(["validate a"]);
  });

  test("the schedule is idle without an end when phases could still start", () => {
    expect(planned("a b", { now })).toEqual({ actions: [], wakeAt: null, idle: true, end: null });
    expect(planned("a", { now, events: [begin("a"), started("a"), finished("a", "interrupted")] }).end).toBeNull();
  });

  test("the schedule names the end when no phase could start", () => {
    expect(planned("a", { now, events: complete("a") }).end).toBe("completed");
    expect(planned("a b", { now, events: fail("a") }).end).toBe("failed");
    expect(planned("a<missing", { now }).end).toBe("blocked");
  });
});

describe("the end", () => {
  const over = (end: Schedule["end"]) => ({ actions: [], wakeAt: null, idle: true, end });

  test("is completion when every phase is completed or skipped", () => {
    expect(planned("a b", { events: [...complete("a"), moved("b", "pending", "skipped")] })).toEqual(over("completed"));
  });

  test("is null while something runs", () => {
    expect(planned("a", { events: complete("a"), live: ["a"] })).toMatchObject({ idle: false, end: null });
  });

  test("is failure when the session was aborted, and nothing starts", () => {
    const aborted: SessionEvent = { type: "session.status_set", status: "failed", aborted: true };
    expect(planned("a b", { events: [aborted] })).toEqual(over("failed"));
    expect(planned("a b", { events: [...fail("a"), moved("a", "failed", "aborted")] })).toEqual(over("failed"));
    expect(planned("a", { events: [begin("a"), started("a"), aborted] })).toEqual(over("failed"));
    expect(planned("a b", { events: [begin("a"), aborted], live: ["a"] })).toMatchObject({ idle: false, end: null });
  });

  test("is final when the session is completed or being archived", () => {
    const completed: SessionEvent = { type: "session.status_set", status: "completed" };
    const archived: SessionEvent = {
      type: "archive.started",
      status: "interrupted",
      session_to: "a.md",
      journal_to: "a.jsonl",
      moves: [],
    };
    expect(planned("a", { events: [archived] })).toEqual(over("blocked"));
    expect(planned("a", { events: [...complete("a"), completed] })).toEqual(over("completed"));
  });
});
describe("a session of 2,000 phases", () => {
  test.each([
    ["one after the other", (at: number) => (at === 0 ? [] : [at - 1])],
    ["all at once", () => []],
    ["in a web", (at: number) => [at - 1, at - 7, at >> 1].filter((blocker) => blocker >= 0 && blocker < at)],
  ])("%s is decided in milliseconds, 4,000 times", (_, blockersOf) => {
    const frozen = Array.from({ length: 2000 }, (_, at) =>
      frozenPhase(String(at), { blocked_by: [...new Set(blockersOf(at))].map(String), estimate: { minutes: at % 9 } }),
    );
    const session = sessionAfter(frozen);
    const limits = { ...unlimited, slots: 8 };
    const live = new Set<string>();
    let calls = 0;
    const decide = () => {
      calls += 1;
      return schedule(session, limits, { ...calm, live });
    };
    const before = process.cpuUsage();
    // One call when a phase ends, and one that finds nothing to do.
    for (let answer = decide(); !answer.idle; answer = decide()) {
      for (const { phase } of answer.actions) {
        live.add(phase);
        (findPhase(session, phase) as SessionPhase).status = "in_progress";
      }
      const [oldest = ""] = live;
      decide();
      live.delete(oldest);
      (findPhase(session, oldest) as SessionPhase).status = "completed";
    }
    const { user, system } = process.cpuUsage(before);
    expect(calls).toBeGreaterThanOrEqual(4_000);
    expect(session.phases.every(isClosed)).toBe(true);
    // Seconds of CPU time: several times what a linear algorithm needs; anything worse takes minutes.
    expect((user + system) / 1e6).toBeLessThan(4);
  });
});

describe("a budget that does not suffice", () => {
  const phases = [frozenPhase("1"), frozenPhase("2"), frozenPhase("3", { blocked_by: ["1"] })];
  const affords = (...ids: string[]) => ({ ...calm, affords: ({ id }: SessionPhase) => ids.includes(id) });
  const launched = ({ actions }: Schedule) => actions.map(({ phase }) => phase);

  test("keeps back only the phases that it does not suffice for", () => {
    expect(launched(schedule(sessionAfter(phases), unlimited, affords("2")))).toEqual(["2"]);
  });

  test("ends the run when nothing runs that could give something back", () => {
    const session = sessionAfter(phases);
    expect(schedule(session, unlimited, affords())).toMatchObject({ idle: true, end: "budget" });
    const live = { ...affords(), live: new Set(["2"]) };
    expect(schedule(sessionAfter(phases, begin("2"), started("2")), unlimited, live)).toMatchObject({ idle: false });
  });

  test("does not hide that the user has to decide about a failed phase, unless other phases could continue", () => {
    const session = sessionAfter(phases, ...fail("1"));
    expect(schedule(session, unlimited, affords()).end).toBe("failed");
    expect(schedule(session, { ...unlimited, keepGoing: true }, affords()).end).toBe("budget");
  });

  test("does not matter to a session whose phases are done", () => {
    const session = sessionAfter(phases, ...["1", "2", "3"].flatMap(complete));
    expect(schedule(session, unlimited, affords()).end).toBe("completed");
  });
});

import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { frozenPhase, frozenPlan, moved } from "../../test/support/session.ts";
import { TIMED } from "../../test/support/timed.ts";
import { claimLock, LOCK_FILE } from "../disk/lock.ts";
import type { PhaseId } from "../ids.ts";
import type { EventOf, SessionEvent } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import { renderSession } from "../views/record/session-view.ts";
import { inState, locateState } from "./location.ts";
import { SessionStore } from "./session-store.ts";
import type { StoreOptions } from "./store-options.ts";
import { reviewView } from "./view/view-review.ts";

let project: string;
let warnings: string[];
const stores: SessionStore[] = [];
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "maestro-store-")));
  warnings = [];
});
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
  rmSync(project, { recursive: true });
});

const open = (options: Partial<StoreOptions> = {}) => {
  const store = new SessionStore(locateState(project, ".gemini"), {
    now: () => new Date(),
    warn: (message) => warnings.push(message),
    review: (session, text, sessionAt) => reviewView(session, text, 2, sessionAt),
    ...options,
  });
  stores.push(store);
  return store;
};
const created: EventOf<"session.created"> = {
  type: "session.created",
  session_id: "2026-02-14-a",
  task: null,
  execution_mode: null,
  plan: frozenPlan([frozenPhase("1")]),
};
const create = (store: SessionStore) => store.update(() => ({ events: [created], result: undefined }));
const note = (store: SessionStore, text: string) =>
  store.update(() => ({ events: [{ type: "session.noted", text }], result: undefined }));
const viewPath = () => join(project, ".gemini/state/active-session.md");
const view = () => readFileSync(viewPath(), "utf8");

describe("a long-lived process", () => {
  test("renders the view by itself within a quarter of a second", TIMED, async () => {
    const store = open({ viewDelayMs: 200 });
    create(store);
    const started = performance.now();
    const drawn = () => {
      try {
        return view().includes("seq=1 ");
      } catch {
        return false;
      }
    };
    while (!drawn() && performance.now() - started < 5000) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(drawn()).toBe(true);
    // 250 ms, plus the delay that a busy machine may add to a timer.
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test("renders again what an event changed, and nothing else differs from a rendering of the whole session", () => {
    const store = open();
    const [one, two] = ["1" as PhaseId, "2" as PhaseId];
    const plan = frozenPlan([frozenPhase("1"), frozenPhase("2")]);
    const events: SessionEvent[] = [
      { ...created, plan },
      moved("1", "pending", "in_progress"),
      { type: "phase.warned", phase: one, code: "left_out", message: "first" },
      { type: "session.noted", text: "a note", phase: one },
      moved("2", "pending", "in_progress"),
      { type: "phase.warned", phase: two, code: "left_out", message: "second" },
      moved("1", "in_progress", "completed"),
      { type: "session.status_set", status: "interrupted" },
      moved("2", "in_progress", "failed"),
    ];
    for (const event of events) {
      store.update(() => ({ events: [event], result: undefined }));
      store.flush();
      expect(view().split("\n<!-- maestro:view")[0]).toBe(renderSession(store.session as Session));
    }
  });

  test("does not overwrite an edit made between two of its changes", () => {
    const store = open();
    create(store);
    store.flush();
    writeFileSync(viewPath(), view().replace("execution_mode: null", 'execution_mode: "sequential"'));
    note(store, "after the edit");
    store.flush();
    expect(store.session?.execution_mode).toBe("sequential");
    expect(view()).toContain('execution_mode: "sequential"');
    expect(view()).toContain("after the edit");
    expect(warnings).toEqual([]);
  });

  test("sees the changes of another process, and renders the changes of both", () => {
    const [one, two] = [open(), open()];
    create(one);
    note(two, "from two");
    note(one, "from one");
    two.flush();
    expect(view()).toContain("from one");
    expect(one.read()).toMatchObject({ state: "open", session: { seq: 3 } });
  });
});

describe("while another process holds the lock", () => {
  /** The lock as another living process would hold it. */
  const whileHeld = async (use: () => void | Promise<void>) => {
    const location = locateState(project, ".gemini");
    const claim = inState(location, ["state"], (state) => claimLock(state, LOCK_FILE));
    if (claim === undefined || !("release" in claim)) throw new Error("the lock is taken");
    try {
      await use();
    } finally {
      inState(location, ["state"], claim.release);
    }
  };
  const elapsed = (work: () => void) => {
    const started = performance.now();
    work();
    return performance.now() - started;
  };

  test("close waits for the given time, then warns that the view was not updated", TIMED, async () => {
    const store = open();
    create(store);
    await whileHeld(() => {
      const ms = elapsed(() => store.close(100));
      expect(ms).toBeGreaterThanOrEqual(100);
      expect(ms).toBeLessThan(1000);
      expect(warnings).toEqual([expect.stringMatching(/^The change is recorded, but active-session\.md could not be/)]);
    });
    expect(open().read()).toMatchObject({ state: "open", session: { seq: 1 } });
    expect(view()).toContain("seq=1 ");
  });

  test("a change waits for the time set in the options", TIMED, async () => {
    const store = open({ lockWaitMs: 50 });
    create(store);
    await whileHeld(() => {
      expect(elapsed(() => expect(() => note(store, "x")).toThrow(/State is locked by process/))).toBeLessThan(1000);
    });
  });

  test("a pending view does not block the process, and is rendered soon after the lock is free", TIMED, async () => {
    const store = open({ viewDelayMs: 20 });
    create(store);
    await whileHeld(async () => {
      const ticks: number[] = [];
      const ticking = setInterval(() => ticks.push(performance.now()), 5);
      await new Promise((resolve) => setTimeout(resolve, 300));
      clearInterval(ticking);
      const gaps = ticks.slice(1).map((tick, at) => tick - (ticks[at] ?? 0));
      expect(Math.max(...gaps)).toBeLessThan(200);
      expect(existsSync(viewPath())).toBe(false);
    });
    await expect.poll(() => existsSync(viewPath()) && view().includes("seq=1 "), { timeout: 5000 }).toBe(true);
    expect(warnings).toEqual([]);
  });
});

describe("an update", () => {
  test("that is rejected writes nothing, and an event of the wrong shape is rejected", () => {
    const store = open();
    create(store);
    const journal = () => readFileSync(join(project, ".gemini/state/progress.jsonl"), "utf8");
    const before = journal();
    const refuse = () => {
      throw new Error("no");
    };
    expect(() => store.update(refuse)).toThrow("no");
    expect(() => note(store, 5 as unknown as string)).toThrow(/Cannot record the event: session\.noted: text/);
    expect(journal()).toBe(before);
  });

  test("works without view review, as in a hook, and leaves an edit for the next process that can review it", () => {
    const hook = new SessionStore(locateState(project, ".gemini"), { now: () => new Date(), warn: () => undefined });
    create(open());
    stores[0]?.close();
    const edited = view().replace("execution_mode: null", 'execution_mode: "parallel"');
    writeFileSync(viewPath(), edited);
    expect(hook.read()).toMatchObject({ state: "open", session: { execution_mode: null } });
    note(hook, "from a hook");
    hook.close();
    expect(view()).toBe(edited);
    expect(open().read()).toMatchObject({ session: { execution_mode: "parallel" } });
  });
});

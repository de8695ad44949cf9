// Needs you, claims, history, addresses and figures of the page.

import { describe, expect, test } from "vitest";
import {
  at,
  begin,
  change,
  check,
  end,
  fails,
  integrate,
  move,
  phase,
  place,
  reported,
  runs,
  sessionOf,
  type Timed,
  used,
} from "../../../test/support/sample-session.ts";
import { judgeReopening } from "../../session/decide/review/decide-review.ts";
import { findPhase } from "../../session/session.ts";
import { listPrices } from "../../views/report/prices.ts";
import { compareSessions } from "./compare.ts";
import { criticalPath } from "./critical.ts";
import { claimedAndSeen } from "./evidence.ts";
import { figuresOf } from "./figures.ts";
import { findSessions, type SessionSummary } from "./found.ts";
import { needsOf, reopeningOf } from "./needs.ts";
import { home, readRoute, routeText } from "./route.ts";

const after = (...ids: string[]) => ({ blocked_by: ids as never[] });

describe("needs you", () => {
  const look = { maxRetries: 2, now: at(60).getTime() };

  test("offers for a failed phase what maestro_decide takes", () => {
    const session = sessionOf(
      [phase("1")],
      [
        move(1, "1", "pending", "in_progress"),
        begin(1, "1"),
        end(5, "1", 4, { outcome: "failure" }),
        ...fails(6, "1", "runtime", "exit \u202e1"),
      ],
    );
    const [need] = needsOf(session, look);
    expect(need).toMatchObject({ kind: "failure", phases: ["1"], work: [{ phase: "1", attempt: 1 }] });
    expect(need?.message).toContain("\\u202e");
    expect(need?.answers.map(({ label, action }) => `${label}: ${action}`)).toEqual([
      "Retry: retry",
      "Skip: skip",
      "Retry with guidance: retry",
      "Abort session: abort",
    ]);
    // Guidance that was written reaches the next attempt by either button.
    expect(need?.answers.filter(({ asks }) => asks !== undefined).map(({ label }) => label)).toEqual([
      "Retry",
      "Retry with guidance",
    ]);
  });

  test("binds an approval to the tree that is shown, and shows the work of every phase in it", () => {
    const tree = "a".repeat(40) as never;
    const session = sessionOf(
      [phase("1"), phase("2"), phase("3", after("1"))],
      [
        [0, { type: "session.review_set", review: "batch" }],
        ...runs(1, 9, "1"),
        ...runs(1, 9, "2"),
        [10, { type: "review.opened", phases: ["1" as never, "2" as never], batch: 1, tree }],
      ],
    );
    const [need] = needsOf(session, look);
    expect(need?.answers[0]).toMatchObject({ action: "approve", phase: "batch-1", tree });
    expect(need?.answers.slice(1)).toMatchObject([
      { action: "reject", phase: "1", asks: "guidance" },
      { action: "reject", phase: "2", asks: "guidance" },
    ]);
    expect(need?.work.map((one) => one.phase)).toEqual(["1", "2"]);
  });

  test("offers to reopen exactly the phases that may be reopened", () => {
    const phases = [phase("1"), phase("2", { blocked_by: ["1" as never] })];
    const offered = (...more: Timed[]) => {
      const session = sessionOf(phases, more);
      const all = session.phases.map((one) => reopeningOf(session, one).length === 1);
      expect(all).toEqual(session.phases.map((one) => judgeReopening(session, one).legal));
      return all;
    };
    const both = [...runs(1, 5, "1"), ...runs(6, 9, "2")];
    const again: Timed = [10, { type: "phase.reopened", phase: "1" as never, hashes: {} }];
    const archived: Timed = [10, { type: "archive.started", moves: [] } as never];
    expect(offered(...runs(1, 5, "1"))).toEqual([true, false]);
    expect(offered(...both)).toEqual([true, true]);
    expect(offered(...both, again)).toEqual([false, false]);
    expect(offered(...both, archived)).toEqual([false, false]);
    expect(offered(...both, [10, { type: "session.status_set", status: "failed", aborted: true } as never])).toEqual([
      false,
      false,
    ]);
  });

  test("shows files that an agent was refused, until its phase is done", () => {
    const request = { agent: "coder", paths: ["x.ts"], reason: "needed", granted: false, owner: "2" as never };
    const refused = [
      { type: "phase.scope_requested" as const, phase: "1" as never, seq: 3, ts: at(3).toISOString(), ...request },
    ];
    const open = sessionOf([phase("1"), phase("2")], [move(1, "1", "pending", "in_progress"), begin(1, "1")]);
    expect(needsOf(open, { ...look, refused })).toMatchObject([
      { kind: "scope", phases: ["1"], message: expect.stringContaining("Phase 2 owns them") },
    ]);
    expect(needsOf(sessionOf([phase("1"), phase("2")], runs(1, 5, "1")), { ...look, refused })).toEqual([]);
  });

  test("shows a spent budget once, however many records follow", () => {
    const amounts = { wanted: { usd: 1.2 }, spent: { usd: 4.6 }, proposed: { usd: 5.8 } };
    const needs = (...more: Timed[]) =>
      needsOf(
        sessionOf(
          [phase("1"), phase("2")],
          [
            [0, { type: "session.budget_set", budget: { usd: 5 }, before: { usd: 0.5 } }],
            [10, { type: "session.budget_spent", phase: "2" as never, ...amounts }],
            ...more,
          ],
        ),
        look,
      );
    const [need] = needs();
    expect(need).toMatchObject({ kind: "budget", phases: ["2"], message: expect.stringContaining("--budget 5.8usd") });
    expect(needs([11, { type: "session.noted", text: "later" }])[0]?.key).toBe(need?.key);
  });

  test("shows an exhausted quota, and nothing when nothing waits", () => {
    const until = at(600).toISOString();
    const session = sessionOf(
      [phase("1")],
      [[2, { type: "quota.hit", phase: "1" as never, wait_ms: 1, until, slots: 1 }]],
    );
    expect(needsOf(session, look).map(({ kind }) => kind)).toEqual(["quota"]);
    expect(needsOf(session, { ...look, now: at(601).getTime() })).toEqual([]);
  });
});

describe("claim and evidence", () => {
  const events = [
    move(1, "1", "pending", "in_progress"),
    begin(1, "1"),
    place(1, "1"),
    end(5, "1", 4),
    reported(5, "1"),
    change(5, "1", ["a.ts", { path: "b.ts", kind: "created" as const }], { outside: ["b.ts"] }),
  ];

  test("puts claimed files beside changed ones", () => {
    const session = sessionOf(
      [phase("1")],
      [
        ...events,
        [
          6,
          {
            type: "phase.files_added",
            phase: "1" as never,
            created: ["c.ts"],
            modified: ["a.ts"],
            deleted: [],
            hashes: {},
          },
        ],
      ],
    );
    const seen = claimedAndSeen(session, findPhase(session, "1") as never);
    expect(seen.files.map(({ path, claimed, changed, isOutside }) => [path, claimed, changed, isOutside])).toEqual([
      ["a.ts", "modified", "modified", false],
      ["b.ts", null, "created", true],
      ["c.ts", "created", null, false],
    ]);
    expect(seen.proof).toBeNull();
  });

  test("calls a proof stale when the tree moved on", () => {
    const proved = (tree: string) => {
      const session = sessionOf([phase("1")], [...events, check(7, "1", tree, ["npm test", 0]), integrate(8, "1")]);
      return claimedAndSeen(session, findPhase(session, "1") as never).proof;
    };
    expect(proved("e".repeat(40))).toMatchObject({ result: "pass", isStale: false });
    expect(proved("f".repeat(40))).toMatchObject({ isStale: true });
  });

  test("calls a proof of work in review stale when the review shows another tree, not when other work came in before", () => {
    const proved = (tree: string) => {
      const session = sessionOf(
        [phase("1"), phase("2")],
        [
          move(0, "2", "pending", "in_progress"),
          begin(0, "2"),
          place(0, "2"),
          end(1, "2", 1),
          integrate(1, "2"),
          ...events,
          check(7, "1", "f".repeat(40), ["npm test", 0]),
          [8, { type: "review.opened", phases: ["1" as never], attempt: 1, tree: tree as never }],
        ],
      );
      return claimedAndSeen(session, findPhase(session, "1") as never).proof?.isStale;
    };
    expect(proved("f".repeat(40))).toBe(false);
    expect(proved("d".repeat(40))).toBe(true);
  });

  test("counts what changed the project after the proof", () => {
    const tree = "e".repeat(40);
    const session = sessionOf(
      [phase("1"), phase("2")],
      [
        ...events,
        check(7, "1", tree, ["npm test", 0]),
        integrate(8, "1"),
        move(9, "2", "pending", "in_progress"),
        begin(9, "2"),
        place(9, "2"),
        end(10, "2", 1),
        integrate(11, "2", 1, { from: tree, to: "f".repeat(40) }),
      ],
    );
    const { proof } = claimedAndSeen(session, findPhase(session, "1") as never);
    expect(proof).toMatchObject({ isStale: false, later: 1 });
  });
});

describe("history", () => {
  const sessions: SessionSummary[] = ["Task API", "Search"].map((title, at) => ({
    id: `2026-02-1${at}-x`,
    title,
    status: "completed",
    isActive: false,
    created: "",
    updated: "",
    phases: [{ id: "1", name: "Schema", agent: at === 0 ? "coder" : "tester", status: "completed" }],
    errors: at === 0 ? ["ENOSPC: no space"] : [],
  }));

  test("finds sessions by title, phase, agent and error", () => {
    const ids = (query: string) => findSessions(sessions, query).map(({ session }) => session.title);
    expect(ids("")).toEqual(["Task API", "Search"]);
    expect(ids("search")).toEqual(["Search"]);
    expect(ids("schema tester")).toEqual(["Search"]);
    expect(ids("enospc")).toEqual(["Task API"]);
    expect(findSessions(sessions, "enospc")[0]?.matches).toEqual(["ENOSPC: no space"]);
    expect(ids("nothing")).toEqual([]);
  });

  test("compares two sessions phase by phase, and names the first difference", () => {
    const one = sessionOf([phase("1"), phase("2")], [...runs(0, 10, "1", [used(100, 10)]), ...runs(10, 20, "2")]);
    const other = sessionOf(
      [phase("1"), phase("2"), phase("3")],
      [
        ...runs(0, 12, "1"),
        move(12, "2", "pending", "in_progress"),
        begin(12, "2"),
        end(20, "2", 8, { outcome: "failure" }),
        ...fails(20, "2", "runtime", "x"),
      ],
    );
    const { phases, divergence, wall } = compareSessions(one, other, at(30));
    expect(divergence).toBe(1);
    expect(phases[1]?.differs).toEqual(["status"]);
    expect(phases[0]?.one?.tokens).toBe(110);
    expect(phases[0]?.other?.tokens).toBeNull();
    expect(phases[0]?.one?.changes).toBeNull();
    expect(phases[2]).toMatchObject({ one: null, differs: ["only in one of them"] });
    expect(wall).toEqual([20_000, 20_000]);
  });
});

describe("the address of a place", () => {
  test("comes back as it was", () => {
    const route = {
      ...home,
      session: "a b/c",
      view: "graph" as const,
      phase: "3",
      attempt: 2,
      tab: "log" as const,
      part: "errors" as const,
      line: 14,
      seq: 120,
    };
    expect(readRoute(routeText(route))).toEqual(route);
    expect(readRoute("")).toEqual(home);
    expect(readRoute("#code=abc")).toEqual(home);
  });

  test("is the start page when it says nothing useful", () => {
    expect(readRoute("#/x/unknown?seq=-1&line=no")).toEqual({ ...home, session: "x" });
    expect(readRoute("#/%E0%A4%A/timeline").session).toBe("%E0%A4%A");
  });
});

describe("figures", () => {
  const value = (label: string, session: ReturnType<typeof sessionOf>) =>
    figuresOf(session, listPrices, at(60), 0).find((one) => one.label === label);

  test("say unknown, never 0, when no attempt reported tokens", () => {
    const session = sessionOf([phase("1")], runs(0, 10, "1"));
    expect(value("Tokens", session)?.value).toBe("unknown");
    expect(value("Cost", session)?.value).toBe("unknown");
  });

  test("say unknown, not 0 files, when no attempt recorded its changes", () => {
    const recorded = [...runs(0, 10, "1"), change(10, "1", ["a.ts"])];
    expect(value("Changes", sessionOf([phase("1")], runs(0, 10, "1")))?.value).toBe("unknown");
    expect(value("Changes", sessionOf([phase("1")], []))?.value).toBe("–");
    expect(value("Changes", sessionOf([phase("1")], recorded))?.value).toBe("1 file");
  });

  test("say nothing, not 0, while the first attempt runs", () => {
    const session = sessionOf([phase("1")], [move(0, "1", "pending", "in_progress"), begin(0, "1")]);
    expect(value("Tokens", session)).toMatchObject({ value: "–", detail: "none reported yet" });
    expect(value("Cost", session)?.value).toBe("–");
  });

  test("say at least, when only some attempts reported", () => {
    const session = sessionOf(
      [phase("1"), phase("2")],
      [...runs(0, 10, "1", [used(1_000_000, 0)]), ...runs(0, 10, "2")],
    );
    expect(value("Cost", session)?.value).toBe("≥ $1.25");
    expect(value("Tokens", session)?.value).toBe("≥ 1.0M");
  });

  test("have what of a budget is spent and reserved", () => {
    const set: Timed = [0, { type: "session.budget_set", budget: { usd: 5, tok: 2_000_000 }, before: { usd: 1.5 } }];
    const starts = [move(1, "1", "pending", "in_progress"), begin(1, "1", 1, { reserved: { usd: 0.5 } })];
    const figures = figuresOf(sessionOf([phase("1")], [set, ...starts]), listPrices, at(60), 0);
    expect(figures.filter(({ label }) => label === "Budget")).toEqual([
      { label: "Budget", value: "$1.50", detail: "of $5.00, $0.50 reserved" },
      { label: "Budget", value: "0 tokens", detail: "of 2.0M tokens" },
    ]);
    expect(value("Budget", sessionOf([phase("1")], []))).toBeUndefined();
  });

  test("have the critical path by measured times", () => {
    const session = sessionOf(
      [phase("1"), phase("2"), phase("3", after("1", "2"))],
      [...runs(0, 10, "1"), ...runs(0, 30, "2"), ...runs(30, 40, "3")],
    );
    expect(criticalPath(session, at(40))).toEqual({ ids: ["2", "3"], ms: 40_000 });
  });
});

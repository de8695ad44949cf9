import { describe, expect, test } from "vitest";
import {
  at,
  begin,
  change,
  check,
  end,
  eventsOf,
  fails,
  integrate,
  move,
  phase,
  place,
  runs,
  type Timed,
  used,
  warn,
} from "../../../test/support/sample-session.ts";
import { applyEvent } from "../../session/fold.ts";
import type { Session } from "../../session/session.ts";
import { progressLine } from "./progress.ts";

const plan = [phase("3", { title: "Routes" }), phase("4", { agent: "tester", validation: ["npm test"] })];
const clock = (second: number) => at(second).toTimeString().slice(0, 8);

/** The lines as they appear, each after its own event. */
function log(...timed: Timed[]): (string | null)[] {
  let session: Session | undefined;
  return eventsOf(plan, timed)
    .map((event) => {
      session = applyEvent(session, event);
      return progressLine(event, session);
    })
    .slice(1)
    .filter((line) => line !== null);
}

describe("progress in plain lines", () => {
  test("reports the life of a phase: started, completed with time and tokens", () => {
    expect(log(...runs(1, 63, "3", [used(20_000, 4_000)]))).toEqual([
      `${clock(1)}  phase 3 coder  started (attempt 1)`,
      `${clock(63)}  phase 3 coder  completed in 1 min 2 s, 24,000 tokens`,
    ]);
  });

  test("reports why another runtime takes over, and which one", () => {
    const message = "Claude Code could not sign in. codex takes over.";
    expect(
      log(
        move(1, "3", "pending", "in_progress"),
        begin(1, "3", 1, { runtime: "claude" }),
        end(2, "3", 1, { outcome: "interrupted", reason: "auth", message }),
        begin(3, "3", 2, { runtime: "codex", instead_of: "claude" }),
      ).slice(1),
    ).toEqual([
      `${clock(2)}  phase 3 coder  interrupted after 1 s (attempt 1): ${message}`,
      `${clock(3)}  phase 3 coder  started with codex instead of claude (attempt 2)`,
    ]);
  });

  test("reports a failure once, with its reason, and that it will be retried", () => {
    const again: Timed = [
      13,
      { type: "phase.moved", phase: "3", from: "failed", to: "in_progress", reason: "automatic retry" },
    ];
    const failure = [
      end(13, "3", 12, { outcome: "failure" }),
      ...fails(13, "3", "runtime", "No such module.\nat line 1"),
    ];
    expect(
      log(move(1, "3", "pending", "in_progress"), begin(1, "3"), ...failure, again, begin(14, "3", 2)).slice(1),
    ).toEqual([
      `${clock(13)}  phase 3 coder  failed: No such module (attempt 1, 12 s)`,
      `${clock(13)}  phase 3 coder  to be retried: automatic retry`,
      `${clock(14)}  phase 3 coder  started (attempt 2)`,
    ]);
  });

  test("reports the state at the time of the event, though the session has moved on", () => {
    const events = eventsOf(plan, [
      move(1, "3", "pending", "in_progress"),
      begin(1, "3"),
      end(9, "3", 8, { outcome: "failure" }),
      ...fails(9, "3", "runtime", "first"),
      move(9, "3", "failed", "in_progress"),
      begin(10, "3", 2),
      end(30, "3", 20, { attempt: 2, outcome: "timeout" }),
      ...fails(30, "3", "timeout", "second"),
    ]);
    let session: Session | undefined;
    for (const event of events) session = applyEvent(session, event);
    const failures = events
      .map((event) => progressLine(event, session as Session))
      .filter((line) => line?.includes("failed"));
    expect(failures).toEqual([
      `${clock(9)}  phase 3 coder  failed: first (attempt 1, 8 s)`,
      `${clock(30)}  phase 3 coder  failed: second (attempt 2, 20 s)`,
    ]);
  });

  test("reports validation", () => {
    const validated = (result: "pass" | "fail", detail: string): Timed => [
      20,
      { type: "phase.validated", phase: "4", result, detail },
    ];
    const begun = [move(1, "4", "pending", "in_progress"), begin(1, "4"), end(19, "4", 18)];
    expect(log(...begun, validated("pass", "npm test")).slice(1)).toEqual([
      `${clock(19)}  phase 4 tester  agent done after 18 s, validating`,
      `${clock(20)}  phase 4 tester  validation passed`,
    ]);
    expect(log(...begun, validated("fail", "npm test: exit 1\nmore")).at(-1)).toBe(
      `${clock(20)}  phase 4 tester  validation failed: npm test: exit 1`,
    );
  });

  test("reports quota, interruption, decisions and the end of the session", () => {
    const until = at(65).toISOString();
    expect(
      log(
        [5, { type: "quota.hit", phase: "3", wait_ms: 60_000, until, slots: 2 }],
        [6, { type: "session.noted", text: "small steps\nplease" }],
        move(7, "3", "pending", "in_progress"),
        begin(7, "3"),
        end(9, "3", 2, { outcome: "interrupted" }),
        [
          10,
          {
            type: "phase.moved",
            phase: "4",
            from: "pending",
            to: "skipped",
            user_decision: true,
            reason: "not needed",
          },
        ],
        ...fails(11, "3", "runtime", "no"),
        [12, { type: "session.status_set", status: "failed" }],
      ),
    ).toEqual([
      `${clock(5)}  session  waits 1 min 0 s for quota, until ${clock(65)}, then 2 slots (the provider rejected phase 3)`,
      `${clock(6)}  session  note: small steps`,
      `${clock(7)}  phase 3 coder  started (attempt 1)`,
      `${clock(9)}  phase 3 coder  interrupted after 2 s (attempt 1)`,
      `${clock(10)}  phase 4 tester  skipped by user decision: not needed`,
      `${clock(11)}  phase 3 coder  failed: no (attempt 1, 2 s)`,
      `${clock(12)}  session  failed (failed: phase 3)`,
    ]);
  });

  test("reports what an attempt changed, and that it was integrated", () => {
    const files = ["src/a.ts", "src/b.ts", { path: "logo.png", added: null, removed: null }];
    const lines = log(
      move(1, "3", "pending", "in_progress"),
      begin(1, "3"),
      place(1, "3"),
      change(19, "3", files),
      end(19, "3", 18),
      integrate(20, "3"),
      move(20, "3", "in_progress", "completed"),
    );
    expect(lines.slice(1)).toEqual([
      `${clock(19)}  phase 3 coder  changed 3 files (+20 -2)`,
      `${clock(19)}  phase 3 coder  agent done after 18 s, integrating`,
      `${clock(20)}  phase 3 coder  integrated 3 files`,
      `${clock(20)}  phase 3 coder  completed in 18 s`,
    ]);
  });

  test("reports validation whether the phase is integrated then or not", () => {
    const begun = [move(1, "4", "pending", "in_progress"), begin(1, "4")];
    const done = [end(19, "4", 18), check(20, "4", "e".repeat(40), ["npm test", 0])];
    const line = `${clock(19)}  phase 4 tester  agent done after 18 s, validating`;
    expect(log(...begun, ...done)).toContain(line);
    expect(log(...begun, place(1, "4"), change(19, "4", ["a.ts"]), ...done, integrate(21, "4"))).toContain(line);
  });

  test.each<[string, Timed[]]>([
    ["in the project itself", [place(1, "3", 1, null), change(19, "3", ["a.ts"])]],
    ["in a worktree, without a change", [place(1, "3"), change(19, "3", [])]],
    [
      "by an agent that may not write",
      [place(1, "3"), change(19, "3", ["a.ts"]), warn(19, "3", "not_applied", "Its agent only reads")],
    ],
  ])("does not report integration of work done %s", (_, work) => {
    const lines = log(move(1, "3", "pending", "in_progress"), begin(1, "3"), ...work, end(19, "3", 18));
    expect(lines.join()).not.toContain("integrating");
  });

  test("does not report integration when nothing changed", () => {
    const begun = [move(1, "3", "pending", "in_progress"), begin(1, "3"), place(1, "3")];
    const tree = "d".repeat(40);
    const empty: Timed = [20, { type: "phase.integrated", phase: "3", attempt: 1, from: tree, to: tree }];
    const refused = warn(19, "3", "not_applied", "Its agent only reads");
    expect(log(...begun, change(19, "3", []), empty).join()).not.toContain("integrated");
    expect(log(...begun, change(19, "3", ["a.ts"]), refused, empty).join()).not.toContain("integrated");
    // The work was already there: a killed engine had integrated it.
    expect(log(...begun, change(19, "3", ["a.ts"]), empty).at(-1)).toContain("integrated 1 file");
  });

  test("names some of the files that changed outside the phase", () => {
    const outside = ["a.ts", "b.ts", "c.ts", "d.ts", "e.ts"];
    const begun = [move(1, "3", "pending", "in_progress"), begin(1, "3")];
    expect(log(...begun, change(9, "3", ["a.ts", "b.ts"], { outside: ["a.ts", "b.ts"] })).at(-1)).toBe(
      `${clock(9)}  phase 3 coder  changed 2 files (+20 -2); 2 outside its files: a.ts, b.ts`,
    );
    expect(log(...begun, change(9, "3", outside, { outside })).at(-1)).toMatch(
      /5 outside its files: a\.ts, b\.ts, c\.ts and 2 more$/,
    );
  });

  test("describes a failure by the files that it lists", () => {
    const message = "Changed outside of its files:\n- src/a.ts\n- src/b.ts";
    const begun = [move(1, "3", "pending", "in_progress"), begin(1, "3"), end(9, "3", 8, { outcome: "failure" })];
    expect(log(...begun, ...fails(9, "3", "validation", message)).at(-1)).toBe(
      `${clock(9)}  phase 3 coder  failed: Changed outside of its files: src/a.ts, src/b.ts (attempt 1, 8 s)`,
    );
  });

  test("reports warnings, requests for more files, and the user's decisions about the changes", () => {
    const asks = (second: number, over: { granted: boolean; owner: string | null; paths?: string[] }): Timed => [
      second,
      { type: "phase.scope_requested", phase: "3", agent: "coder", paths: ["src/x.ts"], reason: "the type", ...over },
    ];
    const revert = { phase: "3", attempt: 1, from: "e".repeat(40), to: "d".repeat(40) };
    const lines = log(
      move(1, "3", "pending", "in_progress"),
      begin(1, "3"),
      asks(2, { granted: true, owner: null }),
      asks(3, { granted: false, owner: "4" }),
      asks(4, { granted: false, owner: null, paths: ["../y.ts", "/z.ts"] }),
      warn(5, "3", "claims_differ", "The report names src/a.ts, which did not change\nand more"),
      change(6, "3", ["src/b.ts"]),
      integrate(7, "3", 1, { user_decision: true }),
      [8, { type: "phase.reverted", ...revert }],
    );
    expect(lines.slice(1)).toEqual([
      `${clock(2)}  phase 3 coder  was granted src/x.ts: the type`,
      `${clock(3)}  phase 3 coder  asked for src/x.ts, which phase 4 owns: the type`,
      `${clock(4)}  phase 3 coder  asked for ../y.ts, /z.ts and was denied: the type`,
      `${clock(5)}  phase 3 coder  WARNING: The report names src/a.ts, which did not change`,
      `${clock(6)}  phase 3 coder  changed 1 file (+10 -1)`,
      `${clock(7)}  phase 3 coder  integrated 1 file by user decision`,
      `${clock(8)}  phase 3 coder  its changes were reverted by user decision`,
    ]);
  });

  test("shows no control character of a file name", () => {
    const outside = ["src/\u001b[2Ja\u009b31m.ts"];
    const [line] = log(begin(1, "3"), change(9, "3", outside, { outside })).slice(1);
    expect(line).toContain("1 outside its files: src/␛[2Ja�31m.ts");
  });

  test("has no line for bookkeeping events", () => {
    expect(
      log(
        begin(1, "3"),
        place(1, "3"),
        change(2, "3", []),
        [1, { type: "tokens.used", agent: "coder", input: 1, output: 1, cached: 0 }],
        [2, { type: "phase.files_added", phase: "3", created: ["a"], modified: [], deleted: [], hashes: {} }],
      ).slice(1),
    ).toEqual([]);
  });

  test("is one line for any text", () => {
    const [line] = log([1, { type: "session.noted", text: `${"long ".repeat(200)}\nand more` }]);
    expect(line?.length).toBeLessThan(200);
  });
});

import { describe, expect, it } from "vitest";
import {
  at,
  begin,
  end,
  eventsOf,
  fails,
  move,
  phase,
  runs,
  type Timed,
  used,
} from "../../test/support/sample-session.ts";
import { apply } from "../session/fold.ts";
import type { Session } from "../session/session.ts";
import { progressLine } from "./progress.ts";

const plan = [phase("3", { title: "Routes" }), phase("4", { agent: "tester", validation: ["npm test"] })];
const clock = (second: number) => at(second).toTimeString().slice(0, 8);

/** The lines as they appear, each after its own event. */
function log(...timed: Timed[]): (string | null)[] {
  let session: Session | undefined;
  return eventsOf(plan, timed)
    .map((event) => {
      session = apply(session, event);
      return progressLine(event, session);
    })
    .slice(1)
    .filter((line) => line !== null);
}

describe("progress in plain lines", () => {
  it("tells the life of a phase: started, completed with time and tokens", () => {
    expect(log(...runs(1, 63, "3", [used(20_000, 4_000)]))).toEqual([
      `${clock(1)}  phase 3 coder  started (attempt 1)`,
      `${clock(63)}  phase 3 coder  completed in 1 min 2 s, 24,000 tokens`,
    ]);
  });

  it("tells a failure once, with its reason, and that it is tried again", () => {
    const again: Timed = [
      13,
      { type: "phase.moved", phase: "3", from: "failed", to: "in_progress", reason: "automatic retry" },
    ];
    const failure = [
      end(13, "3", 12, { outcome: "failure" }),
      ...fails(13, "3", "runtime", "No such module\nat line 1"),
    ];
    expect(
      log(move(1, "3", "pending", "in_progress"), begin(1, "3"), ...failure, again, begin(14, "3", 2)).slice(1),
    ).toEqual([
      `${clock(13)}  phase 3 coder  failed: No such module (attempt 1, 12 s)`,
      `${clock(13)}  phase 3 coder  to be tried again: automatic retry`,
      `${clock(14)}  phase 3 coder  started (attempt 2)`,
    ]);
  });

  it("tells what happened then, though the session has gone on since", () => {
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
    for (const event of events) session = apply(session, event);
    const failures = events
      .map((event) => progressLine(event, session as Session))
      .filter((line) => line?.includes("failed"));
    expect(failures).toEqual([
      `${clock(9)}  phase 3 coder  failed: first (attempt 1, 8 s)`,
      `${clock(30)}  phase 3 coder  failed: second (attempt 2, 20 s)`,
    ]);
  });

  it("tells of validation", () => {
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

  it("tells of quota, interruption, decisions and the end of the session", () => {
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
      `${clock(5)}  session  waits 1 min 0 s for quota, until ${clock(65)}, then 2 slots (phase 3 was refused)`,
      `${clock(6)}  session  note: small steps`,
      `${clock(7)}  phase 3 coder  started (attempt 1)`,
      `${clock(9)}  phase 3 coder  interrupted after 2 s (attempt 1)`,
      `${clock(10)}  phase 4 tester  skipped by decision: not needed`,
      `${clock(11)}  phase 3 coder  failed: no (attempt 1, 2 s)`,
      `${clock(12)}  session  failed (failed: phase 3)`,
    ]);
  });

  it("has no line for bookkeeping", () => {
    expect(
      log(
        [1, { type: "tokens.used", agent: "coder", input: 1, output: 1, cached: 0 }],
        [2, { type: "phase.files_added", phase: "3", created: ["a"], modified: [], deleted: [], hashes: {} }],
      ),
    ).toEqual([]);
  });

  it("is one line, whatever the text", () => {
    const [line] = log([1, { type: "session.noted", text: `${"long ".repeat(200)}\nand more` }]);
    expect(line?.length).toBeLessThan(200);
  });
});

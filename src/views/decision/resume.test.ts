import { describe, expect, test } from "vitest";
import {
  at,
  begin,
  change,
  end,
  fails,
  move,
  phase,
  place,
  plain,
  runs,
  sessionOf,
  type Timed,
} from "../../../test/support/sample-session.ts";
import { type Conflict, positionOf } from "../../session/position.ts";
import type { Session } from "../../session/session.ts";
import { resumeLines } from "./resume.ts";

const plan = [
  phase("1", { title: "Schema" }),
  phase("2", { title: "Routes" }),
  phase("3", { title: "Search" }),
  phase("4"),
  phase("5", { blocked_by: ["2"] }),
];
const failed: Timed[] = [
  move(20, "2", "pending", "in_progress"),
  begin(20, "2"),
  end(30, "2", 10, { outcome: "failure" }),
  ...fails(30, "2", "validation", "Build failed: missing dependency @types/node\nnpm ERR! code 2"),
];
const interrupted: Timed[] = [
  move(20, "3", "pending", "in_progress"),
  begin(20, "3"),
  end(65, "3", 45, { outcome: "interrupted" }),
  move(21, "4", "pending", "in_progress"),
  begin(21, "4"),
  [66, { type: "session.status_set", status: "interrupted" }],
];

const shown = (session: Session, { fixed = [] as string[], conflicts = [] as Conflict[] } = {}) =>
  resumeLines(session, positionOf(session), conflicts, at(120), plain, new Set(fixed));

describe("resuming a session", () => {
  test("shows its state: last completed, current, how many are left (L167)", () => {
    const lines = shown(sessionOf(plan, [...runs(1, 10, "1"), ...failed, ...interrupted]));
    expect(lines.slice(0, 7)).toEqual([
      "Session Resume: 2026-02-14-task-api",
      "",
      "Task API",
      "Status:         interrupted, last change 54 s ago",
      "Phases:         1 of 5 done, 2 interrupted, 1 failed, 1 pending",
      "Last completed: phase 1 Schema (coder)",
      "Current:        phase 3 Search (coder), interrupted",
    ]);
  });

  test("presents unresolved errors to the letter (L170)", () => {
    const lines = shown(sessionOf(plan, failed));
    const from = lines.indexOf("Unresolved Errors Detected:");
    expect(lines.slice(from, from + 10).join("\n")).toBe(
      `Unresolved Errors Detected:

1. Phase 2: Routes
   Agent: coder
   Error: Build failed: missing dependency @types/node
          npm ERR! code 2
   Timestamp: 2026-02-14T22:58:30.000Z

   Has this issue been manually resolved?
   [Yes - retry phase] [No - show options] [Skip phase]`,
    );
  });

  test("says for each error whether it looks fixed, and how to answer (L168, L171)", () => {
    const session = sessionOf(plan, failed);
    expect(shown(session, { fixed: ["2"] })).toContain("   It looks fixed: files of this phase have changed since.");
    expect(shown(session)).toContain("   It does not look fixed: no file of this phase has changed since.");
    expect(shown(session)).toContain("   Yes: maestro retry 2   Skip: maestro skip 2   Abort: maestro abort");
  });

  test("repeats the form for each unresolved error, also of one phase, and says below it how to answer (L170)", () => {
    const again = [move(31, "2", "failed", "in_progress"), begin(31, "2", 2), ...fails(40, "2", "timeout", "Stopped")];
    const lines = shown(sessionOf(plan, [...failed, ...again]));
    const from = lines.indexOf("Unresolved Errors Detected:");
    expect(lines.slice(from).join("\n")).toBe(
      `Unresolved Errors Detected:

1. Phase 2: Routes
   Agent: coder
   Error: Build failed: missing dependency @types/node
          npm ERR! code 2
   Timestamp: 2026-02-14T22:58:30.000Z

   Has this issue been manually resolved?
   [Yes - retry phase] [No - show options] [Skip phase]

2. Phase 2: Routes
   Agent: coder
   Error: Stopped
   Timestamp: 2026-02-14T22:58:40.000Z

   Has this issue been manually resolved?
   [Yes - retry phase] [No - show options] [Skip phase]

Phase 2: Routes
   It does not look fixed: no file of this phase has changed since.
   Yes: maestro retry 2   Skip: maestro skip 2   Abort: maestro abort

No changes from outside: all recorded files are as the session left them`,
    );
  });

  test("lists a bounded number of errors (L170)", () => {
    const many = Array.from({ length: 30 }, (_, at) =>
      fails(31 + at, "2", "runtime", `Error ${at}`).slice(0, 1),
    ).flat();
    const text = shown(sessionOf(plan, [...failed, ...many])).join("\n");
    expect(text.match(/Has this issue/g)).toHaveLength(20);
    expect(text).toContain("\n... and 11 more errors\n");
  });

  test("does not ask about errors that were resolved or skipped", () => {
    const overcome = [move(31, "2", "failed", "in_progress"), move(40, "2", "in_progress", "completed")];
    expect(shown(sessionOf(plan, [...failed, ...overcome])).join()).not.toContain("Unresolved");
    expect(shown(sessionOf(plan, [...failed, move(31, "2", "failed", "skipped")])).join()).not.toContain("Unresolved");
  });

  test("does not ask about the errors of a phase that is already being retried", () => {
    const text = shown(sessionOf(plan, [...failed, move(31, "2", "failed", "in_progress")])).join("\n");
    expect(text).toContain("0 of 5 done, 1 in progress");
    expect(text).not.toMatch(/Unresolved|manually resolved|maestro retry/);
  });

  test("shows an attempt without a result as interrupted, with or without a recorded end", () => {
    const lines = shown(sessionOf(plan, interrupted));
    expect(lines).toContain("- phase 3 Search (coder): attempt 1, stopped after 45 s");
    expect(lines).toContain("- phase 4 Phase 4 (coder): attempt 1, started 1 min 39 s ago, its end was not recorded");
  });

  test("says which changes of an interrupted attempt are kept, and how to view them", () => {
    const kept = change(65, "3", ["src/a.ts", "src/b.ts"]);
    const lines = shown(sessionOf(plan, [...interrupted, kept, change(65, "4", ["c.ts"], { commit: null })]));
    expect(lines).toContain(
      "- phase 3 Search (coder): attempt 1, stopped after 45 s; its changes are kept, 2 files (+20 -2): maestro diff 3 shows them",
    );
    expect(lines).toContain("- phase 4 Phase 4 (coder): attempt 1, started 1 min 39 s ago, its end was not recorded");
  });

  test("lists the phases whose work is done but not yet integrated", () => {
    const done = [move(20, "3", "pending", "in_progress"), begin(20, "3"), place(20, "3"), end(65, "3", 45)];
    const text = shown(sessionOf(plan, [...done, change(65, "3", ["src/a.ts"])])).join("\n");
    expect(text).toContain(
      "Done, not yet integrated into the project:\n" +
        "- phase 3 Search (coder): attempt 1; its changes are kept, 1 file (+10 -1): maestro diff 3 shows them",
    );
    expect(text).not.toContain("Interrupted");
    expect(shown(sessionOf(plan, interrupted)).join()).not.toContain("Done, to be");
  });

  test("says the same for a failed attempt", () => {
    const lines = shown(sessionOf(plan, [...failed, change(30, "2", ["src/a.ts"])]));
    expect(lines).toContain("   Its changes are kept, 1 file (+10 -1): maestro diff 2 shows them");
  });

  test("shows no control character of a file name", () => {
    const name = "src/\u001b]0;x\u0007.ts";
    const begun = [move(20, "2", "pending", "in_progress"), begin(20, "2")];
    const session = sessionOf(plan, [...begun, ...fails(30, "2", "validation", `Changed:\n- ${name}`)]);
    const conflicts: Conflict[] = [{ kind: "modified_externally", phase: "1", file: name }];
    const lines = shown(session, { conflicts });
    expect(lines).toContain("          - src/␛]0;x␇.ts");
    expect(lines.at(-1)).toBe("Phase 1 recorded a file that has changed since: src/␛]0;x␇.ts");
  });

  test("reports conflicts before it continues (L169)", () => {
    const conflicts: Conflict[] = [
      { kind: "plan_changed", file: "plan.md" },
      { kind: "partially_modified", phase: "3", file: "src/search.ts" },
    ];
    expect(shown(sessionOf(plan, interrupted), { conflicts }).slice(-2)).toEqual([
      "The plan has changed since the session began: plan.md",
      "Phase 3 was started but not finished, and its file has changed since: src/search.ts",
    ]);
    expect(shown(sessionOf(plan, [])).at(-1)).toBe(
      "No changes from outside: all recorded files are as the session left them",
    );
  });
});

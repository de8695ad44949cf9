import { describe, expect, test } from "vitest";
import {
  begin,
  change,
  check,
  end,
  integrate,
  move,
  phase,
  place,
  sessionOf,
  warn,
} from "../../../test/support/sample-session.ts";
import { sessionJson } from "./session-json.ts";

describe("the session as data", () => {
  const session = sessionOf(
    [phase("1"), phase("2")],
    [
      move(0, "1", "pending", "in_progress"),
      begin(0, "1"),
      place(1, "1"),
      [
        2,
        {
          type: "phase.scope_requested",
          phase: "1",
          agent: "coder",
          paths: ["x.ts"],
          reason: "",
          granted: true,
          owner: null,
        },
      ],
      change(9, "1", [{ path: "b.ts", kind: "renamed", from: "a.ts" }], { outside: ["b.ts"] }),
      warn(9, "1", "outside_scope", "b.ts changed"),
      end(9, "1", 9),
      check(10, "1", "e".repeat(40), ["npm test", 0, "ok\n"]),
      integrate(11, "1"),
    ],
  );
  const { phases } = sessionJson(session);

  test("includes warnings, granted paths and evidence of a phase", () => {
    expect(phases[0]).toMatchObject({
      granted: ["x.ts"],
      warnings: [{ code: "outside_scope", message: "b.ts changed" }],
      validation: {
        result: "pass",
        evidence: { tree: "e".repeat(40), commands: [{ command: "npm test", exit_code: 0, output: "ok\n" }] },
      },
    });
    expect(phases[1]).toMatchObject({ granted: [], warnings: [], attempts: [] });
  });

  test("includes where an attempt worked, what it changed and whether it is in the project, but no journal positions", () => {
    const attempt = phases[0]?.attempts[0];
    expect(attempt?.placed).toEqual({ worktree: "w1", base: "b".repeat(40) });
    expect(attempt?.integrated).toEqual({ from: "d".repeat(40), to: "e".repeat(40) });
    expect(attempt?.changes).toEqual({
      base: "b".repeat(40),
      commit: "c".repeat(40),
      files: [{ path: "b.ts", kind: "renamed", from: "a.ts", added: 10, removed: 1 }],
      total: 1,
      added: 10,
      removed: 1,
      outside: ["b.ts"],
    });
  });
});

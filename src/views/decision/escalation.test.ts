import { describe, expect, test } from "vitest";
import {
  begin,
  change,
  end,
  fails,
  integrate,
  move,
  phase,
  place,
  sessionOf,
  type Timed,
} from "../../../test/support/sample-session.ts";
import { findPhase, type SessionPhase } from "../../session/session.ts";
import { escalationBlock } from "./escalation.ts";
import { failureBlock, fileConflictBlock, timeoutBlock } from "./escalation-blocks.ts";

const timeout = {
  agent: "coder",
  phase: "Routes",
  partialOutput: "Two of five\nroutes.",
  objective: "All five routes.",
};

describe("the blocks of the design document", () => {
  test("describe a timeout to the letter (M174)", () => {
    expect(timeoutBlock({ ...timeout, timeoutMs: 600_000, elapsedMs: 600_400 }).join("\n")).toBe(
      `Agent Timeout: coder

Phase: Routes
Timeout: 10 minutes
Elapsed: 10 minutes

Partial Output:
Two of five
routes.

The agent was attempting to:
All five routes.

Options:
1. Retry with increased timeout (suggest: 20 minutes)
2. Retry with narrower scope (manual scope adjustment)
3. Skip this phase and continue
4. Abort orchestration

What would you like to do?`,
    );
  });

  test.each([
    [90_000, "1.5 minutes", "3 minutes"],
    [30_000, "30 seconds", "1 minute"],
    [1_500, "1.5 seconds", "3 seconds"],
  ])("show a limit of %i ms as %s and suggest %s", (timeoutMs, shown, suggested) => {
    const lines = timeoutBlock({ ...timeout, timeoutMs, elapsedMs: timeoutMs });
    expect(lines).toContain(`Timeout: ${shown}`);
    expect(lines).toContain(`1. Retry with increased timeout (suggest: ${suggested})`);
  });

  test("describe conflicting files to the letter (M176)", () => {
    const files = [
      { path: "src/a.ts", by: ["coder", "tester"] },
      { path: "src/b.ts", by: "external" as const },
    ];
    expect(fileConflictBlock({ phase: "Routes", agent: "coder", files }).join("\n")).toBe(
      `File Conflict Detected

Phase: Routes
Agent: coder

Conflicting Files:
- src/a.ts (modified by coder and tester)
- src/b.ts (modified externally since phase start)

Orchestration has been paused to prevent data loss.

Options:
1. Manually resolve conflicts and retry this phase
2. Skip this phase and continue (may break dependencies)
3. Abort orchestration and review session state

What would you like to do?`,
    );
  });

  test("describe a failed phase to the letter (M177)", () => {
    const failure = {
      phase: "Routes",
      agent: "coder",
      attempt: 2,
      maxRetries: 2,
      errorType: "validation",
      message: "Build failed",
      context: "All five routes.",
      files: ["src/routes.ts"],
      previousAttempts: ["Retry 1: told of the error"],
    };
    expect(failureBlock(failure).join("\n")).toBe(
      `Phase Execution Failed: Routes

Agent: coder
Attempt: 2 of 2
Error Type: validation

Error Message:
Build failed

Context:
All five routes.
Files: src/routes.ts

Previous Retry Attempts:
Retry 1: told of the error

Options:
1. Manually fix the issue and retry this phase
2. Skip this phase and continue (may break dependencies)
3. Abort orchestration and review session state
4. Adjust delegation parameters and retry (interactive)

What would you like to do?`,
    );
  });

  test("show no control character of a file name", () => {
    const path = "src/\u001b[2Ja\n.ts";
    const conflict = fileConflictBlock({ phase: "Routes", agent: "coder", files: [{ path, by: "external" }] });
    expect(conflict).toContain("- src/␛[2Ja .ts (modified externally since phase start)");
    const about = { phase: "Routes", agent: "coder", attempt: 0, maxRetries: 2, errorType: "runtime", context: "c" };
    const failure = failureBlock({ ...about, message: `no ${path}`, files: [path], previousAttempts: [] });
    expect(failure).toContain("no src/␛[2Ja");
    expect(failure).toContain("Files: src/␛[2Ja .ts");
  });

  test("keep the options visible below many conflicts", () => {
    const files = Array.from({ length: 500 }, (_, at) => ({ path: `src/${at}.ts`, by: "external" as const }));
    const lines = fileConflictBlock({ phase: "Routes", agent: "coder", files });
    expect(lines.length).toBeLessThan(100);
    expect(lines).toContain("[440 files left out]");
  });

  test("keep the options visible below a long message", () => {
    const message = Array.from({ length: 5000 }, (_, line) => `line ${line}`).join("\n");
    const lines = failureBlock({
      phase: "A",
      agent: "b",
      attempt: 0,
      maxRetries: 0,
      errorType: "runtime",
      message,
      context: "c",
      files: [],
      previousAttempts: [],
    });
    expect(lines.length).toBeLessThan(100);
    expect(lines).toContain("line 0");
    expect(lines).toContain("[4940 lines left out]");
    expect(lines).toContain("line 4999");
  });
});

describe("the escalation of a session", () => {
  const plan = [
    phase("3", { title: "Routes", description: "All five routes.", files_created: ["src/routes.ts"] }),
    phase("4", { agent: "tester" }),
  ];
  const begun: Timed[] = [move(1, "3", "pending", "in_progress"), begin(1, "3")];
  const of = (...timed: Timed[]) => {
    const session = sessionOf(plan, [...begun, ...timed]);
    return escalationBlock(session, findPhase(session, "3") as SessionPhase, { maxRetries: 2, program: "maestro" });
  };

  test("is the timeout block after a timeout, with the commands of each option (M173)", () => {
    const lines = of(
      end(601, "3", 600, { outcome: "timeout" }),
      ...fails(601, "3", "timeout", "Stopped after 10 minutes"),
    );
    expect(lines[0]).toBe("Agent Timeout: coder");
    expect(lines).toContain("All five routes.");
    expect(lines.slice(-6)).toEqual([
      "  To answer:",
      "    1. maestro retry 3 --timeout 20m",
      '    2. maestro retry 3 --guidance "Do the smallest part of the objective that meets the validation criteria."',
      "    3. maestro skip 3",
      "    4. maestro abort",
      "  After 1, 2, 3: maestro resume",
    ]);
  });

  test("shows the output of an attempt that ran out of time (M173)", () => {
    const lines = of(
      end(601, "3", 600, { outcome: "timeout", partial_output: "Routes 1 to 3 work." }),
      ...fails(601, "3", "timeout", "Stopped after 10 minutes"),
    );
    expect(lines.slice(lines.indexOf("Partial Output:")).slice(0, 2)).toEqual([
      "Partial Output:",
      "Routes 1 to 3 work.",
    ]);
  });

  test("counts retries and says what each agent's prompt said", () => {
    const lines = of(
      end(10, "3", 9, { outcome: "failure" }),
      ...fails(10, "3", "runtime", "No such module\nat line 1"),
      move(10, "3", "failed", "in_progress"),
      begin(11, "3", 2),
      end(20, "3", 9, { attempt: 2, outcome: "failure" }),
      ...fails(20, "3", "validation", "1 test failed"),
    );
    expect(lines).toContain("Attempt: 1 of 2");
    expect(lines).toContain("Error Type: validation");
    expect(lines).toContain("1 test failed");
    expect(lines).toContain("Files: src/routes.ts");
    expect(lines).toContain("Retry 1: its prompt had the runtime error before it: No such module");
    expect(lines.slice(-6)).toEqual([
      "    1. maestro retry 3",
      "    2. maestro skip 3",
      "    3. maestro abort",
      "    4. maestro retry 3 --timeout 20m",
      "  After 1, 2, 4: maestro resume",
      "  4 also takes --guidance, --agent, --model and --criteria",
    ]);
  });

  test("names the agents that wrote the same file, or says that it changed externally", () => {
    const files = (id: string): Timed => [
      5,
      { type: "phase.files_added", phase: id, created: ["src/routes.ts"], modified: [], deleted: [], hashes: {} },
    ];
    const other = [move(2, "4", "pending", "in_progress"), files("4"), move(6, "4", "in_progress", "completed")];
    const conflict = fails(9, "3", "file_conflict", "src/routes.ts is not as I left it");
    expect(of(...other, files("3"), ...conflict)).toContain("- src/routes.ts (modified by tester and coder)");
    expect(of(...conflict)).toContain("- src/routes.ts (modified externally since phase start)");
  });

  test("takes files from the message when the phase declares other files", () => {
    const lines = of(
      ...fails(9, "3", "file_conflict", 'Changed under me: "lib/a.ts", package.json (version 1.2). Stop.'),
    );
    expect(lines).toContain("- lib/a.ts (modified externally since phase start)");
    expect(lines).toContain("- package.json (modified externally since phase start)");
    expect(lines.filter((line) => line.includes("externally"))).toHaveLength(2);
  });

  describe("after a failed merge", () => {
    const message = [
      "- src/a.ts (modified by coder and tester)",
      "docs/my file (1).md (modified by architect, coder and tester)",
      "- src/b.ts (modified externally since phase start)",
    ].join("\n");
    const shown = of(place(1, "3"), change(8, "3", ["src/a.ts"]), ...fails(9, "3", "file_conflict", message));

    test("lists exactly the files that the engine reports, in its words (M175, M176)", () => {
      const from = shown.indexOf("Conflicting Files:");
      expect(shown.slice(from + 1, shown.indexOf("", from))).toEqual([
        "- src/a.ts (modified by coder and tester)",
        "- docs/my file (1).md (modified by architect, coder and tester)",
        "- src/b.ts (modified externally since phase start)",
      ]);
    });

    test("ends with the commands to answer, and those for the kept work", () => {
      expect(shown.slice(-7)).toEqual([
        "  To answer:",
        "    1. maestro retry 3",
        "    2. maestro skip 3",
        "    3. maestro abort",
        "  After 1, 2: maestro resume",
        "  maestro diff 3 shows what the attempt did",
        "  maestro apply 3 applies the work once the conflicts are resolved",
      ]);
    });

    test.each<[string, Timed[]]>([
      ["is in the project", [change(8, "3", ["src/a.ts"]), integrate(8, "3")]],
      ["has no commit", [change(8, "3", ["src/a.ts"], { commit: null })]],
      ["is empty", [change(8, "3", [])]],
      ["is unknown", []],
    ])("shows no command for work that %s", (_, work) => {
      const lines = of(...work, ...fails(9, "3", "file_conflict", message));
      expect(lines.at(-1)).toBe("  After 1, 2: maestro resume");
    });

    test("does not take prose for a list of files", () => {
      const prose =
        "src/routes.ts was (modified strangely)\n(modified by coder)\nsrc/routes.ts (modified by coder) twice";
      expect(of(...fails(9, "3", "file_conflict", prose)).filter((line) => line.includes("(modified"))).toEqual([
        "- src/routes.ts (modified externally since phase start)",
      ]);
    });
  });

  test("names conflicting files by the list of the error, whatever its message says", () => {
    const conflicts = [
      {
        path: "src/a (modified by me).ts",
        by: [
          { phase: "4", agent: "tester" },
          { phase: "3", agent: "coder" },
        ],
      },
      {
        path: "src/b.ts",
        by: [
          { phase: "4", agent: "coder" },
          { phase: "3", agent: "coder" },
        ],
      },
      { path: "src/c.ts", by: [] },
    ];
    const message = "src/other.ts (modified by nobody)";
    const lines = of(...fails(9, "3", "file_conflict", message, { code: "file_conflict", conflicts }));
    expect(lines.filter((line) => line.includes("(modified"))).toEqual([
      "- src/a (modified by me).ts (modified by tester and coder)",
      "- src/b.ts (modified by coder and coder, phases 4 and 3)",
      "- src/c.ts (modified externally since phase start)",
    ]);
  });

  test("gives the hints that belong to the code of an error, whatever its message says", () => {
    const scope = of(...fails(9, "3", "validation", "Not its files", { code: "outside_scope" }));
    expect(scope.at(-1)).toBe(
      "  To get only a warning about them: maestro retry 3, then maestro resume --ownership warn",
    );
    const sensitive = of(
      place(1, "3"),
      change(8, "3", [".env"]),
      ...fails(9, "3", "validation", "Changed outside of its files:", { code: "sensitive_change" }),
    );
    expect(sensitive.at(-1)).toBe("  maestro apply 3 applies the work unchanged, by your decision");
  });

  test("says how to view and allow changes outside the phase", () => {
    const message = "Changed outside of its files:\n- src/x.ts\n- src/\u001b[2Jy.ts";
    const lines = of(
      change(8, "3", ["src/x.ts"], { outside: ["src/x.ts"] }),
      ...fails(9, "3", "validation", message),
      move(9, "3", "failed", "in_progress"),
      begin(10, "3", 2),
      change(18, "3", ["src/x.ts"], { attempt: 2, outside: ["src/x.ts"] }),
      ...fails(19, "3", "validation", message),
    );
    expect(lines[0]).toBe("Phase Execution Failed: Routes");
    expect(lines).toContain("- src/␛[2Jy.ts");
    expect(lines).toContain(
      "Retry 1: its prompt had the validation error before it: Changed outside of its files: src/x.ts, src/␛[2Jy.ts",
    );
    expect(lines.slice(-5)).toEqual([
      "  After 1, 2, 4: maestro resume",
      "  4 also takes --guidance, --agent, --model and --criteria",
      "  maestro diff 3 shows what the attempt did",
      "  To let it change those files: add them to phase 3 in the plan file, then maestro session revise and maestro retry 3",
      "  To get only a warning about them: maestro retry 3, then maestro resume --ownership warn",
    ]);
  });

  test("says for any failure how to view the kept work", () => {
    const lines = of(change(8, "3", ["src/a.ts"]), ...fails(9, "3", "validation", "1 test failed"));
    expect(lines.at(-1)).toBe("  maestro diff 3 shows what the attempt did");
  });

  test("shows the whole message when a conflict names no file", () => {
    const lines = of(...fails(9, "3", "file_conflict", "something moved"));
    expect(lines[0]).toBe("Phase Execution Failed: Routes");
    expect(lines).toContain("something moved");
  });
});

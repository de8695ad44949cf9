import { describe, expect, test } from "vitest";
import { frozenPhase, sessionAfter } from "../../test/support/session.ts";
import { conflictLine, conflictOn } from "./conflict.ts";
import { requirePhase } from "./decide/operation.ts";
import type { FileChange, SessionEvent } from "./events.ts";

const [base, tree] = ["1".repeat(40), "2".repeat(40)];

function started(phase: string, attempt = 1): SessionEvent {
  const where = { batch: "b", name: `coder.p${phase}-${attempt}`, prompt_bytes: 1, timeout_ms: 1 };
  return {
    type: "attempt.started",
    phase,
    attempt,
    agent: "coder",
    run: "r",
    runtime: "gemini",
    model: null,
    ...where,
  };
}
const placed = (phase: string, attempt = 1): SessionEvent => ({
  type: "attempt.placed",
  phase,
  attempt,
  worktree: `r-p${phase}-${attempt}`,
  base,
});
const begun = (phase: string, attempt = 1): SessionEvent[] => [started(phase, attempt), placed(phase, attempt)];

const modified = (path: string): FileChange => ({ path, kind: "modified", added: 1, removed: 0 });

/** The events that bring the phase's work on these files into the project. */
function broughtIn(phase: string, files: FileChange[], attempt = 1): SessionEvent[] {
  const counts = { total: files.length, added: 1, removed: 0, outside: [] };
  return [
    { type: "attempt.changed", phase, attempt, base, commit: tree, files, ...counts },
    { type: "phase.integrated", phase, attempt, from: base, to: tree },
  ];
}

const phases = [
  frozenPhase("1", { agent: "coder" }),
  frozenPhase("2", { agent: "tester" }),
  frozenPhase("3", { agent: "refactor" }),
];
function line(path: string, ...events: SessionEvent[]): string {
  const session = sessionAfter(phases, ...events);
  return conflictLine(conflictOn(session, requirePhase(session, "1"), path));
}
const external = (path: string) => `${path} (modified externally since phase start)`;

describe("a file that an attempt and something else changed", () => {
  test.each<[string, SessionEvent[], string]>([
    ["was changed by no phase of the session", [...begun("1")], external("a.ts")],
    [
      "was changed by a phase whose work was integrated in the meantime",
      [...begun("2"), ...begun("1"), ...broughtIn("2", [modified("a.ts")])],
      "a.ts (modified by tester and coder)",
    ],
    [
      "was changed by two such phases",
      [
        ...begun("2"),
        ...begun("3"),
        ...begun("1"),
        ...broughtIn("2", [modified("a.ts")]),
        ...broughtIn("3", [modified("a.ts")]),
      ],
      "a.ts (modified by tester, refactor and coder)",
    ],
    [
      "was not changed by a phase that changed another file",
      [...begun("2"), ...begun("1"), ...broughtIn("2", [modified("b.ts")])],
      external("a.ts"),
    ],
    [
      "was changed by a phase whose work was integrated before the attempt started",
      [...begun("2"), ...broughtIn("2", [modified("a.ts")]), ...begun("1")],
      external("a.ts"),
    ],
    [
      "was renamed by another phase",
      [
        ...begun("2"),
        ...begun("1"),
        ...broughtIn("2", [{ path: "b.ts", from: "a.ts", kind: "renamed", added: 0, removed: 0 }]),
      ],
      "a.ts (modified by tester and coder)",
    ],
    [
      "was changed by a phase whose work is not in the project",
      [...begun("2"), ...begun("1"), ...broughtIn("2", [modified("a.ts")]).slice(0, 1)],
      external("a.ts"),
    ],
    [
      "was changed by an earlier, integrated attempt of the phase itself",
      [...begun("1"), ...broughtIn("1", [modified("a.ts")]), ...begun("1", 2)],
      external("a.ts"),
    ],
  ])("%s", (_, events, expected) => {
    expect(line("a.ts", ...events)).toBe(expected);
  });

  test("is reported with phase ids when the agents have the same name", () => {
    const alike = [frozenPhase("1"), frozenPhase("2"), frozenPhase("3", { agent: "tester" })];
    const others = [...begun("2"), ...begun("3"), ...begun("1"), ...broughtIn("2", [modified("a.ts")])];
    const session = sessionAfter(alike, ...others);
    const said = conflictLine(conflictOn(session, requirePhase(session, "1"), "a.ts"));
    expect(said).toBe("a.ts (modified by coder and coder, phases 2 and 1)");
  });

  test("is compared from the start of the last attempt, which already contains earlier integrations", () => {
    const events = [...begun("1"), ...begun("2"), ...broughtIn("2", [modified("a.ts")]), ...begun("1", 2)];
    expect(line("a.ts", ...events)).toBe(external("a.ts"));
  });

  test("counts work that was integrated while the attempt's worktree was being created", () => {
    const events = [...begun("2"), started("1"), ...broughtIn("2", [modified("a.ts")]), placed("1")];
    expect(line("a.ts", ...events)).toBe("a.ts (modified by tester and coder)");
  });
});

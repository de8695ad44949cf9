import { describe, expect, test } from "vitest";
import { begin, end, fails, move, phase, sessionOf, type Timed } from "../../../test/support/sample-session.ts";
import { decisionBrief, decisionLines, openDecisions } from "./open-decisions.ts";

const look = { maxRetries: 2, program: "maestro" };
const failing = (id: string, message = "It broke"): Timed[] => [
  move(1, id, "pending", "in_progress"),
  begin(1, id),
  end(10, id, 9, { outcome: "failure" }),
  ...fails(10, id, "runtime", message),
];
const many = (count: number, message?: string) => {
  const ids = Array.from({ length: count }, (_, at) => String(at + 1));
  return sessionOf(
    ids.map((id) => phase(id)),
    ids.flatMap((id) => failing(id, message)),
  );
};

describe("the decisions that a session waits for (M177)", () => {
  test("are its failed phases, each with a command for every option", () => {
    expect(openDecisions(many(1), look)).toEqual([
      {
        phase: "1",
        kind: "failure",
        message: "It broke",
        options: [
          { name: "retry", command: "maestro retry 1" },
          { name: "skip", command: "maestro skip 1" },
          { name: "abort", command: "maestro abort" },
          { name: "adjust", command: "maestro retry 1 --timeout 20m" },
        ],
      },
    ]);
  });

  test.each<[string, Timed]>([
    ["aborted", [20, { type: "session.status_set", status: "failed", aborted: true }]],
    ["completed", [20, { type: "session.status_set", status: "completed" }]],
    [
      "archived",
      [20, { type: "archive.started", status: "failed", session_to: "a.md", journal_to: "a.jsonl", moves: [] }],
    ],
    ["retried", move(20, "1", "failed", "in_progress")],
  ])("are none when the session or the phase is %s", (_, last) => {
    const session = sessionOf([phase("1")], [...failing("1"), last]);
    expect(openDecisions(session, look)).toEqual([]);
    expect(decisionLines(session, look)).toEqual([]);
    expect(decisionBrief(session, look)).toEqual([]);
  });

  test("are reviews too, with the tree that an approval is bound to (C41)", () => {
    const tree = "0123456789ab".padEnd(40, "0");
    const opened: Timed = [20, { type: "review.opened", phases: ["1", "2"], batch: 1, tree }];
    const done = ["1", "2"].flatMap((id) => [
      move(1, id, "pending", "in_progress"),
      move(2, id, "in_progress", "completed"),
    ]);
    const session = sessionOf([phase("1"), phase("2"), phase("3")], [...done, opened]);
    expect(openDecisions(session, look)).toEqual([
      {
        phase: "batch-1",
        kind: "review",
        message:
          "Its phases are done. Nothing of the next batch starts until you approve the project's tree 0123456789ab.",
        phases: ["1", "2"],
        tree,
        options: [
          { name: "approve", command: "maestro approve batch-1 --tree 0123456789ab" },
          { name: "reject", command: 'maestro reject 1 --guidance "what to change"' },
          { name: "reject", command: 'maestro reject 2 --guidance "what to change"' },
          { name: "abort", command: "maestro abort" },
        ],
      },
    ]);
    const lines = decisionLines(session, look);
    expect(lines).toContain("- 1 Phase 1 (coder): changes not recorded, no validation commands");
    expect(lines).toContain("    1. maestro approve batch-1 --tree 0123456789ab");
    expect(lines).toContain("  2 takes each of 1, 2");
    expect(decisionBrief(session, look)[0]).toContain(
      "Open decision, batch-1: Review: batch 1. The user's options: 1. maestro approve batch-1",
    );
  });

  test("are shown with the program that works for the user, in every command", () => {
    const text = decisionLines(many(1), { ...look, program: 'node "/x y/maestro.js"' }).join("\n");
    expect(text).toContain('    1. node "/x y/maestro.js" retry 1\n');
    expect(text).not.toMatch(/(?<!")\bmaestro (retry|skip|abort|resume|status|diff)/);
  });

  test("do not ask for a resume while an engine runs", () => {
    const lines = decisionLines(many(1), { ...look, isDriven: true });
    expect(lines).toContain("  The running engine acts on it");
    expect(lines.join()).not.toContain("resume");
  });

  test("stay few, however many phases failed and whatever they printed", () => {
    const session = many(3000, `${"y ".repeat(2000)}\n`.repeat(20));
    const lines = decisionLines(session, look);
    expect(lines.filter((line) => line.startsWith("Phase Execution Failed"))).toHaveLength(3);
    expect(lines.at(-1)).toBe(
      "2997 more phases wait for a decision: phase 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, ... (maestro status --json lists them)",
    );
    const open = openDecisions(session, look);
    expect(open).toHaveLength(20);
    expect(Math.max(...open.map(({ message }) => message.length))).toBeLessThan(2100);
    const [brief = "", ...rest] = decisionBrief(session, look);
    expect(rest).toEqual([]);
    expect(brief).toMatch(/ 2,999 more phases waiting: maestro_session_read\.$/);
    expect(brief.length).toBeLessThan(400);
  });

  test("say what the user changed for an earlier retry", () => {
    const retry: Timed = [
      11,
      {
        type: "phase.moved",
        phase: "1",
        from: "failed",
        to: "in_progress",
        user_decision: true,
        agent: "tester",
        model: "gemini-9",
        timeout_ms: 1_200_000,
        criteria: ["x"],
        guidance: "Keep the\nAPI.",
      },
    ];
    const session = sessionOf([phase("1")], [...failing("1"), retry, ...fails(20, "1", "runtime", "Again")]);
    expect(decisionLines(session, look)).toContain(
      "Retry 1: its prompt had the runtime error before it: It broke; the user gave it agent tester, model gemini-9, a limit of 20 min, other criteria, guidance: Keep the API.",
    );
  });
});

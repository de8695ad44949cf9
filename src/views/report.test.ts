import { describe, expect, it } from "vitest";
import {
  at,
  begin,
  colored,
  end,
  fails,
  move,
  phase,
  plain,
  runs,
  sessionOf,
  type Timed,
  used,
} from "../../test/support/sample-session.ts";
import type { Session } from "../session/session.ts";
import type { Prices } from "./prices.ts";
import { reportLines } from "./report.ts";
import { reportJson } from "./report-json.ts";
import { displayWidth } from "./width.ts";

const prices: Prices = new Map([["gemini-2.5-pro", { input: 1, output: 10, cached: 0.5 }]]);
const estimate = { input_tokens: 10_000, output_tokens: 1_000, minutes: 1 };
const plan = [
  phase("1", { title: "Schema", agent: "data-engineer", estimate }),
  phase("2", { title: "Routes", estimate, blocked_by: ["1"] }),
  phase("3", { title: "Search", agent: "tester", estimate, blocked_by: ["1"] }),
];
const retried = (outcome: "failure" | "quota"): Timed[] => [
  move(60, "2", "pending", "in_progress"),
  begin(60, "2"),
  end(90, "2", 30, { outcome, usage: [used(4_000, 500)] }),
  ...(outcome === "failure"
    ? [...fails(90, "2", "validation", "1 test failed"), move(90, "2", "failed", "in_progress")]
    : []),
  begin(120, "2", 2),
  end(180, "2", 60, { attempt: 2, usage: [used(8_000, 1_500, { cached: 3_000, thoughts: 200 })] }),
  move(180, "2", "in_progress", "completed"),
];
const done: Timed[] = [
  ...runs(0, 60, "1", [used(9_000, 1_000)], "data-engineer"),
  ...retried("failure"),
  ...runs(60, 120, "3", [used(11_000, 1_000)], "tester"),
  [181, { type: "session.status_set", status: "completed" }],
];

const look = { prices, now: at(500), paint: plain, width: 80, missingFiles: [] as { phase: string; file: string }[] };
const shown = (session: Session, over: Partial<typeof look> = {}) =>
  reportLines(session, { ...look, ...over }).join("\n");

describe("the final summary", () => {
  it("begins with what it is about, and the wall time against the time of all phases", () => {
    expect(shown(sessionOf(plan, done)).split("\n").slice(0, 3)).toEqual([
      "Task API",
      "2026-02-14-task-api: completed, 3 of 3 phases done, parallel mode",
      "Wall time 3 min 0 s, phases 3 min 30 s in sum (1.2 at a time on average)",
    ]);
  });

  it("has a row for each phase: status, attempts, time, tokens", () => {
    expect(shown(sessionOf(plan, done))).toContain(
      [
        "    ID  PHASE   AGENT          STATUS     TRY  TIME  TOKENS",
        "  ✓  1  Schema  data-engineer  completed    1  1:00  10,000",
        "  ✓  2  Routes  coder          completed    2  1:30  14,000",
        "  ✓  3  Search  tester         completed    1  1:00  12,000",
      ].join("\n"),
    );
  });

  it("has the token summary of the design document, with separators, ranking and right arithmetic (178, 179)", () => {
    // 32,000 input of which 3,000 cached, 4,000 output and 200 thoughts: 0.029 + 0.0015 + 0.042
    expect(shown(sessionOf(plan, done))).toContain(
      `Token Usage:
- Total Input: 32,000 tokens
- Total Output: 4,000 tokens
- Total Cached: 3,000 tokens
- Total Thoughts: 200 tokens
- Estimated Cost: $0.07

By Agent:
1. coder: 14,000 tokens ($0.03)
2. tester: 12,000 tokens ($0.02)
3. data-engineer: 10,000 tokens ($0.02)

Variance from Estimate: +21% (estimated $0.06, actual $0.07)`,
    );
  });

  it("claims no cost without a price, names the model, and compares tokens instead", () => {
    const text = shown(sessionOf(plan, done), { prices: new Map() });
    expect(text).toContain("- Estimated Cost: unknown (no price for gemini-2.5-pro)");
    expect(text).toContain("1. coder: 14,000 tokens\n");
    expect(text).toContain("Variance from Estimate: +9% (estimated 33,000 tokens, actual 36,000 tokens)");
  });

  it("says less than estimated with a minus", () => {
    const text = shown(sessionOf([phase("1", { estimate })], runs(0, 60, "1", [used(5_000, 500)])));
    expect(text).toContain("Variance from Estimate: -50% (estimated $0.02, actual $0.01)");
  });

  it("claims no cost for tokens that were recorded without a model", () => {
    const tokens: Timed = [2, { type: "tokens.used", agent: "coder", input: 100, output: 10, cached: 0 }];
    expect(shown(sessionOf(plan, [...done, tokens]))).toContain("unknown (no price for a model that was not named)");
  });

  it("says how many attempts reported nothing, and compares only what is known in full", () => {
    const session = sessionOf(plan, [...runs(0, 60, "1", null), ...runs(60, 90, "3", [used(11_000, 1_000)], "tester")]);
    const text = shown(session);
    expect(text).toContain("- Not Reported: by 1 of 2 attempts, not in these totals");
    expect(text).toMatch(/Variance.*\nCompared: the 1 of 3 phases that are completed, estimated and reported in full/);
    expect(text).toMatch(/✓ {2}1 .* \?$/m);
  });

  it("never turns unknown into 0", () => {
    const text = shown(sessionOf(plan, runs(0, 60, "1", null)));
    expect(text).toContain("Token Usage:\n- Unknown: none of 1 attempt reported any");
    expect(text).not.toContain("$");
    expect(text).not.toContain("Variance");
  });

  it("lists declared files that never appeared, and unresolved errors", () => {
    const failed = [
      ...runs(0, 60, "1"),
      move(60, "2", "pending", "in_progress"),
      ...fails(70, "2", "runtime", "It broke\nbadly"),
    ];
    const text = shown(sessionOf(plan, failed), { missingFiles: [{ phase: "1", file: "src/schema.ts" }] });
    expect(text).toContain("Declared, but never appeared:\n- phase 1: src/schema.ts");
    expect(text).toContain("Unresolved errors:\n- phase 2 (coder), runtime: It broke badly");
  });

  it("says so when nothing has run", () => {
    expect(shown(sessionOf(plan, []))).toContain("Nothing has run yet");
  });

  it("gives the same facts as data", () => {
    expect(reportJson(sessionOf(plan, done), look)).toMatchObject({
      status: "completed",
      done: 3,
      wall_ms: 180_000,
      work_ms: 210_000,
      phases: [
        { id: "1", tokens: 10_000 },
        { id: "2", worked_ms: 90_000, retries: 1, attempts: [{ outcome: "failure" }, { attempt: 2 }] },
        {},
      ],
      tokens: { cost: expect.closeTo(0.0725), unreported: 0, variance: { unit: "usd", percent: 21, phases: 3 } },
      unresolved_errors: [],
    });
    expect(JSON.parse(JSON.stringify(reportJson(sessionOf(plan, []), look)))).toMatchObject({
      wall_ms: null,
      started: null,
    });
  });
});

describe("the timeline", () => {
  const rows = (timed: Timed[], width = 73) => {
    const lines = shown(sessionOf(plan, timed), { width }).split("\n");
    const from = lines.findIndex((line) => line.startsWith("Timeline"));
    return lines.slice(from + 1, lines.indexOf("", from));
  };

  it("draws phases on one axis, and a retry as a bar of its own that begins with its number", () => {
    expect(rows(done)).toEqual([
      "  1  Schema  ████████████████████",
      "  2  Routes                      ▒▒▒▒▒▒▒▒▒▒          2███████████████████",
      "  3  Search                      ████████████████████",
      "  █ succeeded   ▒ failed   2 second attempt",
    ]);
  });

  it("marks the wait for quota", () => {
    const refused = [...runs(0, 60, "1"), ...retried("quota")];
    expect(rows(refused)).toEqual([
      "  1  Schema  ████████████████████",
      "  2  Routes                      ░░░░░░░░░░~~~~~~~~~~2███████████████████",
      "  █ succeeded   ░ stopped or refused   ~ waited for quota   2 second attempt",
    ]);
  });

  it("folds what does not fit: the forty longest stay", () => {
    const many = Array.from({ length: 100 }, (_, index) => phase(String(index)));
    const timed = many.flatMap(({ id }, index) => runs(index, index + 10 + (index % 7), id));
    const lines = shown(sessionOf(many, timed)).split("\n");
    expect(lines.filter((line) => line.includes("█") && !line.includes("succeeded"))).toHaveLength(40);
    expect(lines).toContain("  ... and 60 shorter phases");
  });

  it.each([60, 80, 120, 200])("keeps table and bars within %i columns, colours and wide names included", (width) => {
    const wide = plan.map((one) => ({ ...one, title: `${one.title} 設計と実装の長い題名がここに入ります 🚀` }));
    const session = sessionOf(wide, [...done, ...fails(190, "2", "runtime", "x".repeat(500))], "題名".repeat(80));
    const lines = reportLines(session, { ...look, paint: colored, width });
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(Math.max(width, 79));
  });
});

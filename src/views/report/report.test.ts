import { describe, expect, test } from "vitest";
import {
  at,
  begin,
  change,
  check,
  colored,
  end,
  fails,
  integrate,
  move,
  phase,
  place,
  plain,
  runs,
  sessionOf,
  type Timed,
  used,
  warn,
} from "../../../test/support/sample-session.ts";
import type { Session } from "../../session/session.ts";
import { displayWidth } from "../text/width.ts";
import type { Prices } from "./prices.ts";
import { reportLines } from "./report.ts";
import { reportJson } from "./report-json.ts";

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
  test("starts with its subject, and the wall time against the total phase time", () => {
    expect(shown(sessionOf(plan, done)).split("\n").slice(0, 3)).toEqual([
      "Task API",
      "2026-02-14-task-api: completed, 3 of 3 phases done, parallel mode",
      "Wall time 3 min 0 s, 3 min 30 s total phase time (1.2 at a time on average)",
    ]);
  });

  test("shows what took less than a second in milliseconds, and no length of a column", () => {
    const text = shown(sessionOf([phase("1")], runs(0, 0.065, "1")));
    expect(text).toContain("\nWall time 65 ms, 65 ms total phase time (1.0 at a time on average)\n");
    expect(text).toMatch(/^Timeline: 65 ms from \d\d:\d\d:\d\d$/m);
    expect(text).toMatch(/^ {2}✓ {2}1 {2}.* 65 ms /m);
    expect(text).not.toMatch(/one column/);
  });

  test.each([
    [1.2, /^Timeline: \d\d:\d\d:\d\d to \d\d:\d\d:\d\d, one column is \d\d ms$/m],
    [180, /one column is 2\.\d s$/m],
    [1800, /one column is 2\d s$/m],
  ])("says how long a column of the timeline is: a run of %d s", (seconds, expected) => {
    expect(shown(sessionOf([phase("1")], runs(0, seconds, "1")))).toMatch(expected);
  });

  test("has a row for each phase: status, attempts, time, tokens", () => {
    expect(shown(sessionOf(plan, done))).toContain(
      [
        "    ID  PHASE   AGENT          STATUS     TRY  TIME  TOKENS",
        "  ✓  1  Schema  data-engineer  completed    1  1:00  10,000",
        "  ✓  2  Routes  coder          completed    2  1:30  14,000",
        "  ✓  3  Search  tester         completed    1  1:00  12,000",
      ].join("\n"),
    );
  });

  test("has the token summary of the design document, with separators, ranking and right arithmetic (M178, M179)", () => {
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

  test("shows no cost without a price, names the model, and compares tokens instead", () => {
    const text = shown(sessionOf(plan, done), { prices: new Map() });
    expect(text).toContain("- Estimated Cost: unknown (no price for gemini-2.5-pro)");
    expect(text).toContain("1. coder: 14,000 tokens\n");
    expect(text).toContain("Variance from Estimate: +9% (estimated 33,000 tokens, actual 36,000 tokens)");
  });

  test("shows less than estimated with a minus sign", () => {
    const text = shown(sessionOf([phase("1", { estimate })], runs(0, 60, "1", [used(5_000, 500)])));
    expect(text).toContain("Variance from Estimate: -50% (estimated $0.02, actual $0.01)");
  });

  test("shows no cost for tokens recorded without a model", () => {
    const tokens: Timed = [2, { type: "tokens.used", agent: "coder", input: 100, output: 10, cached: 0 }];
    expect(shown(sessionOf(plan, [...done, tokens]))).toContain("unknown (no price for an unnamed model)");
  });

  test("says how many attempts reported no tokens, and compares only complete figures", () => {
    const session = sessionOf(plan, [...runs(0, 60, "1", null), ...runs(60, 90, "3", [used(11_000, 1_000)], "tester")]);
    const text = shown(session);
    expect(text).toContain("- Not Reported: by 1 of 2 attempts, not in these totals");
    expect(text).toMatch(/Variance.*\nCompared: the 1 of 3 phases that are completed, estimated and reported in full/);
    expect(text).toMatch(/✓ {2}1 .* \?$/m);
  });

  test("never turns unknown into 0", () => {
    const text = shown(sessionOf(plan, runs(0, 60, "1", null)));
    expect(text).toContain("Token Usage:\n- Unknown: none of 1 attempt reported any");
    expect(text).not.toContain("$");
    expect(text).not.toContain("Variance");
  });

  test("lists declared files that do not exist, and unresolved errors", () => {
    const failed = [
      ...runs(0, 60, "1"),
      move(60, "2", "pending", "in_progress"),
      ...fails(70, "2", "runtime", "It broke\nbadly"),
    ];
    const text = shown(sessionOf(plan, failed), { missingFiles: [{ phase: "1", file: "src/schema.ts" }] });
    expect(text).toContain("Declared but missing:\n- phase 1: src/schema.ts");
    expect(text).toContain("Unresolved errors:\n- phase 2 (coder), runtime: It broke badly");
  });

  test("says so when nothing has run", () => {
    expect(shown(sessionOf(plan, []))).toContain("Nothing has run yet");
  });

  test("claims no time for an attempt without a recorded end", () => {
    const begun: Timed[] = [move(0, "1", "pending", "in_progress"), begin(0, "1")];
    const lost: Timed[] = [...begun, [90, { type: "session.status_set", status: "interrupted" }]];
    const text = shown(sessionOf(plan, lost));
    expect(text).toContain("\n1 attempt has no recorded end (the engine stopped first)\n");
    expect(text).not.toMatch(/Wall time|one column/);
    const byHand: Timed[] = [move(0, "1", "pending", "in_progress"), ...fails(90, "1", "validation", "no")];
    expect(shown(sessionOf(plan, byHand))).toContain("\nDuration unknown\n");
  });

  test("gives the same facts as data", () => {
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

describe("the work of a session", () => {
  const granted: Timed = [
    70,
    {
      type: "phase.scope_requested",
      phase: "3",
      agent: "tester",
      paths: ["a.ts", "b.ts"],
      reason: "it is tested",
      granted: true,
      owner: null,
    },
  ];
  const worked: Timed[] = [
    ...done,
    place(1, "1"),
    change(60, "1", [
      { path: "src/schema.ts", kind: "created", added: 120, removed: 0 },
      { path: "src/new.ts", kind: "renamed", from: "src/old.ts", added: 0, removed: 4 },
      { path: "logo.png", added: null, removed: null },
    ]),
    integrate(60, "1"),
    check(60, "1", "0123456789abcdef".repeat(3).slice(0, 40), ["npm run build", 0, "built\n"], ["npm test", 0, "ok\n"]),
    place(120, "2", 2),
    change(180, "2", ["src/routes.ts", "src/beyond.ts"], { attempt: 2, outside: ["src/beyond.ts"] }),
    check(180, "2", null, ["npm test", 1, "1 passed\n\tat \u001b[31mred\n"], ["npm run lint", null]),
    warn(170, "2", "outside_scope", "src/beyond.ts changed,\nwhich the phase does not own"),
    warn(60, "1", "claims_differ", "The report names src/b.ts, which did not change"),
    granted,
  ];
  const section = (title: string, timed = worked, over: Partial<typeof look> = {}) => {
    const lines = shown(sessionOf(plan, timed), over).split("\n");
    const from = lines.findIndex((line) => line.startsWith(title));
    return from === -1 ? [] : lines.slice(from, [...lines, ""].indexOf("", from));
  };

  test("is listed by phase, with every file and its lines; the sum is what is in the project", () => {
    expect(section("Changes")).toEqual([
      "Changes: 3 files (+120 -4)",
      "- phase 1: 3 files (+120 -4)",
      "    created   src/schema.ts             +120  -0",
      "    renamed   src/old.ts -> src/new.ts    +0  -4",
      "    modified  logo.png",
      "- phase 2: 2 files (+20 -2), attempt 2, 1 outside its files, not in the project",
      "    modified  src/routes.ts  +10  -1",
      "    modified  src/beyond.ts  +10  -1",
    ]);
    const marked = { ...plain, yellow: (line: string) => `!${line}` };
    expect(section("Changes", worked, { paint: marked }).filter((line) => line.startsWith("!"))).toEqual([
      "!    modified  src/beyond.ts  +10  -1",
    ]);
    const renamed = { path: "new.ts", from: "old.ts", kind: "renamed" as const };
    for (const outside of ["new.ts", "old.ts"]) {
      const beyond = [...runs(0, 60, "1"), change(60, "1", [renamed], { outside: [outside] })];
      expect(section("Changes", beyond, { paint: marked })).toContain("!    renamed  old.ts -> new.ts  +10  -1");
    }
    const kept = [...runs(0, 60, "1"), place(1, "1"), change(60, "1", ["a.ts"])];
    expect(section("Changes", kept)[0]).toBe("Changes: nothing is in the project");
  });

  test("is proved by commands, exit codes and their tree, and a failure by the end of its output", () => {
    expect(section("Evidence")).toEqual([
      "Evidence:",
      "- phase 1: passed on tree 0123456789ab",
      "    npm run build: exit code 0, 3 s",
      "    npm test: exit code 0, 3 s",
      "- phase 2: failed on the project as it was",
      "    npm test: exit code 1, 3 s",
      "      1 passed",
      "        at ␛[31mred",
      "    npm run lint: no exit code, 3 s",
    ]);
  });

  test("includes grants and warnings", () => {
    expect(section("Granted")).toEqual(["Granted beyond their files:", "- phase 3: a.ts, b.ts"]);
    expect(section("Warnings")).toEqual([
      "Warnings:",
      "- phase 1, claims differ: The report names src/b.ts, which did not change",
      "- phase 2, outside scope: src/beyond.ts changed, which the phase does not own",
    ]);
    const again = ["short", "x".repeat(99), "short"].map((message) => warn(60, "1", "left_out", message));
    expect(section("Warnings", [...done, ...again, ...again])).toEqual([
      "Warnings:",
      "- phase 1, left out: short (4 times)",
      `- phase 1, left out: ${"x".repeat(48)}… (2 times)`,
    ]);
  });

  test.each(["Changes", "Evidence", "Granted", "Warnings"])("has no section %s when it would be empty", (title) => {
    expect(section(title, done)).toEqual([]);
  });

  test("lists part of a long list for every phase, and counts the rest", () => {
    const many = Array.from({ length: 60 }, (_, index) => phase(String(index)));
    const files = Array.from({ length: 300 }, (_, index) => `src/${index}.ts`);
    const commands = Array.from(
      { length: 30 },
      (_, at) => [`step ${at}`, at === 29 ? 1 : 0, "x\n".repeat(100)] as const,
    );
    const timed = many.flatMap(({ id }, at) => [
      ...runs(0, 9, id),
      change(9, id, at < 2 ? files : files.slice(0, 2), { total: at === 0 ? 5000 : 2 }),
      check(9, id, null, ...commands),
      ...[1, 2].map((number) => warn(9, id, "left_out", `Number ${number}`)),
    ]);
    const text = shown(sessionOf(many, timed));
    const lines = text.split("\n");
    const of = (word: string) => lines.filter((line) => line.startsWith(word));
    expect(of("    modified")).toHaveLength(50);
    expect(lines).toContain("    ... and 4999 more (--json has them all)");
    expect(of("    step")).toHaveLength(50);
    expect(of("    step").every((line) => line === "    step 29: exit code 1, 3 s")).toBe(true);
    expect(of("      x")).toHaveLength(100);
    expect(of("- phase 0,")).toHaveLength(2);
    expect(of("  ... and 10 more phases (--json has them all)")).toHaveLength(2);
    expect(of("  ... and 70 more (--json has them all)")).toHaveLength(1);
  });

  test.each([60, 80, 120, 200])("stays within %i columns, including colours, wide and hostile names", (width) => {
    const name = `src/${"設計と実装".repeat(30)}/\u001b[2J\u009b🚀.ts`;
    const commands = [[`npm test ${name}`, 1, `${name}\n${"x".repeat(999)}`]] as const;
    const timed: Timed[] = [
      ...runs(0, 9, "1"),
      place(1, "1"),
      change(9, "1", [{ path: name, kind: "renamed", from: name, added: 123456789, removed: 7 }, "a.ts"], {
        outside: [name],
      }),
      check(9, "1", "e".repeat(40), ...commands),
      warn(9, "1", "outside_scope", name),
      [
        9,
        {
          type: "phase.scope_requested",
          phase: "1",
          agent: "coder",
          paths: [name],
          reason: "",
          granted: true,
          owner: null,
        },
      ],
    ];
    const lines = reportLines(sessionOf(plan, timed), { ...look, paint: colored, width });
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(Math.max(width, 79));
    const uncolored = lines.join("\n").replace(/\u001b\[\d+m/g, "");
    expect(uncolored).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  test("is complete as data: hashes, files, and the end of every command's output", () => {
    const long = `${"x".repeat(5000)}end`;
    const report = reportJson(sessionOf(plan, [...worked, check(200, "3", null, ["npm test", 0, long])]), look);
    expect(report.changes).toEqual({ files: 3, added: 120, removed: 4 });
    expect(report.phases[0]).toMatchObject({
      changes: {
        attempt: 1,
        integrated: true,
        in_project: true,
        base: "b".repeat(40),
        commit: "c".repeat(40),
        total: 3,
        files: [
          { path: "src/schema.ts", kind: "created", added: 120, removed: 0 },
          { from: "src/old.ts" },
          { added: null },
        ],
      },
      warnings: [{ code: "claims_differ", ts: at(60).toISOString() }],
      evidence: {
        result: "pass",
        tree: expect.stringMatching(/^[0-9a-f]{40}$/),
        commands: [{ output: "built\n" }, {}],
      },
    });
    expect(report.phases[1]?.changes).toMatchObject({
      attempt: 2,
      integrated: false,
      in_project: false,
      outside: ["src/beyond.ts"],
    });
    expect(report.phases[2]).toMatchObject({ changes: null, granted: ["a.ts", "b.ts"], warnings: [] });
    const output = report.phases[2]?.evidence?.commands[0]?.output;
    expect(output).toHaveLength(4000);
    expect(output).toMatch(/xend$/);
    expect(reportJson(sessionOf(plan, done), look).phases[0]).toMatchObject({ changes: null, evidence: null });
  });
});

describe("the timeline", () => {
  const rows = (timed: Timed[], width = 73) => {
    const lines = shown(sessionOf(plan, timed), { width }).split("\n");
    const from = lines.findIndex((line) => line.startsWith("Timeline"));
    return lines.slice(from + 1, lines.indexOf("", from));
  };

  test("draws phases on one axis, and a retry as its own bar that starts with its number", () => {
    expect(rows(done)).toEqual([
      "  1  Schema  ████████████████████",
      "  2  Routes                      ▒▒▒▒▒▒▒▒▒▒          2███████████████████",
      "  3  Search                      ████████████████████",
      "  █ succeeded   ▒ failed   2 second attempt",
    ]);
  });

  test("marks the tenth attempt and later ones with a plus sign", () => {
    const tries = Array.from({ length: 10 }, (_, at) => [
      begin(at * 10, "1", at + 1),
      end(at * 10 + 10, "1", 10, { attempt: at + 1, outcome: "interrupted" }),
    ]).flat();
    expect(rows([move(0, "1", "pending", "in_progress"), ...tries])).toEqual([
      expect.stringMatching(/^ {2}1 {2}Schema {2}░+2░+3░+4░+5░+6░+7░+8░+9░+\+░+$/),
      "  ░ stopped or rejected   2 second attempt   + tenth or later attempt",
    ]);
  });

  test("tells accepted work from rejected work", () => {
    const [moved, begun] = retried("failure") as [Timed, Timed];
    const timed: Timed[] = [
      ...runs(0, 60, "1"),
      moved,
      begun,
      end(120, "2", 60),
      ...fails(120, "2", "file_conflict", "no"),
    ];
    expect(rows(timed)).toEqual([
      "  1  Schema  ██████████████████████████████",
      "  2  Routes                                ▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚▚",
      "  █ succeeded   ▚ done, not accepted",
    ]);
  });

  test("marks the wait for quota", () => {
    const refused = [...runs(0, 60, "1"), ...retried("quota")];
    expect(rows(refused)).toEqual([
      "  1  Schema  ████████████████████",
      "  2  Routes                      ░░░░░░░░░░~~~~~~~~~~2███████████████████",
      "  █ succeeded   ░ stopped or rejected   ~ waited for quota   2 second attempt",
    ]);
  });

  test("shows the forty longest phases when not all fit", () => {
    const many = Array.from({ length: 100 }, (_, index) => phase(String(index)));
    const timed = many.flatMap(({ id }, index) => runs(index, index + 10 + (index % 7), id));
    const lines = shown(sessionOf(many, timed)).split("\n");
    expect(lines.filter((line) => line.includes("█") && !line.includes("succeeded"))).toHaveLength(40);
    expect(lines).toContain("  ... and 60 shorter phases");
  });

  test.each([60, 80, 120, 200])("keeps table and bars within %i columns, including colours and wide names", (width) => {
    const wide = plan.map((one) => ({ ...one, title: `${one.title} 設計と実装の長い題名がここに入ります 🚀` }));
    const session = sessionOf(wide, [...done, ...fails(190, "2", "runtime", "x".repeat(500))], "題名".repeat(80));
    const lines = reportLines(session, { ...look, paint: colored, width });
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(Math.max(width, 79));
  });
});

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  begin,
  change,
  check,
  integrate,
  phase,
  place,
  sessionOf,
  type Timed,
  warn,
} from "../../../test/support/sample-session.ts";
import { frozenPhase, frozenPlan, moved, sessionAfter } from "../../../test/support/session.ts";
import { splitFrontMatter } from "../../front-matter.ts";
import { emptyContext } from "../../handoff/downstream-context.ts";
import { applyEvent } from "../../session/fold.ts";
import { findPhase, type SessionPhase } from "../../session/session.ts";
import { readView } from "./read-view.ts";
import { renderSession } from "./session-view.ts";

const frontMatter = (text: string) => parse(splitFrontMatter(text)?.yaml ?? "");

describe("active-session.md", () => {
  test("is the template, filled in (J136)", () => {
    const template = readFileSync(new URL("../../../templates/session-state.md", import.meta.url), "utf8");
    const phase = { ...frozenPhase("1", { title: "Phase Name" }), parallel: false };
    const plan = {
      ...frozenPlan([phase]),
      title: "Topic",
      path: ".gemini/plans/YYYY-MM-DD-topic-slug-impl-plan.md",
      design_document: ".gemini/plans/YYYY-MM-DD-topic-slug-design.md",
    };
    const session = applyEvent(undefined, {
      type: "session.created",
      session_id: "YYYY-MM-DD-topic-slug",
      task: null,
      execution_mode: null,
      plan,
      seq: 1,
      ts: "2026-02-14T22:58:00Z",
    });
    (session.phases[0] as SessionPhase).agents = [];
    expect(renderSession(session)).toBe(template);
  });

  test("has the keys of the design document, in its order (J127, J130-J133, J135)", () => {
    const data = frontMatter(renderSession(sessionAfter([frozenPhase("1")])));
    expect(Object.keys(data)).toEqual([
      "session_id",
      "created",
      "updated",
      "status",
      "design_document",
      "implementation_plan",
      "execution_mode",
      "current_phase",
      "total_phases",
      "token_usage",
      "phases",
    ]);
    expect(Object.keys(data.token_usage)).toEqual(["total_input", "total_output", "total_cached", "by_agent"]);
    expect(Object.keys(data.phases[0])).toEqual([
      "id",
      "name",
      "status",
      "agents",
      "parallel",
      "started",
      "completed",
      "blocked_by",
      "files_created",
      "files_modified",
      "files_deleted",
      "downstream_context",
      "errors",
      "retry_count",
    ]);
    expect(Object.keys(data.phases[0].downstream_context)).toEqual([
      "key_interfaces_introduced",
      "patterns_established",
      "integration_points",
      "assumptions",
      "warnings",
    ]);
    expect(data.execution_mode).toBeNull();
  });

  test("has the body of the design document for every phase (J134)", () => {
    const body = splitFrontMatter(renderSession(sessionAfter([frozenPhase("1"), frozenPhase("b")])))?.body ?? "";
    expect(body.match(/^#.*$/gm)).toEqual([
      "# Task API Orchestration Log",
      ...["1", "b"].flatMap((id) => [
        `## Phase ${id}: Phase ${id}`,
        "### Status",
        "### Agent Output",
        "### Files Changed",
        "### Validation Result",
      ]),
    ]);
  });

  test("writes integer ids as integers and all others as strings (C33)", () => {
    const text = renderSession(
      sessionAfter([
        frozenPhase("1"),
        frozenPhase("2b", { blocked_by: ["1"] }),
        frozenPhase("007", { blocked_by: ["2b"] }),
      ]),
    );
    const data = frontMatter(text);
    expect(data.phases.map((phase: { id: unknown }) => phase.id)).toEqual([1, "2b", "007"]);
    expect(data.phases[1].blocked_by).toEqual([1]);
  });

  test("says that a completion without a handoff is unverified", () => {
    const text = renderSession(
      sessionAfter([frozenPhase("1")], moved("1", "pending", "in_progress"), moved("1", "in_progress", "completed")),
    );
    expect(text).toContain("Unverified: no hand-off was recorded");
  });

  test("cuts a long report, never inside a character", () => {
    const handoff = { status: "success" as const, missing: [], downstream_context: emptyContext() };
    const summary = `a${"🚀".repeat(3000)}`;
    const event = { type: "phase.handed_off" as const, phase: "1", agent: "coder", handoff: { ...handoff, summary } };
    const text = renderSession(sessionAfter([frozenPhase("1")], event));
    expect(text).toContain("🚀\ufffd\n[cut]");
    expect(Buffer.from(text).toString()).toBe(text);
  });

  test("reads back unchanged, for any texts", () => {
    const anyText = fc.string({ unit: "grapheme" });
    const timestamp = "2026-02-14T22:58:00Z";
    fc.assert(
      fc.property(
        anyText,
        anyText,
        fc.array(anyText.filter((path) => path !== "")),
        fc.nat(),
        (title, message, files, tokens) => {
          const session = sessionAfter(
            [frozenPhase("1", { title }), frozenPhase("x-2", { blocked_by: ["1"] })],
            { type: "phase.files_added", phase: "1", created: files, modified: [], deleted: [], hashes: {} },
            {
              type: "phase.error_added",
              phase: "1",
              error: { agent: "coder", timestamp, type: "quota", message, resolution: "pending", resolved: false },
            },
            { type: "tokens.used", agent: "coder", input: tokens, output: 1, cached: 0 },
          );
          const read = readView(renderSession(session));
          if (!read.ok) throw new Error(read.reason);
          expect(read.record.phases[0]).toMatchObject({
            id: "1",
            name: title,
            files_created: findPhase(session, "1")?.files_created,
          });
          expect(read.record.phases[0]?.errors[0]?.message).toBe(message);
          expect(read.record.token_usage).toEqual(session.token_usage);
          expect(read.record.phases[1]?.blocked_by).toEqual(["1"]);
        },
      ),
    );
  });
});

describe("the work of a phase in active-session.md", () => {
  const tree = "e".repeat(40);
  const granted: Timed = [
    3,
    {
      type: "phase.scope_requested",
      phase: "1",
      agent: "coder",
      paths: ["x.ts"],
      reason: "",
      granted: true,
      owner: null,
    },
  ];
  const bodyAfter = (...timed: Timed[]) => {
    const text = renderSession(sessionOf([phase("1"), phase("2")], timed));
    return text.slice(text.indexOf("## Phase 1"), text.indexOf("\n## Phase 2"));
  };
  const sectionOf = (title: string, ...timed: Timed[]) => {
    const [, section = ""] = bodyAfter(begin(1, "1"), place(1, "1"), ...timed).split(`### ${title}\n`);
    return section.split("\n\n### ")[0]?.trimEnd().split("\n");
  };

  test("lists the recorded changes with line counts, below the reported ones", () => {
    const files = [
      { path: "src/a.ts", kind: "created" as const, added: 120, removed: 0 },
      { path: "src/new.ts", kind: "renamed" as const, from: "src/old.ts", added: 0, removed: 4 },
      { path: "logo.png", added: null, removed: null },
    ];
    expect(
      sectionOf("Files Changed", granted, change(9, "1", files, { outside: ["logo.png"] }), integrate(9, "1")),
    ).toEqual([
      "- Created: [none yet]",
      "- Modified: [none yet]",
      "- Deleted: [none yet]",
      "- Tree, attempt 1: 3 files (+120 -4), integrated",
      "  - created src/a.ts (+120 -0)",
      "  - renamed src/old.ts -> src/new.ts (+0 -4)",
      "  - modified logo.png",
      "- Outside its files: logo.png",
      "- Granted beyond its files: x.ts",
    ]);
    expect(sectionOf("Files Changed", change(9, "1", ["a"]))).toContain(
      "- Tree, attempt 1: 1 file (+10 -1), not in the project",
    );
    expect(sectionOf("Files Changed", place(2, "1", 1, null), change(9, "1", ["a"]))).toContain(
      "- Tree, attempt 1: 1 file (+10 -1)",
    );
  });

  test("shows the evidence: the tree, commands, exit codes, and a little of their output", () => {
    const output = Array.from({ length: 90 }, (_, line) => `line ${line}`).join("\n");
    const lines = sectionOf(
      "Validation Result",
      check(9, "1", tree, ["npm run build", 0, output], ["npm test", 1, output]),
    );
    expect(lines?.slice(0, 9)).toEqual([
      "Fail",
      `- Tree: ${tree}`,
      "- $ npm run build: exit code 0, 3 s",
      "",
      "      line 87",
      "      line 88",
      "      line 89",
      "",
      "- $ npm test: exit code 1, 3 s",
    ]);
    expect(lines?.filter((line) => line.startsWith("      line"))).toHaveLength(18);
    expect(bodyAfter(begin(1, "1"), check(9, "1", tree, ["npm test", 0, "ok"])).endsWith("\n\n      ok\n")).toBe(true);
    expect(sectionOf("Validation Result", check(9, "1", null, ["npm test", null]))).toEqual([
      "Fail",
      "- Tree: none, the project as it was",
      "- $ npm test: no exit code, 3 s",
    ]);
  });

  test("shows warnings in their own section, only when there are any", () => {
    expect(sectionOf("Warnings", warn(9, "1", "claims_differ", "The report names\nsrc/b.ts"))).toEqual([
      "- 2026-02-14T22:58:09.000Z claims_differ: The report names src/b.ts",
    ]);
    expect(bodyAfter()).not.toContain("Warnings");
  });

  test("is short, however much there is", () => {
    const files = Array.from({ length: 2000 }, (_, at) => `src/${at}.ts`);
    const many = Array.from({ length: 200 }, (_, at) => warn(9, "1", "left_out", `${at} ${"x".repeat(5000)}`));
    const commands = Array.from({ length: 100 }, () => ["true", 0, "y".repeat(100_000)] as const);
    const body = bodyAfter(
      begin(1, "1"),
      change(9, "1", files, { total: 9000, outside: files }),
      check(9, "1", tree, ...commands),
      ...many,
    );
    expect(body.length).toBeLessThan(30_000);
    expect(body).toContain("  - ... and 8980 more");
    expect(body).toContain("- 180 earlier");
    expect(body).toContain("- ... and 80 more");
  });

  test("reads back unchanged and not as an edit, for any file names", () => {
    // No system allows NUL in a name.
    const hostile = [...'\u001b[2J\u007f\u0085\u009b\r\n\t\u2028-#`"\\🚀', "\ud83d", "---\n", "```"];
    const unit = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "binary", minLength: 1, maxLength: 1 }));
    const anyText = fc.string({ unit, minLength: 1 }).filter((text) => !text.includes("\0"));
    fc.assert(
      fc.property(anyText, anyText, (name, output) => {
        const hashes = {};
        const session = sessionOf(
          [phase("1")],
          [
            begin(1, "1"),
            change(9, "1", [{ path: name, kind: "renamed", from: output }], { outside: [name] }),
            check(9, "1", tree, [name, 1, `${output}\n${name}`]),
            warn(9, "1", "claims_differ", `${name}\n${output}`),
            [9, { type: "phase.files_added", phase: "1", created: [name], modified: [output], deleted: [], hashes }],
          ],
        );
        const text = Buffer.from(renderSession(session)).toString();
        const read = readView(text);
        if (!read.ok) throw new Error(read.reason);
        const [written] = session.phases;
        const { files_created, files_modified } = read.record.phases[0] ?? {};
        expect({ files_created, files_modified }).toEqual({
          files_created: written?.files_created,
          files_modified: written?.files_modified,
        });
        expect(read.unknownKeys).toEqual([]);
        expect(read.body.trim()).toBe(text.slice(text.indexOf("\n---\n") + 5).trim());
        expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });
});

describe("reading a view written by hand", () => {
  const valid = renderSession(sessionAfter([frozenPhase("1")]));
  test.each([
    ["no front matter", "# Hello\n"],
    ["unclosed front matter", "---\nsession_id: x\n"],
    ["invalid YAML", "---\n{ : [\n---\n"],
    ["a missing key", valid.replace(/^session_id.*\n/m, "")],
    ["an unknown status", valid.replace('status: "in_progress"', 'status: "sleeping"')],
    ["a negative count", valid.replace("total_input: 0", "total_input: -1")],
    ["an invalid time", valid.replace(/created: ".*"/, 'created: "t"')],
    ["a scalar for a list", valid.replace("files_created: []", "files_created: 5")],
    ["nothing", ""],
  ])("rejects %s with a reason", (_what, text) => {
    expect(readView(text)).toMatchObject({ ok: false, reason: expect.stringMatching(/.{10}/) });
  });

  test("fills in what people leave out", () => {
    const text =
      '---\nsession_id: "2026-02-14-x"\ncreated: "2026-02-14T22:58:00Z"\nupdated: "2026-02-14T22:58:00Z"\nstatus: in_progress\nphases:\n  - id: 1\n    name: One\n    status: pending\n---\n\n# X Orchestration Log\n';
    expect(readView(text)).toMatchObject({
      ok: true,
      title: "X",
      record: { total_phases: 1, phases: [{ id: "1", retry_count: 0, errors: [] }] },
    });
  });

  test("never throws", () => {
    fc.assert(fc.property(fc.string(), (text) => void readView(`---\n${text}\n---\n`)));
  });
});

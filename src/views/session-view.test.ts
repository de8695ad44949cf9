import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { frozenPhase, frozenPlan, moved, sessionAfter } from "../../test/support/session.ts";
import { splitFrontMatter } from "../front-matter.ts";
import { apply } from "../session/fold.ts";
import { findPhase, type SessionPhase } from "../session/session.ts";
import { readView } from "./read-view.ts";
import { renderSession } from "./session-view.ts";

const frontMatter = (text: string) => parse(splitFrontMatter(text)?.yaml ?? "");

describe("active-session.md", () => {
  it("is the template, filled in (J136)", () => {
    const template = readFileSync(new URL("../../templates/session-state.md", import.meta.url), "utf8");
    const phase = { ...frozenPhase("1", { title: "Phase Name" }), parallel: false };
    const plan = {
      ...frozenPlan([phase]),
      title: "Topic",
      path: ".gemini/plans/YYYY-MM-DD-topic-slug-impl-plan.md",
      design_document: ".gemini/plans/YYYY-MM-DD-topic-slug-design.md",
    };
    const session = apply(undefined, {
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

  it("has the keys of the design document, in its order (J127, J130-J133, J135)", () => {
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

  it("has the body of the design document for every phase (J134)", () => {
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

  it("writes integer ids as integers and all others as strings (C33)", () => {
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

  it("says that a completion without a hand-off is unverified", () => {
    const text = renderSession(
      sessionAfter([frozenPhase("1")], moved("1", "pending", "in_progress"), moved("1", "in_progress", "completed")),
    );
    expect(text).toContain("Unverified: no hand-off was recorded");
  });

  it("reads back as it was written, whatever the texts are", () => {
    const anyText = fc.string({ unit: "grapheme" });
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
              error: { agent: "coder", timestamp: "t", type: "quota", message, resolution: "pending", resolved: false },
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

describe("reading a view that somebody wrote", () => {
  const valid = renderSession(sessionAfter([frozenPhase("1")]));
  it.each([
    ["no front matter", "# Hello\n"],
    ["an unclosed one", "---\nsession_id: x\n"],
    ["YAML that is none", "---\n{ : [\n---\n"],
    ["a missing key", valid.replace(/^session_id.*\n/m, "")],
    ["an unknown status", valid.replace('status: "in_progress"', 'status: "sleeping"')],
    ["a negative count", valid.replace("total_input: 0", "total_input: -1")],
    ["a time that is none", valid.replace(/created: ".*"/, 'created: "t"')],
    ["a scalar for a list", valid.replace("files_created: []", "files_created: 5")],
    ["nothing", ""],
  ])("refuses %s with a reason", (_what, text) => {
    expect(readView(text)).toMatchObject({ ok: false, reason: expect.stringMatching(/.{10}/) });
  });

  it("fills in what people leave out", () => {
    const text =
      '---\nsession_id: "2026-02-14-x"\ncreated: "2026-02-14T22:58:00Z"\nupdated: "2026-02-14T22:58:00Z"\nstatus: in_progress\nphases:\n  - id: 1\n    name: One\n    status: pending\n---\n\n# X Orchestration Log\n';
    expect(readView(text)).toMatchObject({
      ok: true,
      title: "X",
      record: { total_phases: 1, phases: [{ id: "1", retry_count: 0, errors: [] }] },
    });
  });

  it("never throws", () => {
    fc.assert(fc.property(fc.string(), (text) => void readView(`---\n${text}\n---\n`)));
  });
});

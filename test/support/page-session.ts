// A session that shows everything the page can show, with fixed times, as a report file; and one in which every text that an agent controls
// is hostile.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { layoutOf } from "../../src/dashboard/layout.ts";
import { readPage } from "../../src/dashboard/page.ts";
import { reportFile } from "../../src/dashboard/report-file.ts";
import { summaryOf } from "../../src/dashboard/session-list.ts";
import { emptyContext } from "../../src/handoff/downstream-context.ts";
import { fold, type TimedEvent } from "../../src/session/fold.ts";
import type { Session } from "../../src/session/session.ts";
import { listPrices } from "../../src/views/report/prices.ts";
import { root } from "./project.ts";
import {
  at,
  begin,
  change,
  check,
  end,
  eventsOf,
  fails,
  integrate,
  move,
  phase,
  place,
  runs,
  type Timed,
  used,
  warn,
} from "./sample-session.ts";

const after = (...ids: string[]) => ({ blocked_by: ids as never[] });

function handedOff(second: number, id: string, summary: string, text: string): Timed {
  const validation = { result: "pass" as const, text };
  const handoff = { status: "success" as const, missing: [], summary, validation, downstream_context: emptyContext() };
  return [second, { type: "phase.handed_off", phase: id as never, agent: "coder", handoff }];
}

/** A retry, a quota wait, a validation and an integration, an idle hour, a failed phase that waits for the user, blocked phases. */
export function sampleRecords(): TimedEvent[] {
  const tree = "e".repeat(40);
  const named = (id: string, title: string, over = {}) => phase(id, { title, ...over });
  return eventsOf(
    [
      named("1", "Module boundaries", { agent: "architect" }),
      named("2", "Schema and migrations", { ...after("1"), validation: ["npm test"] }),
      named("3", "HTTP contract", { ...after("1"), agent: "api-designer" }),
      named("4", "Routes and handlers", after("2", "3")),
      named("5", "Full text search", after("2")),
      named("6", "Tests of the whole service", { ...after("4", "5"), agent: "tester" }),
      named("7", "Reference and guide", { ...after("3"), agent: "technical-writer" }),
    ],
    [
      ...runs(0, 30, "1", [used(12_000, 900)], "architect"),
      move(30, "2", "pending", "in_progress"),
      begin(30, "2", 1, { model: "gemini-2.5-pro" }),
      place(30, "2"),
      end(80, "2", 50, { usage: [used(40_000, 5_000)] }),
      handedOff(80, "2", "The schema has tasks and tags.", "npm test passes"),
      [
        80,
        {
          type: "phase.files_added",
          phase: "2" as never,
          created: ["src/schema.ts"],
          modified: ["src/db.ts"],
          deleted: [],
          hashes: {},
        },
      ],
      change(80, "2", [{ path: "src/schema.ts", kind: "created" }, "src/db.ts", "src/extra.ts"], {
        outside: ["src/extra.ts"] as never,
      }),
      check(95, "2", tree, ["npm test", 0, "14 passed"]),
      integrate(97, "2"),
      move(98, "2", "in_progress", "completed"),
      warn(98, "2", "claims_differ", "The report does not name src/extra.ts"),
      move(31, "3", "pending", "in_progress"),
      begin(31, "3"),
      end(45, "3", 14, { outcome: "quota", exit_code: 1, message: "429: quota exhausted", reason: "quota" }),
      [45, { type: "quota.hit", phase: "3" as never, wait_ms: 30_000, until: at(75).toISOString(), slots: 2 }],
      begin(75, "3", 2),
      end(110, "3", 35, { attempt: 2 }),
      move(110, "3", "in_progress", "completed"),
      ...runs(3700, 3760, "5", [used(20_000, 2_000)]),
      move(3700, "4", "pending", "in_progress"),
      begin(3700, "4"),
      end(3740, "4", 40, {
        outcome: "failure",
        exit_code: 1,
        error_type: "runtime",
        message: "The server does not start: port in use",
      }),
      ...fails(3741, "4", "runtime", "The server does not start: port in use"),
      ...runs(3700, 3730, "7", [used(8_000, 3_000)], "technical-writer"),
    ],
    "Task API: a small service",
  );
}

/** Markup, a link of a terminal, a script address, an address that leaves, and characters that reorder text. */
export const hostile =
  '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=2</script>\u001b]8;;https://evil.test\u0007link\u001b]8;;\u0007 [x](javascript:globalThis.pwned=3) \u202etxt.exe "onmouseover="globalThis.pwned=4"';

export function hostileRecords(): TimedEvent[] {
  const path = `src/${hostile.replace(/[\u0000-\u001f]/g, "").replaceAll("/", "_")}.ts`;
  const asked = { agent: "coder", paths: [path], reason: hostile, owner: null, granted: false };
  return eventsOf(
    [
      phase("1", { title: hostile, description: hostile, validation_criteria: [hostile] }),
      phase("2", { title: `${hostile} 2`, ...after("1") }),
      phase("3", { title: hostile, agent: "tester" }),
    ],
    [
      move(1, "3", "pending", "in_progress"),
      begin(1, "3"),
      [2, { type: "phase.scope_requested", phase: "3" as never, ...asked }],
      move(1, "1", "pending", "in_progress"),
      begin(1, "1", 1, { model: hostile.replace(/\p{C}/gu, "").slice(0, 150) }),
      end(5, "1", 4, { outcome: "failure", message: hostile, partial_output: hostile, reason: "x" }),
      handedOff(5, "1", hostile, hostile),
      [5, { type: "phase.files_added", phase: "1" as never, created: [path], modified: [], deleted: [], hashes: {} }],
      change(5, "1", [path], { outside: [path] as never }),
      check(6, "1", null, [hostile, 1, hostile]),
      warn(6, "1", "claims_differ", hostile),
      [6, { type: "session.noted", text: hostile }],
      ...fails(7, "1", "runtime", hostile),
    ],
    hostile,
  );
}

/** Writes the records as a report, and returns its address. */
export function reportAt(directory: string, records: TimedEvent[], name = "report.html", driven = false): string {
  const session = fold(records) as Session;
  const html = reportFile(readPage(join(root, "dist", "dashboard.html")), {
    overview: {
      control: false,
      slots: 3,
      max_retries: 2,
      prices: [...listPrices],
      project: "task-api",
      sessions: [summaryOf(session, false)],
      unread: 0,
    },
    layout: layoutOf(session.phases),
    records,
    written: at(4000).toISOString(),
    driven,
  });
  const path = join(directory, name);
  writeFileSync(path, html);
  return `file://${path}`;
}

import { describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../test/support/session.ts";
import {
  type DeclaredFiles,
  type Delivery,
  judgeDelivery,
  knownChanges,
  owesFiles,
  undeliveredText,
  untouchedWarnings,
} from "./deliverables.ts";
import type { FileChange, SessionEvent } from "./events.ts";
import { findPhase, type SessionPhase } from "./session.ts";

const none: string[] = [];
const declaring = (over: Partial<DeclaredFiles>): DeclaredFiles => ({
  created: none,
  modified: none,
  deleted: none,
  ...over,
});

function judge(declared: Partial<DeclaredFiles>, over: Partial<Delivery> & { changed?: string[] } = {}) {
  const { changed = [], ...rest } = over;
  return judgeDelivery({
    declared: declaring(declared),
    tier: "full",
    present: changed,
    isSearched: true,
    changes: { paths: new Set(changed), isComplete: true, unchanged: new Set() },
    reported: new Set(),
    ...rest,
  });
}

const unknown = { paths: new Set<string>(), isComplete: false, unchanged: new Set<string>() };

describe("a phase has delivered its files (C42, K143)", () => {
  test.each([
    ["a created file", { created: ["src/a.ts"] }, { changed: ["src/a.ts"] }],
    ["one match of a glob", { created: ["src/*.ts"] }, { changed: ["src/b.ts"] }],
    ["a file in a declared directory", { created: ["src/"] }, { changed: ["src/deep/b.ts"] }],
    ["a file below a path that is a directory", { created: ["src"] }, { changed: ["src/b.ts"] }],
    ["one of two braces", { created: ["a.{ts,js}"] }, { changed: ["a.js"] }],
    ["an unchanged file that the report lists", { created: ["a"] }, { present: ["a"], reported: new Set(["a"]) }],
    ["a file of which no change is known", { created: ["a"] }, { present: ["a"], changes: unknown }],
    ["an empty directory", { created: ["out/"] }, { present: ["out/"] }],
    ["a deleted file", { deleted: ["old.ts"] }, {}],
    ["an emptied directory", { deleted: ["old"] }, { present: ["old/"] }],
    [
      "a directory whose files were replaced by declared ones",
      { created: ["src/new.ts"], deleted: ["src/**"] },
      { changed: ["src/new.ts"] },
    ],
    ["a glob that the search did not get to", { created: ["**/x"] }, { isSearched: false }],
    [
      "nothing, because its agent only reads",
      { created: ["a"], deleted: ["b"] },
      { tier: "read-only", present: ["b"] },
    ],
    ["nothing, because its agent has only a shell", { created: ["a"] }, { tier: "read-shell" }],
  ] as [string, Partial<DeclaredFiles>, Parameters<typeof judge>[1]][])("with %s", (_, declared, over) => {
    expect(undeliveredText(judge(declared, over))).toBeNull();
  });

  test.each([
    ["missing files", { created: ["a", "b", "c"] }, { changed: ["b"] }, "declared but missing: a, c"],
    ["a glob without a match", { created: ["src/*.ts"] }, { changed: ["src/x.js"] }, "declared but missing: src/*.ts"],
    ["a literal file, whatever the search did", { created: ["a"] }, { isSearched: false }, "declared but missing: a"],
    [
      "an unchanged file that the report does not list",
      { created: ["a"] },
      { present: ["a"] },
      "declared but unchanged since before the phase, and not in its report: a",
    ],
    [
      "a file that is still there, and one that is missing",
      { created: ["a"], deleted: ["old/*"] },
      { present: ["old/x"] },
      "declared but missing: a\ndeclared as deleted but still there: old/x",
    ],
    [
      "a directory without files in place of a file",
      { created: ["a.txt"] },
      { present: ["a.txt/"] },
      "declared but missing: a.txt",
    ],
    ["a name with a line break", { created: ["a\nb"] }, {}, "declared but missing: a b"],
  ] as [string, Partial<DeclaredFiles>, Parameters<typeof judge>[1], string][])(
    "not with %s",
    (_, declared, over, message) => {
      expect(undeliveredText(judge(declared, over))).toBe(message);
    },
  );

  test("names at most twenty files", () => {
    const created = Array.from({ length: 25 }, (_, at) => `f${at}`);
    expect(undeliveredText(judge({ created }))).toMatch(/f19 and 5 more$/);
  });
});

describe("a declared modification that was not made", () => {
  const warningOf = (declared: Partial<DeclaredFiles>, over: Parameters<typeof judge>[1] = {}) =>
    untouchedWarnings(judge(declared, over)).map(({ code, message }) => `${code}: ${message}`);

  test.each([
    ["an untouched file", { modified: ["a", "b"] }, { changed: ["b"] }, ["a"]],
    ["a glob", { modified: ["src/*.ts"] }, { changed: ["b"] }, ["src/*.ts"]],
    [
      "a file that is known to be the same",
      { modified: ["a"] },
      { changes: { ...unknown, unchanged: new Set(["a"]) } },
      ["a"],
    ],
  ] as [string, Partial<DeclaredFiles>, Parameters<typeof judge>[1], string[]][])(
    "is a warning for %s",
    (_, declared, over, names) => {
      expect(warningOf(declared, over)).toEqual([
        `not_modified: Declared as modified but untouched: ${names.join(", ")}`,
      ]);
    },
  );

  test.each([
    ["a directory, which only says where the phase may write", { modified: ["src/"] }, {}],
    ["a file of which no change is known", { modified: ["a"] }, { changes: unknown }],
    ["a deleted file", { modified: ["a"] }, { changed: ["a"], present: [] }],
  ] as [string, Partial<DeclaredFiles>, Parameters<typeof judge>[1]][])("is none for %s", (_, declared, over) => {
    expect(warningOf(declared, over)).toEqual([]);
  });
});

describe("what is known of a phase's changes", () => {
  const change = (path: string): FileChange => ({ path, kind: "modified", added: 1, removed: 0 });
  const started = (attempt: number): SessionEvent => ({
    type: "attempt.started",
    phase: "1",
    attempt,
    agent: "coder",
    run: "r",
    runtime: "gemini",
    model: null,
    batch: "2026-02-14-task-api",
    name: `coder.p1-${attempt}`,
    prompt_bytes: 1,
    timeout_ms: 1,
  });
  const changed = (attempt: number, total: number, ...paths: string[]): SessionEvent => ({
    type: "attempt.changed",
    phase: "1",
    attempt,
    base: null,
    commit: null,
    files: paths.map(change),
    total,
    added: 0,
    removed: 0,
    outside: [],
  });
  const phaseAfter = (...events: SessionEvent[]): SessionPhase =>
    findPhase(
      sessionAfter([frozenPhase("1", { files_created: ["a"] })], moved("1", "pending", "in_progress"), ...events),
      "1",
    ) as SessionPhase;
  const known = (phase: SessionPhase, own: FileChange[] | null) => {
    const { paths, isComplete } = knownChanges(phase, own);
    return [[...paths], isComplete];
  };

  test("includes the work of earlier attempts, which a retry starts from", () => {
    const phase = phaseAfter(started(1), changed(1, 1, "a"), started(2));
    expect(known(phase, [{ ...change("c"), kind: "renamed", from: "b" }])).toEqual([["a", "c", "b"], true]);
  });

  test("is incomplete when an earlier attempt was not examined, or its list was cut, or nothing was examined", () => {
    expect(known(phaseAfter(started(1), started(2)), [change("c")])).toEqual([["c"], false]);
    expect(known(phaseAfter(started(1), changed(1, 9, "a"), started(2)), [])).toEqual([["a"], false]);
    expect(known(phaseAfter(), null)).toEqual([[], false]);
  });

  test("a phase owes files unless it declares none or its agent may not write", () => {
    expect(owesFiles(phaseAfter())).toBe(true);
    expect(owesFiles({ ...phaseAfter(), agents: ["code-reviewer"] })).toBe(false);
    expect(owesFiles(phaseAfter(), "read-only")).toBe(false);
    const bare = sessionAfter([frozenPhase("1")]);
    expect(owesFiles(findPhase(bare, "1") as SessionPhase)).toBe(false);
  });
});

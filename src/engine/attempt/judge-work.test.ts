import { describe, expect, test } from "vitest";
import { frozenPhase, sessionAfter } from "../../../test/support/session.ts";
import type { Tier } from "../../agents/tiers.ts";
import type { SessionPhase } from "../../session/session.ts";
import type { RunContext } from "../run-context.ts";
import { isTakenOver, judgeWork, type ScopeRules, scopeRules } from "./judge-work.ts";

type Where = "worktree" | "project" | "shared";
const strict: ScopeRules = { ownership: "strict", writes: true, declares: true };
const warn: ScopeRules = { ...strict, ownership: "warn" };
const reader: ScopeRules = { ownership: "strict", writes: false, declares: false };
const owningReader: ScopeRules = { ...reader, declares: true };
const declaresNothing: ScopeRules = { ...strict, declares: false };

function judged(where: Where, rules: ScopeRules, outside: string[], trouble: string | null = null) {
  const { verdict, warnings } = judgeWork({ where, trouble, changes: { outside } }, rules);
  const said = warnings.map(({ code }) => code);
  return [verdict === null ? "stands" : `refused (${verdict.errorType}, ${verdict.reason})`, ...said].join(", ");
}

const refused = "refused (validation, outside_scope)";

describe("the changes of an attempt", () => {
  test.each<[string, ScopeRules, string[], string, string, string]>([
    // changed files, rules, outside, in a worktree, in the project, in a shared project
    ["only its own files", strict, [], "stands", "stands", "stands"],
    ["only its own files, warn", warn, [], "stands", "stands", "stands"],
    ["others, strict", strict, ["x"], refused, refused, "stands, unjudged"],
    ["others, warn", warn, ["x"], "stands, outside_scope", "stands, outside_scope", "stands, unjudged"],
    ["any file, of a phase that declares nothing", declaresNothing, ["x"], refused, refused, "stands, unjudged"],
    [
      "any file, by a read-only agent",
      reader,
      ["x"],
      "stands, not_applied",
      "stands, outside_scope",
      "stands, unjudged",
    ],
    ["others, by a read-only agent that owns something", owningReader, ["x"], refused, refused, "stands, unjudged"],
    ["sensitive files, strict", strict, [".env"], refused, refused, "stands, unjudged"],
    ["sensitive files, warn", warn, ["a", ".husky/pre-commit"], refused, refused, "stands, unjudged"],
    [
      "sensitive files, by a read-only agent that owns some",
      owningReader,
      ["x.pem"],
      refused,
      refused,
      "stands, unjudged",
    ],
    ["files outside the project, warn", warn, ["../x"], refused, refused, "stands, unjudged"],
    ["files outside the project, strict", strict, ["../x"], refused, refused, "stands, unjudged"],
  ])("are judged: %s", (_, rules, outside, worktree, project, shared) => {
    expect(judged("worktree", rules, outside)).toBe(worktree);
    expect(judged("project", rules, outside)).toBe(project);
    expect(judged("shared", rules, outside)).toBe(shared);
  });

  test("are rejected when they cannot be integrated, with any rules and any owner", () => {
    for (const rules of [strict, warn, declaresNothing, owningReader]) {
      expect(judged("worktree", rules, [], "It left repositories")).toBe(refused);
    }
  });

  test("are rejected with a code only where the user can allow them", () => {
    const code = (outside: string[], trouble: string | null = null) =>
      judgeWork({ where: "worktree", trouble, changes: { outside } }, strict).verdict?.code;
    expect(code(["x"])).toBe("outside_scope");
    expect(code(["x", ".env"])).toBe("sensitive_change");
    expect(code(["../x", "x"])).toBeUndefined();
    expect(code(["x"], "It left repositories")).toBeUndefined();
  });

  test("are named in the error one per line, which also says when they are in the project", () => {
    const message = (where: Where, outside: string[]) =>
      judgeWork({ where, trouble: null, changes: { outside } }, strict).verdict?.message;
    expect(message("worktree", ["a", "b c"])).toBe("Changed outside of its files:\n- a\n- b c");
    expect(message("project", ["a"])).toMatch(/^Changed outside of its files:\n- a\nThey are in the project: /);
  });

  test("stay on one line per file, even when a name contains a line break", () => {
    const outside = ["a\n- b", "c"];
    const { verdict } = judgeWork({ where: "worktree", trouble: null, changes: { outside } }, strict);
    expect(verdict?.message.split("\n")).toHaveLength(3);
    const { warnings } = judgeWork({ where: "worktree", trouble: null, changes: { outside } }, warn);
    expect(warnings[0]?.message).not.toContain("\n");
  });

  test("are named up to twenty files; the rest is counted", () => {
    const outside = Array.from({ length: 23 }, (_, at) => `f${at}`);
    const { verdict } = judgeWork({ where: "worktree", trouble: null, changes: { outside } }, strict);
    expect(verdict?.message).toContain("- f19\n- and 3 more");
    expect(verdict?.message).not.toContain("f20");
    const { warnings } = judgeWork({ where: "worktree", trouble: null, changes: { outside } }, warn);
    expect(warnings[0]?.message).toMatch(/ f19, and 3 more$/);
  });
});

describe("the rules for a phase", () => {
  const phaseOf = (agent: string, files: string[] = []) =>
    sessionAfter([frozenPhase("1", { agent, files_created: files })]).phases[0] as SessionPhase;
  const context = (ownership: "strict" | "warn", tier?: Tier) =>
    ({
      isolation: { options: { ownership } },
      agents: new Map(tier === undefined ? [] : [["somebody", { tier }]]),
    }) as unknown as RunContext;

  test.each<[Tier | undefined, boolean]>([
    ["read-only", false],
    ["read-shell", false],
    ["read-write", true],
    ["full", true],
    [undefined, true],
  ])("an agent of tier %s writes: %s", (tier, writes) => {
    expect(scopeRules(context("strict", tier), phaseOf("somebody")).writes).toBe(writes);
  });

  test("contain the requested ownership, and whether the phase owns anything", () => {
    expect(scopeRules(context("warn", "full"), phaseOf("somebody", ["a"]))).toEqual({ ...warn, declares: true });
    expect(scopeRules(context("strict", "full"), phaseOf("somebody"))).toEqual(declaresNothing);
  });

  test("integrate nothing from a read-only agent that owns nothing, and everything from all other agents", () => {
    expect([strict, warn, reader, owningReader, declaresNothing].map(isTakenOver)).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
  });
});

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

describe("the work of an attempt", () => {
  test.each<[string, ScopeRules, string[], string, string, string]>([
    // what it left, rules, outside, in a worktree, in the project, shared with others
    ["only its own files", strict, [], "stands", "stands", "stands"],
    ["only its own files, warned", warn, [], "stands", "stands", "stands"],
    ["others, strict", strict, ["x"], refused, refused, "stands, unjudged"],
    ["others, warn", warn, ["x"], "stands, outside_scope", "stands, outside_scope", "stands, unjudged"],
    ["anything, of a phase that declares nothing", declaresNothing, ["x"], refused, refused, "stands, unjudged"],
    ["anything, by a reading agent", reader, ["x"], "stands, not_applied", "stands, outside_scope", "stands, unjudged"],
    ["others, by a reading agent that owns something", owningReader, ["x"], refused, refused, "stands, unjudged"],
    ["sensitive files, strict", strict, [".env"], refused, refused, "stands, unjudged"],
    ["sensitive files, warn", warn, ["a", ".husky/pre-commit"], refused, refused, "stands, unjudged"],
    [
      "sensitive files, by a reading agent that owns some",
      owningReader,
      ["x.pem"],
      refused,
      refused,
      "stands, unjudged",
    ],
    ["files outside of the project, warn", warn, ["../x"], refused, refused, "stands, unjudged"],
    ["files outside of the project, strict", strict, ["../x"], refused, refused, "stands, unjudged"],
  ])("that is %s", (_, rules, outside, worktree, project, shared) => {
    expect(judged("worktree", rules, outside)).toBe(worktree);
    expect(judged("project", rules, outside)).toBe(project);
    expect(judged("shared", rules, outside)).toBe(shared);
  });

  test("is refused when it cannot be taken over, whatever the rules and whoever owns the files", () => {
    for (const rules of [strict, warn, declaresNothing, owningReader]) {
      expect(judged("worktree", rules, [], "It left repositories")).toBe(refused);
    }
  });

  test("is refused with a code where a person can allow it, and with none where it can never come in", () => {
    const code = (outside: string[], trouble: string | null = null) =>
      judgeWork({ where: "worktree", trouble, changes: { outside } }, strict).verdict?.code;
    expect(code(["x"])).toBe("outside_scope");
    expect(code(["x", ".env"])).toBe("sensitive_change");
    expect(code(["../x", "x"])).toBeUndefined();
    expect(code(["x"], "It left repositories")).toBeUndefined();
  });

  test("names the files in the error, one a line, and where they are when they are in the project", () => {
    const message = (where: Where, outside: string[]) =>
      judgeWork({ where, trouble: null, changes: { outside } }, strict).verdict?.message;
    expect(message("worktree", ["a", "b c"])).toBe("Changed outside of its files:\n- a\n- b c");
    expect(message("project", ["a"])).toMatch(/^Changed outside of its files:\n- a\nThey are in the project: /);
  });

  test("keeps each on its line, whatever it is called", () => {
    const outside = ["a\n- b", "c"];
    const { verdict } = judgeWork({ where: "worktree", trouble: null, changes: { outside } }, strict);
    expect(verdict?.message.split("\n")).toHaveLength(3);
    const { warnings } = judgeWork({ where: "worktree", trouble: null, changes: { outside } }, warn);
    expect(warnings[0]?.message).not.toContain("\n");
  });

  test("names twenty files, and counts the others", () => {
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
  const workshop = (ownership: "strict" | "warn", tier?: Tier) =>
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
    expect(scopeRules(workshop("strict", tier), phaseOf("somebody")).writes).toBe(writes);
  });

  test("say what was asked for, and whether the phase owns anything", () => {
    expect(scopeRules(workshop("warn", "full"), phaseOf("somebody", ["a"]))).toEqual({ ...warn, declares: true });
    expect(scopeRules(workshop("strict", "full"), phaseOf("somebody"))).toEqual(declaresNothing);
  });

  test("take nothing over from a reading agent that owns nothing, and everything from the others", () => {
    expect([strict, warn, reader, owningReader, declaresNothing].map(isTakenOver)).toEqual([
      true,
      true,
      false,
      true,
      true,
    ]);
  });
});

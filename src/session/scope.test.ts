import { describe, expect, test } from "vitest";
import { frozenPhase, sessionAfter } from "../../test/support/session.ts";
import { processorMs, TIMED } from "../../test/support/timed.ts";
import type { FrozenPlan, SessionEvent } from "./events.ts";
import { declaresFiles, outsideScope, ownershipOf } from "./scope.ts";
import type { SessionPhase } from "./session.ts";

type Declared = Partial<FrozenPlan["phases"][number]>;

const grant = (...paths: string[]): SessionEvent => ({
  type: "phase.scope_requested",
  phase: "1",
  agent: "coder",
  paths,
  reason: "needed",
  granted: true,
  owner: null,
});

function phaseWith(declared: Declared, ...events: SessionEvent[]): SessionPhase {
  return sessionAfter([frozenPhase("1", declared)], ...events).phases[0] as SessionPhase;
}

const modified = (path: string) => ({ path, kind: "modified" as const });
const outside = (phase: SessionPhase, ...paths: string[]) => outsideScope(phase, paths.map(modified));

describe("changes outside the files of a phase", () => {
  test("never include a declared file, whether it was created, modified or deleted", () => {
    const phase = phaseWith({ files_created: ["a.ts"], files_modified: ["b.ts"], files_deleted: ["c.ts"] });
    const changes = [
      { path: "a.ts", kind: "modified" },
      { path: "b.ts", kind: "deleted" },
      { path: "c.ts", kind: "created" },
    ] as const;
    expect(outsideScope(phase, changes)).toEqual([]);
  });

  test("are sorted and unique", () => {
    const phase = phaseWith({ files_modified: ["src/a.ts"] });
    expect(outside(phase, "z.ts", "src/b.ts", "z.ts", "src/a.ts", "A.ts")).toEqual(["A.ts", "src/b.ts", "z.ts"]);
  });

  test("count both names of a renamed file", () => {
    const phase = phaseWith({ files_created: ["new.ts"], files_deleted: ["old.ts"] });
    const renamed = (from: string, path: string) => outsideScope(phase, [{ path, kind: "renamed", from }]);
    expect(renamed("old.ts", "new.ts")).toEqual([]);
    expect(renamed("theirs.ts", "new.ts")).toEqual(["theirs.ts"]);
    expect(renamed("old.ts", "elsewhere.ts")).toEqual(["elsewhere.ts"]);
    expect(renamed("x.ts", "b.ts")).toEqual(["b.ts", "x.ts"]);
  });

  test.each<[string, string[], string[], string[]]>([
    ["a directory, with or without a slash", ["src/", "lib"], ["src/a/b.ts", "lib/c.ts", "srcs/a.ts"], ["srcs/a.ts"]],
    ["a directory that was replaced by a file", ["src/"], ["src"], ["src"]],
    ["the directories above an owned file", ["src/x/y.ts"], ["src/x", "src"], ["src", "src/x"]],
    ["globs", ["src/**/*.ts", "*.md"], ["src/a.ts", "src/b/c.ts", "x.md", "src/x.md"], ["src/x.md"]],
    ["a brace set", ["src/{a,b}.ts"], ["src/a.ts", "src/b.ts", "src/c.ts"], ["src/c.ts"]],
    ["a name that looks like a brace set", ["src/{a,b}.ts"], ["src/{a,b}.ts"], []],
    [
      "names that look like globs",
      ["app/[id]/page.tsx", "app/(group)/page.tsx", "a{b}.ts"],
      ["app/[id]/page.tsx", "app/(group)/page.tsx", "a{b}.ts", "app/[slug]/page.tsx"],
      ["app/[slug]/page.tsx"],
    ],
    ["hidden files below a directory", ["src/"], ["src/.hidden", ".hidden"], [".hidden"]],
    [
      "sensitive files, also owned ones",
      ["src/", ".husky/pre-commit"],
      ["src/.env", ".husky/pre-commit"],
      [".husky/pre-commit", "src/.env"],
    ],
    ["the whole project", ["."], ["a", "b/c"], []],
    ["the repository around the project", ["**", "."], ["../other/a.ts"], ["../other/a.ts"]],
    ["names with spaces and other scripts", ["docs/été/"], ["docs/été/a b.md"], []],
    ["paths that are not in normal form", ["./src//a.ts", "lib\\b.ts"], ["src/a.ts", "lib/b.ts"], []],
    ["paths that no phase may own", ["../x", "/etc"], ["../x", "etc"], ["../x", "etc"]],
  ])("%s", (_, declared, changed, expected) => {
    expect(outside(phaseWith({ files_modified: declared }), ...changed)).toEqual(expected);
  });

  test("do not include granted paths, which are literal", () => {
    const phase = phaseWith({}, grant("src/a.ts", "docs/", "app/[id].tsx"));
    expect(outside(phase, "src/a.ts", "docs/x/y.md", "app/[id].tsx")).toEqual([]);
    expect(outside(phase, "src/b.ts", "docs", "app/i.tsx")).toEqual(["app/i.tsx", "docs", "src/b.ts"]);
  });

  test("are all changes when the phase declares no files or has no recorded plan", () => {
    const { plan: _, ...unplanned } = phaseWith({ files_modified: ["a.ts"] });
    expect(outside(phaseWith({}), "a.ts")).toEqual(["a.ts"]);
    expect(outside(unplanned, "a.ts")).toEqual(["a.ts"]);
  });

  test("are found quickly: 2,000 changes against 500 paths, and against 500 globs", TIMED, () => {
    const changes = Array.from({ length: 2_000 }, (_, at) => modified(`src/module-${at % 700}/part/file-${at}.ts`));
    /** The best of three, because other processes may be using this machine. */
    const timed = (phase: SessionPhase) => {
      const times = [1, 2, 3].map(() => {
        const start = processorMs();
        expect(outsideScope(phase, changes).length).toBeGreaterThan(0);
        return processorMs() - start;
      });
      return Math.min(...times);
    };
    const numbers = Array.from({ length: 500 }, (_, at) => at);
    expect(timed(phaseWith({ files_modified: numbers.map((at) => `src/module-${at}/`) }))).toBeLessThan(100);
    expect(timed(phaseWith({ files_modified: numbers.map((at) => `src/module-${at}/**/*.md`) }))).toBeLessThan(300);
    expect(timed(phaseWith({ files_modified: numbers.map((at) => `**/*-${at}.md`) }))).toBeLessThan(500);
  });
});

describe("whether a phase declares files", () => {
  test.each<[string, SessionPhase, boolean]>([
    ["none", phaseWith({}), false],
    ["one to delete", phaseWith({ files_deleted: ["a"] }), true],
    ["one that was granted", phaseWith({}, grant("a")), true],
  ])("%s: %s", (_, phase, expected) => {
    expect(declaresFiles(phase)).toBe(expected);
  });
});

describe("what a phase owns, judged by the path alone", () => {
  test.each([
    ["src/a.ts", true],
    ["lib/x/a.ts", true],
    ["gen/a.ts", true],
    ["lib/", true],
    ["lib/x/", true],
    ["src/a.ts/", true],
    ["gen/", false],
    ["src/", false],
    ["b.ts", false],
  ])("%s: %s", (path, expected) => {
    const phase = phaseWith({ files_modified: ["src/a.ts", "lib/", "gen/*.ts"] });
    expect(ownershipOf(phase)(path)).toBe(expected);
  });
});

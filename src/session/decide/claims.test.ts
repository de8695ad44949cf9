import { describe, expect, test } from "vitest";
import { processorMs } from "../../../test/support/timed.ts";
import { type ClaimDifferences, claimDifferences, claimWarning } from "./claims.ts";
import type { FileLists } from "./operation.ts";

type Change = Parameters<typeof claimDifferences>[1][number];

const none = { missing: [], unclaimed: [], otherwise: [] };
const claims = (over: Partial<FileLists>): FileLists => ({ created: [], modified: [], deleted: [], ...over });
const created = (path: string): Change => ({ path, kind: "created" });
const modified = (path: string): Change => ({ path, kind: "modified" });
const deleted = (path: string): Change => ({ path, kind: "deleted" });
const renamed = (from: string, path: string): Change => ({ path, kind: "renamed", from });

describe("a report that agrees with the changes", () => {
  test.each<[string, Partial<FileLists>, Change[]]>([
    ["about nothing", {}, []],
    [
      "about every kind",
      { created: ["a"], modified: ["b"], deleted: ["c"] },
      [created("a"), modified("b"), deleted("c")],
    ],
    ["except that it says created for modified, as after a retry", { created: ["a"] }, [modified("a")]],
    ["except that it says modified for created", { modified: ["a"] }, [created("a")]],
    ["about a rename, as deleted and created", { created: ["b"], deleted: ["a"] }, [renamed("a", "b")]],
    ["about a rename, as modified by its new name", { modified: ["b"] }, [renamed("a", "b")]],
    ["about a rename, as modified by its old name", { modified: ["a"] }, [renamed("a", "b")]],
    ["about a rename, as modified by both", { modified: ["a", "b"] }, [renamed("a", "b")]],
    ["about a file that was created and deleted again", { created: ["tmp.txt"], deleted: ["tmp.txt"] }, []],
    ["by a directory", { created: ["src/parts/"] }, [created("src/parts/a.ts"), created("src/parts/x/b.ts")]],
    ["by a glob", { modified: ["src/**/*.ts"] }, [modified("src/a.ts"), modified("src/x/b.ts")]],
    ["in a name that looks like a glob", { modified: ["app/[id]/page.tsx"] }, [modified("app/[id]/page.tsx")]],
    ["in another spelling", { modified: ["./a", "b/../c", "d\\e", " f "] }, ["a", "c", "d/e", "f"].map(modified)],
    ["in absolute paths", { modified: ["/w/tree/a", "/p/b", "/p/./x/../c"] }, ["a", "b", "c"].map(modified)],
    ["about the repository around the project", { modified: ["../lib/a"] }, [modified("../lib/a")]],
  ])("%s", (_, claimed, changes) => {
    expect(claimDifferences(claims(claimed), changes, ["/w/tree/", "/p"])).toEqual(none);
  });
});

describe("a report that differs from the changes", () => {
  test.each<[string, Partial<FileLists>, Change[], object]>([
    ["names a file that was not created (K143)", { created: ["a"] }, [], { missing: ["a"] }],
    ["names files that did not change", { modified: ["b", "a"], deleted: ["c"] }, [], { missing: ["a", "b", "c"] }],
    ["names a directory in which nothing changed", { created: ["src/"] }, [], { missing: ["src"] }],
    [
      "names paths outside the project",
      { created: ["/etc/x", "/project2/a"] },
      [],
      { missing: ["/etc/x", "/project2/a"] },
    ],
    ["omits changed files", {}, [modified("b"), deleted("a")], { unclaimed: ["a", "b"] }],
    ["omits a rename", {}, [renamed("a", "b")], { unclaimed: ["a", "b"] }],
    ["omits the old name of a renamed file", { created: ["b"] }, [renamed("a", "b")], { unclaimed: ["a"] }],
    ["omits the new name of a renamed file", { deleted: ["a"] }, [renamed("a", "b")], { unclaimed: ["b"] }],
    ["says deleted for a file that exists", { deleted: ["a"] }, [modified("a")], { otherwise: ["a"] }],
    ["says created for a deleted file", { created: ["a"] }, [deleted("a")], { otherwise: ["a"] }],
    ["says modified for a deleted file", { modified: ["a"] }, [deleted("a")], { otherwise: ["a"] }],
  ])("%s", (_, claimed, changes, expected) => {
    expect(claimDifferences(claims(claimed), changes, ["/project"])).toEqual({ ...none, ...expected });
  });

  test("is compared quickly, however long", () => {
    const paths = Array.from({ length: 20_000 }, (_, at) => `src/${at % 300}/file-${at}.ts`);
    const start = processorMs();
    expect(claimDifferences(claims({ modified: paths }), paths.map(modified))).toEqual(none);
    expect(claimDifferences(claims({}), paths.map(modified)).unclaimed).toHaveLength(20_000);
    expect(processorMs() - start).toBeLessThan(2_000);
  });
});

describe("the warning about the differences", () => {
  test.each<[Partial<ClaimDifferences>, string]>([
    [{ missing: ["src/a.ts"] }, "The report names src/a.ts, which did not change"],
    [{ missing: ["/etc/x", "../y"] }, "The report names /etc/x, ../y outside the project"],
    [{ unclaimed: ["src/b.ts"] }, "src/b.ts changed and is not in the report"],
    [{ unclaimed: ["a", "b"] }, "a, b changed and are not in the report"],
    [{ otherwise: ["a"] }, "The report is wrong about whether a was deleted"],
    [{ otherwise: ["a", "b"] }, "The report is wrong about whether a, b were deleted"],
    [
      { missing: ["a", "/x"], otherwise: ["c"], unclaimed: ["d"] },
      "The report names a, which did not change; it names /x outside the project; it is wrong about whether c was deleted; d changed and is not in it",
    ],
  ])("%j: %s", (differences, told) => {
    expect(claimWarning({ ...none, ...differences })).toBe(told);
  });

  test("is null without a difference", () => {
    expect(claimWarning(none)).toBeNull();
  });

  test("is one short line, whatever the paths are", () => {
    const unclaimed = Array.from({ length: 500 }, (_, at) => `${"long/".repeat(100)}${at}\n\u001b[31m.ts`);
    const told = claimWarning({ ...none, unclaimed }) ?? "";
    expect(told).toMatch(/ and 495 more changed and are not in the report$/);
    expect(told.length).toBeLessThan(1_200);
    expect(told).not.toMatch(/[\n\u001b]/);
  });
});

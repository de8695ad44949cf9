import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { frozenPhase, moved, sessionAfter } from "../../../test/support/session.ts";
import type { DeclaredFiles } from "../../session/deliverables.ts";
import { findPhase, type SessionPhase } from "../../session/session.ts";
import { projectDelivery, withDelivery } from "../delivery.ts";
import { findDeclared, searchDeclared } from "./declared-files.ts";
import { hashFiles } from "./project-files.ts";

const root = mkdtempSync(join(tmpdir(), "maestro-declared-"));
const outside = mkdtempSync(join(tmpdir(), "maestro-outside-"));
afterAll(() => {
  for (const path of [root, outside]) rmSync(path, { recursive: true });
});

const write = (path: string, at = root) => {
  mkdirSync(dirname(join(at, path)), { recursive: true });
  writeFileSync(join(at, path), path);
};
for (const path of ["src/a.ts", "src/deep/er/b.ts", "docs/one.md", "node_modules/m/x.css", ".git/x.css"]) write(path);
write("secret.txt", outside);
mkdirSync(join(root, "empty"));
symlinkSync(outside, join(root, "away"));
symlinkSync("/nonexistent", join(root, "dangling"));
symlinkSync("src", join(root, "inside"));

const lists = (over: Partial<DeclaredFiles>): DeclaredFiles => ({ created: [], modified: [], deleted: [], ...over });

describe("declared files in the project", () => {
  test.each([
    ["src/a.ts", ["src/a.ts"]],
    ["src/missing.ts", []],
    ["src/*.ts", ["src/a.ts"]],
    ["src/**/b.ts", ["src/deep/er/b.ts"]],
    ["**/*.md", ["docs/one.md"]],
    ["src/deep/", ["src/deep/er/b.ts"]],
    ["src/deep", ["src/deep/er/b.ts"]],
    ["empty", ["empty/"]],
    ["dangling", ["dangling"]],
    ["inside/a.ts", ["inside/a.ts"]],
    ["inside/*.ts", ["inside/a.ts"]],
    // Neither repositories nor dependencies, and nothing outside.
    ["**/*.css", []],
    ["away/secret.txt", []],
    ["away/*.txt", []],
    ["**/secret.txt", []],
  ])("%s is found as %j", (declared, found) => {
    expect(findDeclared(root, lists({ created: [declared] }), [])).toEqual({ present: found, isSearched: true });
    expect(findDeclared(root, lists({ deleted: [declared] }), []).present).toEqual(found);
  });

  test("a likely path answers for a glob, when it exists", () => {
    const created = ["src/**"];
    expect(findDeclared(root, lists({ created }), ["src/none.ts", "src/deep/er/b.ts"]).present).toEqual([
      "src/deep/er/b.ts",
    ]);
  });

  test("a file that the phase also creates or modifies does not keep a deleted directory", () => {
    const kept = lists({ modified: ["src/a.ts", "src/deep/**"], deleted: ["src/**"] });
    expect(findDeclared(root, kept, []).present).toEqual([]);
  });

  test("the search ends at its limit, says so, and stops between directories", () => {
    const search = searchDeclared(root, lists({ created: ["**/none"] }), [], 3);
    expect(search.next()).toEqual({ done: false, value: undefined });
    expect([...search]).toEqual(expect.any(Array));
    const again = searchDeclared(root, lists({ created: ["**/none"] }), [], 3);
    let step = again.next();
    while (!step.done) step = again.next();
    expect(step.value).toEqual({ present: [], isSearched: false });
  });
});

describe("the delivery of a phase in the project (C42)", () => {
  const phaseOf = (created: string[], modified: string[], agent = "coder"): SessionPhase => {
    const plan = frozenPhase("1", { agent, files_created: created, files_modified: modified });
    const start = { ...moved("1", "pending", "in_progress"), hashes: hashFiles(root, [...created, ...modified]) };
    return findPhase(sessionAfter([plan], start as never), "1") as SessionPhase;
  };

  test("a file that has the content it had at the start is delivered only if the report lists it", () => {
    const phase = phaseOf(["src/a.ts"], ["docs/one.md"]);
    expect(projectDelivery(root, phase, {})).toMatchObject({ unchanged: ["src/a.ts"], untouched: ["docs/one.md"] });
    for (const path of ["src/a.ts", "./src/a.ts", join(root, "src/a.ts")]) {
      const reported = { created: [], modified: [path], deleted: [] };
      expect(projectDelivery(root, phase, { reported })).toMatchObject({ unchanged: [], missing: [] });
    }
  });

  test("a retry starts from kept work, so that an unchanged file is delivered", () => {
    const phase = { ...phaseOf(["src/a.ts"], []), retry_count: 1 };
    expect(projectDelivery(root, phase, {})).toMatchObject({ unchanged: [], missing: [] });
  });

  test("an agent that may not write owes nothing", () => {
    const phase = phaseOf(["src/none.ts"], [], "code-reviewer");
    expect(withDelivery({ kind: "success" }, root, phase, {})).toEqual({ verdict: { kind: "success" }, warnings: [] });
    expect(withDelivery({ kind: "success" }, root, phaseOf(["src/none.ts"], []), {}).verdict).toMatchObject({
      kind: "failure",
      reason: "not_delivered",
      errorType: "validation",
      message: "declared but missing: src/none.ts",
    });
  });
});

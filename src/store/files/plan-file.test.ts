import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MaestroError } from "../../errors.ts";
import { locateState } from "../location.ts";
import { planNameFault, readPlan, savePlan } from "./plan-file.ts";

let base: string;
let project: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "maestro-plan-file-")));
  project = join(base, "project");
  mkdirSync(join(project, "docs"), { recursive: true });
  writeFileSync(join(base, "outside.md"), "outside");
  writeFileSync(join(project, "docs", "plan.md"), "plan");
});
afterEach(() => rmSync(base, { recursive: true }));

const code = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (error instanceof MaestroError) return error.code;
    throw error;
  }
  return "none";
};

describe("a plan is read", () => {
  test("from the project, in any spelling of its path, and is recorded relative to it", () => {
    const location = locateState(project, ".gemini");
    symlinkSync("docs", join(project, "link"));
    for (const path of ["docs/plan.md", "./docs//plan.md", "link/plan.md", join(project, "docs", "plan.md")]) {
      const read = readPlan(location, path);
      expect([read.bytes.toString(), read.path], path).toEqual(["plan", "docs/plan.md"]);
    }
  });

  test("from a state directory outside the project, and is recorded by its absolute path", () => {
    const location = locateState(project, join(base, "state"));
    const path = savePlan(location, "a-impl-plan.md", Buffer.from("plan"));
    expect(path).toBe(join(base, "state", "plans", "a-impl-plan.md"));
    expect(readPlan(location, path)).toEqual({ bytes: Buffer.from("plan"), path });
  });

  test.each([
    ["above the project", "../outside.md", "path"],
    ["with .. in the middle of its path", "docs/../../outside.md", "path"],
    ["by an absolute path", "/etc/passwd", "path"],
    ["through a link that leaves the project", "leaving.md", "path"],
    ["through a directory that is a link", "away/outside.md", "path"],
    ["that is a directory", "docs", "path"],
    ["that does not exist", "docs/nothing.md", "not_found"],
    ["below a file", "docs/plan.md/x", "not_found"],
    ["with an empty name", "", "path"],
    ["with a NUL in it", "docs/plan.md\0.txt", "path"],
  ])("never %s (T12)", (_, path, expected) => {
    symlinkSync("../outside.md", join(project, "leaving.md"));
    symlinkSync("..", join(project, "away"));
    expect(code(() => readPlan(locateState(project, ".gemini"), path))).toBe(expected);
  });
});

describe("a plan is written", () => {
  test("once, and never overwrites another plan", () => {
    const location = locateState(project, ".gemini");
    const write = (text: string) => savePlan(location, "2026-02-14-x-impl-plan.md", Buffer.from(text));
    expect(write("one")).toBe(".gemini/plans/2026-02-14-x-impl-plan.md");
    expect(write("one")).toBe(".gemini/plans/2026-02-14-x-impl-plan.md");
    expect(code(() => write("two"))).toBe("conflict");
    expect(readFileSync(join(project, ".gemini/plans/2026-02-14-x-impl-plan.md"), "utf8")).toBe("one");
  });

  test.each([
    "",
    ".md",
    "../x.md",
    "a/b.md",
    "a\\b.md",
    ".hidden.md",
    "x.txt",
    "x.md\n",
    "x\0.md",
    `${"x".repeat(160)}.md`,
  ])("never with the name %j", (name) => {
    expect(planNameFault(name)).toBeDefined();
  });

  test.each(["2026-02-14-task-api-impl-plan.md", "plan.md", "überblick_1.v2.md"])("with the name %s", (name) => {
    expect(planNameFault(name)).toBeUndefined();
  });
});

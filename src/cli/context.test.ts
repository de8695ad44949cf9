import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { planText } from "../../test/support/project.ts";
import { validate } from "./check/validate.ts";
import { approvePlan, settingsOf } from "./context.ts";
import type { Io } from "./io.ts";

let project: string;
let out: string;
let err: string;
let io: Io;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "maestro-context-"));
  [out, err] = ["", ""];
  io = {
    cwd: project,
    env: { HOME: project },
    out: (text: string) => (out += text),
    err: (text: string) => (err += text),
  } as unknown as Io;
});
afterEach(() => rmSync(project, { recursive: true }));

const plan = (...phases: Parameters<typeof planText>[0]) => writeFileSync(join(project, "plan.md"), planText(phases));
const approve = (allowOverlap?: boolean) => approvePlan(io, settingsOf(io), "plan.md", { allowOverlap });
const shared = { files_created: ["src/a.ts"] };

describe("phases that run at the same time and own the same file", () => {
  beforeEach(() => plan({ id: 1, ...shared }, { id: 2, ...shared }));

  test("are rejected", async () => {
    await expect(approve()).rejects.toThrow(
      expect.objectContaining({
        code: "invalid_plan",
        message: expect.stringContaining("file_overlap: Phases 1 and 2"),
      }),
    );
    expect(err).toBe("");
  });

  test("are accepted with a warning when overlaps are allowed", async () => {
    const approved = await approve(true);
    expect(approved.plan.phases.map(({ id }) => id)).toEqual(["1", "2"]);
    expect(approved.path).toBe("plan.md");
    expect(err).toMatch(/^WARNING: Phases 1 and 2 may run at the same time and both own src\/a\.ts; .*\n$/);
  });

  test.each([undefined, true])(
    "are an error in maestro validate, which prints nothing else about the plan (--json: %s)",
    async (json) => {
      expect(await validate(io, "plan.md", { ...(json ? { json } : {}) })).toBe(2);
      expect(out).toContain("file_overlap");
      if (json)
        expect(Object.keys(JSON.parse(out))).toEqual(["valid", "errors", "warnings", "dependency_graph", "profile"]);
    },
  );
});

test("allowing overlaps does not hide other errors", async () => {
  plan({ id: 1, ...shared }, { id: 2, ...shared, agent: "nobody" });
  await expect(approve(true)).rejects.toThrow(expect.objectContaining({ code: "invalid_plan" }));
  expect(err).toBe("");
});

test("a plan without overlaps is accepted without a warning, whether they are allowed or not", async () => {
  plan({ id: 1, ...shared }, { id: 2, files_created: ["src/b.ts"] });
  for (const allowed of [true, false, undefined]) expect((await approve(allowed)).plan.phases).toHaveLength(2);
  expect(err).toBe("");
});

// Requirements of the design: a run with open requirements leaves the session open, and only a reason of the user completes it anyway.

import { describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { withServer } from "../support/mcp.ts";
import { maestro, TEST_TIMEOUT_MS, withProcesses } from "../support/processes.ts";
import { type Project, planPath, planText } from "../support/project.ts";
import { played, StandIn } from "../support/stand-in.ts";
import { status } from "../support/status.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const designPath = ".gemini/plans/2026-02-14-task-api-design.md";
const design =
  '---\ntitle: "D"\nrequirements:\n  - {id: R1, text: "It is fast"}\n  - {id: R2, text: "It is small"}\n---\n';

function planned(project: Project, ...covered: string[][]): void {
  project.write(designPath, design);
  const phases = covered.map((requirements, at) => played(at + 1, [], { requirements }));
  project.write(planPath, planText(phases, "Task API", { design_ref: designPath }));
}

/** A session whose phases are done and whose requirements are open. */
async function runDone(project: Project) {
  planned(project, ["R1"], ["R1", "R2"]);
  const agent = new StandIn(project);
  return maestro(project, ["run", planPath, "--mode", "parallel", "--grace", "300ms", "--yes"], agent.env());
}

const words = (project: Project, ...given: string[]) => commandLine(project, given);
const answered = (project: Project, id: string, verdict: string) =>
  words(project, "session", "requirement", id, verdict, "--evidence", `npm test shows ${id}`);

describe("an open requirement at completion (C56)", () => {
  test("leaves the session of a finished run open, also with --yes, until each is answered", () =>
    withProcesses(async (project) => {
      const run = await runDone(project);
      expect(run.code, run.stderr).toBe(4);
      expect(run.stdout).toContain(
        "All phases are done. The session stays open: 2 requirements are not met yet. Next:\n",
      );
      expect(run.stdout).toContain(` session requirement ${"R1"} met --evidence "what shows it"`);
      expect(run.stdout).not.toContain("Archived");
      expect(status(project)).toMatchObject({
        status: "in_progress",
        phases: [{ status: "completed" }, { status: "completed" }],
      });
      for (const verb of [["archive"], ["session", "complete"]]) {
        const refused = await words(project, ...verb);
        expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("R1 (open), R2 (open)")]);
      }
      expect((await words(project, "session", "complete", "--yes")).code).toBe(2);
      expect((await answered(project, "R9", "met")).code).not.toBe(0);
      expect((await answered(project, "R1", "done")).code).toBe(2);
      for (const id of ["R1", "R2"]) expect(await answered(project, id, "met")).toMatchObject({ code: 0 });
      expect((await words(project, "session", "complete")).stdout).toContain("is completed and archived");
      const report = (await words(project, "report")).stdout;
      expect(report).toMatch(/REQUIREMENT +PHASES +EVIDENCE +VERDICT\n +R1 It is fast +1, 2 +npm test shows R1 +met\n/);
    }));

  test("is accepted with a reason, which the report shows", () =>
    withProcesses(async (project) => {
      await runDone(project);
      await answered(project, "R1", "met");
      await answered(project, "R2", "dropped");
      const done = await words(project, "session", "complete", "--accept-open", "R2 comes later");
      expect(done.code, done.stderr).toBe(0);
      expect(done.stdout).toContain("is completed, not met: R2, and archived in ");
      expect((await words(project, "report")).stdout).toContain("Accepted by the user: R2 comes later\n");
      expect(JSON.parse((await words(project, "report", "--json")).stdout)).toMatchObject({
        accept_open: "R2 comes later",
        requirements: [
          { id: "R1", phases: ["1", "2"], verdict: "met", evidence: "npm test shows R1" },
          { id: "R2", phases: ["2"], verdict: "dropped" },
        ],
      });
    }));

  test("is answered and accepted through maestro_session_write", () =>
    withProcesses(async (project) => {
      await runDone(project);
      await withServer(project, async (server) => {
        const write = (input: object) => server.call("maestro_session_write", input);
        const { body } = await server.call("maestro_session_read", {});
        expect(body.metadata).toMatchObject({ requirements: { R1: "open", R2: "open" } });
        expect(body.metadata.next).toContain("answer_requirement");
        const first = await write({ action: "answer_requirement", id: "R1", verdict: "not-met", evidence: "too slow" });
        expect(first.body).toMatchObject({ id: "R1", verdict: "not_met", not_met: ["R1", "R2"] });
        expect(await write({ action: "complete" })).toMatchObject({
          isError: true,
          body: { error: "illegal_transition", message: expect.stringContaining("R1 (not met), R2 (open)") },
        });
        const done = await write({ action: "complete", accept_open: "the user takes it as it is" });
        expect(done).toMatchObject({
          isError: false,
          body: { status: "completed", archived: { open: 0, not_met: ["R1", "R2"] } },
        });
      });
    }));
});

test("a plan that leaves out a requirement, or names an unknown one, is not started (C56)", () =>
  withProcesses(async (project) => {
    planned(project, ["R1", "R7"]);
    const run = await words(project, "validate", planPath, "--json");
    expect([run.code, JSON.parse(run.stdout).errors.map(({ code }: { code: string }) => code)]).toEqual([
      2,
      ["requirement_uncovered", "requirement_unknown"],
    ]);
    expect((await words(project, "session", "create", planPath)).code).not.toBe(0);
  }));

import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { crashPoints, STRIDE } from "../support/crash-points.ts";
import { createSession, Project, planPath, planText, programPath } from "../support/project.ts";
import { status } from "../support/status.ts";

// SQLite's loop: the n-th write point kills the process, for n = 1, 2, ... until a run ends by itself.

interface Case {
  what: string;
  args: string[];
  input?: string;
  /** What the state is before and after; a killed run must leave one of the two. */
  observe: (project: Project) => unknown;
  prepare?: (project: Project) => unknown;
}

const phases = [
  { id: 1, files_created: ["src/a.ts"] },
  { id: 2, blocked_by: [1] },
];
const sessionState = (project: Project) => {
  const { updated: _, created: __, phases: list, ...rest } = status(project);
  return {
    ...rest,
    phases: list?.map(({ started: ___, completed: ____, ...phase }: Record<string, unknown>) => phase),
  };
};
const finish = async (project: Project) => {
  for (const id of ["1", "2"]) {
    await commandLine(project, ["session", "transition", id, "in_progress"]);
    project.write("src/a.ts", "a\n");
    await commandLine(project, ["session", "transition", id, "completed"]);
  }
};

const cases: Case[] = [
  { what: "recording a transition", args: ["session", "transition", "1", "in_progress"], observe: sessionState },
  {
    what: "completing a phase with its hand-off",
    args: ["session", "transition", "1", "completed", "--handoff", "report.md"],
    observe: sessionState,
    prepare: async (project) => {
      await commandLine(project, ["session", "transition", "1", "in_progress"]);
      project.write("src/a.ts", "a\n");
      project.write(
        "report.md",
        "## Task Report\n- Status: success\n- Files Created: src/a.ts\n- Files Modified: none\n- Files Deleted: none\n\n## Downstream Context\n- Warnings: none\n",
      );
    },
  },
  {
    what: "creating a session",
    args: ["session", "create", planPath],
    observe: sessionState,
    prepare: (project) => rmSync(join(project.path, ".gemini/state"), { recursive: true }),
  },
  {
    what: "archiving",
    args: ["archive"],
    observe: (project) => [
      sessionState(project),
      project.list(".gemini/state"),
      project.list(".gemini/state/archive"),
      project.list(".gemini/plans"),
      project.list(".gemini/plans/archive"),
    ],
    prepare: finish,
  },
  {
    what: "revising the plan",
    args: ["session", "revise", "new-plan.md"],
    observe: (project) => [sessionState(project), project.list(".gemini/plans"), project.list(".gemini/plans/archive")],
    prepare: (project) => void project.write("new-plan.md", planText([...phases, { id: 3 }])),
  },
  {
    what: "revising a plan that was edited in place",
    args: ["session", "revise"],
    observe: (project) => [sessionState(project), project.list(".gemini/plans"), project.list(".gemini/plans/archive")],
    prepare: (project) => void project.write(planPath, planText([...phases, { id: 3 }])),
  },
  {
    what: "writing a state file",
    args: ["state", "write", "notes/file.txt"],
    input: "new content",
    observe: async (project) => {
      // The next writer in the directory deletes the leftovers of a killed one.
      await commandLine(project, ["state", "write", "notes/other.txt"], { input: "x" });
      return [project.list("notes"), project.read("notes/file.txt")];
    },
    prepare: (project) => void project.write("notes/file.txt", "old content"),
  },
];

describe("a command that is killed at every write point (F1, P1, P3)", () => {
  const base = new Project();
  beforeAll(() => createSession(base, phases));
  afterAll(() => base.remove());

  test.each(cases)(
    "leaves the old state or the new one, and no litter, when it is $what",
    async ({ args, input = "", observe, prepare }) => {
      const copyOf = (original: Project) => {
        const project = new Project();
        cpSync(original.path, project.path, { recursive: true });
        return project;
      };
      const prepared = copyOf(base);
      await prepare?.(prepared);
      const start = () => copyOf(prepared);
      const observed = async (work: (project: Project) => void) => {
        const project = start();
        work(project);
        const state = JSON.stringify(await observe(project));
        project.remove();
        return state;
      };
      const before = await observed(() => undefined);
      const after = await observed((project) => expect(project.maestro(args, { input }).code).toBe(0));
      expect(before).not.toBe(after);

      const outcomes = { before: 0, after: 0 };
      for (const point of crashPoints(400)) {
        const project = start();
        const run = project.maestro(args, { input, env: { NODE_ENV: "test", MAESTRO_CRASH_AT: `any:${point}` } });
        if (run.signal !== "SIGKILL") {
          expect(run.code).toBe(0);
          project.remove();
          break;
        }
        const state = JSON.stringify(await observe(project));
        expect([before, after], `killed at point ${point}`).toContain(state);
        outcomes[state === before ? "before" : "after"] += 1;
        if (run.stdout !== "") expect(state, `acknowledged, then killed at point ${point}`).toBe(after);
        const names = readdirSync(project.path, { recursive: true, encoding: "utf8" });
        const litter = names.filter((name) => /\.tmp$|(?:^|\/)\.lock[^/]*$/.test(name));
        expect(litter, `killed at point ${point}`).toEqual([]);
        // The same command succeeds when it is given again.
        if (state === before) {
          expect((await commandLine(project, args, { input })).code, `again after point ${point}`).toBe(0);
        }
        project.remove();
      }
      expect(outcomes.before).toBeGreaterThan(3 / STRIDE);
      expect(outcomes.after).toBeGreaterThan(0);
      prepared.remove();
    },
    300_000,
  );
});

describe("a quarantine that is killed at every step", () => {
  test("keeps the decision that follows a forged line, and every byte of the rejected lines", () => {
    const made = new Project();
    createSession(made, [{ id: 1 }, { id: 2 }]);
    const state = ".gemini/state";
    const kept = (project: Project) => project.list(state).filter((name) => name.includes(".quarantined-"));
    for (const step of crashPoints(400)) {
      const project = new Project();
      cpSync(made.path, project.path, { recursive: true });
      const env = { NODE_ENV: "test", MAESTRO_CRASH_AT: `any:${step}` };
      const run = project.run(process.execPath, [programPath("quarantine")], { env });
      const isOver = run.signal === null;
      if (run.stdout !== "forged") {
        project.remove();
        expect(isOver, run.stderr).toBe(false);
        continue;
      }
      const { phases: list } = status(project);
      expect(list[1].status, `step ${step}`).toBe("skipped");
      // The line is in the journal until its bytes are kept elsewhere; after that it is ignored.
      if (kept(project).length > 0) expect(list[0].status, `step ${step}`).toBe("pending");
      else expect(project.read(`${state}/progress.jsonl`), `step ${step}`).toContain('"to":"completed"');
      expect(isOver ? kept(project).length : 1, run.stderr).toBe(1);
      project.remove();
      if (isOver) break;
    }
    made.remove();
  }, 120_000);
});

import { describe, expect, test, vi } from "vitest";
import { numbered, withIsolated } from "../support/isolated.ts";
import { TEST_TIMEOUT_MS } from "../support/processes.ts";
import { played } from "../support/stand-in.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

describe("attempts that run side by side", () => {
  test("each work in a worktree of their own, and the project has the work of all eight", async () => {
    const ids = [1, 2, 3, 4, 5, 6, 7, 8];
    const phases = ids.map((id) =>
      played(
        id,
        [
          ["write", [`src/part-${id}.txt`, `${id}\n`]],
          ["report", { created: `src/part-${id}.txt` }],
        ],
        {
          files_created: [`src/part-${id}.txt`],
        },
      ),
    );
    await withIsolated({ "README.md": "hello\n" }, phases, (project) => {
      project.write("README.md", "changed and not committed\n");
      project.write("new.txt", "not added\n");
      const before = project.belongings();
      const run = project.runPlan();
      expect(run.stderr).not.toContain("WARNING");
      expect(run).toMatchObject({ code: 0 });
      for (const id of ids) expect(project.read(`src/part-${id}.txt`)).toBe(`${id}\n`);
      expect(project.read("README.md")).toBe("changed and not committed\n");
      expect(project.belongings()).toEqual(before);
      expect(project.worktrees()).toEqual([]);
      expect(project.refs()).toHaveLength(8);
      expect(project.events("attempt.changed")[0]).toMatchObject({ total: 1, added: 1, removed: 0, outside: [] });
    });
  });

  test("may change different places of one file, and both changes are in the project", async () => {
    const text = numbered(20);
    const phases = [
      played(
        "top",
        [
          ["write", ["a.txt", text.replace("line 1\n", "first\n")]],
          ["report", { modified: "a.txt" }],
        ],
        {
          files_modified: ["a.txt"],
        },
      ),
      played(
        "end",
        [
          ["write", ["a.txt", text.replace("line 20\n", "last\n")]],
          ["report", { modified: "a.txt" }],
        ],
        {
          files_modified: ["a.txt"],
        },
      ),
    ];
    await withIsolated({ "a.txt": text }, phases, (project) => {
      expect(project.runPlan().code).toBe(2);
      const run = project.runPlan("--allow-overlap");
      expect(run.stderr).toContain("both own a.txt");
      expect(run).toMatchObject({ code: 0 });
      expect(project.read("a.txt")).toBe(text.replace("line 1\n", "first\n").replace("line 20\n", "last\n"));
    });
  });

  test("conflict when they change the same place: one is in the project, the other is kept, neither is retried", async () => {
    const phase = (id: string, text: string, pause: number) =>
      played(
        id,
        [
          ["write", ["a.txt", text]],
          ["sleep", pause],
          ["report", { modified: "a.txt" }],
        ],
        {
          files_modified: ["a.txt"],
        },
      );
    await withIsolated({ "a.txt": "old\n" }, [phase("one", "1\n", 0), phase("two", "2\n", 700)], (project) => {
      const run = project.runPlan("--allow-overlap");
      expect(run.code).toBe(4);
      expect(run.stdout + run.stderr).toContain("- a.txt (modified by coder and coder, phases one and two)");
      expect(project.read("a.txt")).toBe("1\n");
      expect(project.agents.notes("start")).toHaveLength(2);
      expect(project.git("show", "refs/maestro/2026-02-14-task-api/two/1:a.txt")).toBe("2");
      expect(project.worktrees()).toEqual([]);
      // The user restores the conflicting file, then applies the work.
      project.write("a.txt", "old\n");
      const applied = project.maestro(["apply", "two"]);
      expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining("This completes phase two") });
      expect(project.read("a.txt")).toBe("2\n");
      expect(project.resume()).toMatchObject({ code: 0 });
      expect(project.agents.notes("start")).toHaveLength(2);
    });
  });
});

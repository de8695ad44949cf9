// What runs in worktrees leave in the user's object database: what refs/maestro keeps, and nothing else. Real processes, real git.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { again, agent, type IsolatedProject, ready, started, withIsolated } from "../support/isolated.ts";
import { allGone, TEST_TIMEOUT_MS, until } from "../support/processes.ts";

vi.setConfig({ testTimeout: 2 * TEST_TIMEOUT_MS });

/** Maestro's own objects that are left below the cache. */
function ownObjects(project: IsolatedProject): string[] {
  const root = join(project.cache, "maestro");
  return readdirSync(root).flatMap((place) => {
    const projects = join(root, place, "git", "projects");
    if (!existsSync(projects)) return [];
    return readdirSync(projects).flatMap((name) => readdirSync(join(projects, name, "objects")));
  });
}

function expectNoLitter(project: IsolatedProject, before: { loose: number; kept: number }): void {
  const { dangling, loose, kept } = project.objects();
  expect(dangling).toBe("");
  expect(loose - before.loose).toBe(kept - before.kept);
  expect(ownObjects(project)).toEqual([]);
  expect(project.run("find", [".git", "-name", ".maestro-*", "-o", "-name", "tmp_*"]).stdout).toBe("");
}

describe("record A11: the user's object database", () => {
  test("has only what refs/maestro keeps after predictions, a conflict, a rejected attempt, an attempt without changes, a kill and a resume (P7)", () =>
    withIsolated(
      { "a.txt": "old\n", "b.txt": "old\n", "dir/c.txt": "old\n" },
      [
        agent("one", ["a.txt"], ["write", ["a.txt", "1\n"]], ready, ["signal", "go"]),
        agent("two", ["a.txt"], ["write", ["a.txt", "2\n"]], ready, ["signal", "go"]),
        agent("idle", ["none.txt"], ready, ["signal", "go"]),
      ],
      async (project) => {
        project.write("b.txt", "changed and not committed\n");
        project.write("new/deep.txt", "not added\n");
        const belongings = project.belongings();
        const before = project.objects();

        const first = project.begin("--allow-overlap", "--keep-going");
        await started(project, 3);
        await until("a conflict is predicted", () => project.events("phase.warned").length > 0);
        project.signal("go");
        expect((await first.ended).code).toBe(4);
        expectNoLitter(project, before);
        expect(project.maestro(["abort"], { env: project.agents.env() }).code).toBe(0);
        expect(project.maestro(["archive"], { env: project.agents.env() }).code).toBe(0);

        project.plan([
          again("strays", ["b.txt"], [["write", ["dir/c.txt", "stray\n"]]], ["append", ["b.txt", "more\n"]]),
          { ...agent("proved", ["p.txt"], ["write", ["p.txt", "p\n"]]), validation: ["git status && test -e p.txt"] },
        ]);
        const second = project.runPlan();
        expect(second.code, second.stdout + second.stderr).toBe(0);
        expectNoLitter(project, before);
        expect(project.maestro(["archive"], { env: project.agents.env() }).code).toBe(0);

        project.plan([
          again("late", ["l.txt"], [["write", ["l.txt", "half\n"]], ready, ["hang"]], ["append", ["l.txt", "all\n"]]),
          agent("beside", ["dir/c.txt"], ["append", ["dir/c.txt", "more\n"]]),
        ]);
        const notes = project.notes("shell").length;
        const third = project.begin();
        await until("the agent is at work", () => project.notes("shell").length > notes);
        await until("the other is in the project", () => project.read("dir/c.txt") === "old\nmore\n");
        process.kill(third.pid, "SIGKILL");
        await third.ended;
        await allGone(project);
        const resumed = project.resume("--yes");
        expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
        expect(project.read("l.txt")).toBe("half\nall\n");
        expectNoLitter(project, before);
        expect(project.health()).toEqual({ worktrees: 1, damage: "" });
        expect(project.belongings()).toEqual(belongings);
      },
    ));

  test("is as before once the sessions are dropped, except for what the user has stored since", () =>
    withIsolated(
      { "a.txt": "old\n" },
      [
        agent("one", ["b.txt"], ["write", ["b.txt", "kept by the user\n"]]),
        agent("two", ["c.txt"], ["write", ["c.txt", "dropped\n"]]),
      ],
      async (project) => {
        project.write("user.txt", "not committed\n");
        const before = project.objects();
        const env = project.agents.env({ MAESTRO_KEEP_REFS: "0" });
        expect(project.runPlan().code).toBe(0);
        expect(project.refs()).toHaveLength(2);
        project.git("add", "b.txt");
        expect(project.maestro(["archive"], { env }).code).toBe(0);
        expect(project.refs()).toEqual([]);
        expect(project.objects()).toEqual({ dangling: "", loose: before.loose + 1, kept: 0 });
        expect(project.git("show", ":b.txt")).toBe("kept by the user");
        expect(project.health()).toEqual({ worktrees: 1, damage: "" });
      },
    ));
});

// A user who edits, commits and merges while attempts run in worktrees, and the validation of what is merged: real processes, real git.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { again, agent, bystander, numbered, only, ready, started, withIsolated } from "../support/isolated.ts";
import { TEST_TIMEOUT_MS, until } from "../support/processes.ts";
import type { PhaseSpec } from "../support/project.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const edited = (text: string, ...edits: [string, string][]) =>
  edits.reduce((all, [from, to]) => all.replace(`${from}\n`, `${to}\n`), text);

describe("a user who works in the project during the run", () => {
  const text = numbered(20);

  test.concurrent("keeps other files, edits elsewhere in the same file, commits, the index, the branch and the stash", () =>
    withIsolated(
      { "shared.txt": text, "other.txt": "old\n", "stashed.txt": "old\n" },
      [
        agent("one", ["shared.txt"], ["write", ["shared.txt", edited(text, ["line 1", "first"])]], ready, [
          "signal",
          "go",
        ]),
        agent("two", ["made.txt"], ["write", ["made.txt", "made\n"]], ready, ["signal", "go"]),
      ],
      async (project) => {
        project.git("checkout", "-q", "-b", "elsewhere");
        project.write("switched.txt", "elsewhere\n");
        project.git("add", "switched.txt");
        project.git("commit", "-q", "-m", "elsewhere");
        project.git("checkout", "-q", "main");
        const engine = project.begin();
        await started(project, 2);
        project.write("stashed.txt", "put away\n");
        project.git("stash", "-q");
        project.git("checkout", "-q", "elsewhere");
        project.write("committed.txt", "committed\n");
        project.git("add", "committed.txt");
        project.git("commit", "-q", "-m", "meanwhile");
        project.write("shared.txt", edited(text, ["line 20", "last"]));
        project.write("other.txt", "mine\n");
        project.write("staged.txt", "staged\n");
        project.git("add", "staged.txt");
        const before = project.belongings();
        project.signal("go");
        const run = await engine.ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(project.belongings()).toEqual(before);
        expect(project.read("shared.txt")).toBe(edited(text, ["line 1", "first"], ["line 20", "last"]));
        expect(project.read("other.txt") + project.read("stashed.txt") + project.read("made.txt")).toBe(
          "mine\nold\nmade\n",
        );
        const shown = project.git("status", "--porcelain").split("\n");
        expect(shown).toEqual([" M other.txt", " M shared.txt", "A  staged.txt", "?? made.txt"]);
        expect(project.read("switched.txt")).toBe("elsewhere\n");
        expect(project.git("stash", "show", "-p")).toContain("+put away");
        expect(project.git("log", "-1", "--format=%s %D")).toBe("meanwhile HEAD -> elsewhere");
      },
    ));

  test.concurrent("and changes the same lines gets a conflict: nothing is touched or retried, and the resolved session is resumed (M175, M176)", () =>
    withIsolated(
      { "a.txt": "old\n" },
      [
        again(
          "one",
          ["a.txt", "b.txt"],
          [["write", ["a.txt", "agent\n"]], ["write", ["b.txt", "b\n"]], ready, ["signal", "go"]],
          ["prompt"],
          ["shell", "cat a.txt; ls"],
        ),
        bystander,
      ],
      async (project) => {
        const engine = project.begin(...only("one"));
        await started(project, 1);
        project.write("a.txt", "user\n");
        project.signal("go");
        const run = await engine.ended;
        expect(run.code, run.stderr).toBe(4);
        expect(run.stdout).toContain("File Conflict Detected\n\nPhase: Phase one\nAgent: coder\n");
        expect(run.stdout).toContain("Conflicting Files:\n- a.txt (modified externally since phase start)\n\n");
        expect(project.read("a.txt")).toBe("user\n");
        expect(project.exists("b.txt")).toBe(false);
        expect(project.events("attempt.started")).toHaveLength(1);
        expect(project.errorsOf("one")).toContain('"type":"file_conflict"');
        expect(project.git("show", "refs/maestro/2026-02-14-task-api/one/1:a.txt")).toBe("agent");
        expect(project.worktrees()).toEqual([]);
        project.write("a.txt", "user and agent\n");
        expect(project.maestro(["retry", "one"]).code).toBe(0);
        const resumed = project.resume(...only("one"));
        expect(resumed, resumed.stdout + resumed.stderr).toMatchObject({ code: 0 });
        expect(project.notes("shell").at(-1)?.stdout).toMatch(/^user and agent\na\.txt\n/);
        const [{ base, commit } = { base: "", commit: "" }] = project.events("attempt.changed");
        expect(project.notes("prompt")[0]?.prompt).toContain(`git diff ${base} ${commit}`);
        expect(project.read("a.txt")).toBe("user and agent\n");
      },
    ));

  test.concurrent("and has a merge to resolve makes the engine wait before it integrates", () =>
    withIsolated(
      { "a.txt": "a\n" },
      ["one", "two"].map((id) =>
        agent(id, [`${id}.txt`], ["write", [`${id}.txt`, `${id}\n`]], ready, ["signal", "go"]),
      ),
      async (project) => {
        project.git("checkout", "-q", "-b", "theirs");
        project.write("a.txt", "theirs\n");
        project.git("commit", "-q", "-am", "theirs");
        project.git("checkout", "-q", "main");
        const engine = project.begin();
        await started(project, 2);
        project.write("a.txt", "ours\n");
        project.git("commit", "-q", "-am", "ours");
        expect(project.run("git", ["merge", "theirs"]).code).toBe(1);
        project.signal("go");
        await until("it is told", () => engine.stderr().includes("a merge is in progress and has conflicts in a.txt"));
        expect(project.exists("one.txt") || project.exists("two.txt")).toBe(false);
        project.write("a.txt", "both\n");
        project.git("commit", "-q", "-am", "merged");
        const run = await engine.ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(run.stderr).not.toContain("attempt 2");
        expect(project.read("a.txt") + project.read("one.txt") + project.read("two.txt")).toBe("both\none\ntwo\n");
      },
    ));

  test.concurrent("never loses a file that an agent's work would replace: one they removed, made too, or that git ignores", () =>
    withIsolated(
      { ".gitignore": "local.txt\n", "gone.txt": numbered(9) },
      [
        agent("changes", ["gone.txt"], ["append", ["gone.txt", "more\n"]], ready, ["signal", "go"]),
        agent("makes", ["made.txt"], ["write", ["made.txt", "agent\n"]], ready, ["signal", "go"]),
        agent("same", ["same.txt"], ["write", ["same.txt", "same\n"]], ready, ["signal", "go"]),
        agent("tracks", [".gitignore"], ["write", [".gitignore", ""]], ["write", ["local.txt", "agent\n"]], ready, [
          "signal",
          "go",
        ]),
      ],
      async (project) => {
        project.write("local.txt", "user\n");
        const engine = project.begin("--keep-going", "--ownership", "warn");
        await started(project, 4);
        rmSync(join(project.path, "gone.txt"));
        project.write("made.txt", "user\n");
        project.write("same.txt", "same\n");
        project.signal("go");
        const run = await engine.ended;
        expect(run.code, run.stderr).toBe(4);
        for (const name of ["gone.txt", "made.txt", "local.txt"]) {
          expect(run.stdout).toContain(`- ${name} (modified externally since phase start)`);
        }
        expect(project.exists("gone.txt")).toBe(false);
        expect(project.read("made.txt") + project.read("local.txt") + project.read("same.txt")).toBe(
          "user\nuser\nsame\n",
        );
        expect(project.read(".gitignore")).toBe("local.txt\n");
        expect(project.eventsOf("same", "phase.moved").at(-1)?.to).toBe("completed");
      },
    ));

  test.concurrent("is warned of coming conflicts while the agents run, also of conflicts between agents", () =>
    withIsolated(
      { "a.txt": "old\n", "b.txt": "old\n" },
      [
        agent("one", ["a.txt"], ["write", ["a.txt", "1\n"]], ready, ["signal", "go"]),
        agent("two", ["a.txt"], ["write", ["a.txt", "2\n"]], ready, ["signal", "go"]),
        agent("three", ["b.txt"], ["write", ["b.txt", "3\n"]], ready, ["signal", "go"]),
      ],
      async (project) => {
        const engine = project.begin("--allow-overlap", "--keep-going");
        await started(project, 3);
        project.write("b.txt", "user\n");
        await until("it is told", () => project.events("phase.warned").length === 2);
        expect(project.notes("end")).toEqual([]);
        await until("it is shown", () => engine.stderr().split("Its current work conflicts").length === 3);
        expect(engine.stderr()).toContain(
          "WARNING: Its current work conflicts with phase one (coder), which is running now: a.txt",
        );
        expect(engine.stderr()).toContain(
          "WARNING: Its current work conflicts with the project, which has changed since: b.txt",
        );
        project.signal("go");
        const run = await engine.ended;
        expect(run.code, run.stderr).toBe(4);
        expect(project.events("phase.warned").map(({ code }) => code)).toEqual([
          "conflict_predicted",
          "conflict_predicted",
        ]);
        expect(project.read("b.txt")).toBe("user\n");
      },
    ));
});

describe("the validation of an attempt in a worktree", () => {
  const few =
    'echo "$(cat a.txt b.txt 2>/dev/null | wc -l) lines"; test "$(cat a.txt b.txt 2>/dev/null | wc -l)" -le 1';
  const spoil = "echo junk > junk.txt; echo broken >> c.txt; rm README.md";
  const proved = (phase: PhaseSpec, ...validation: string[]): PhaseSpec => ({ ...phase, validation });

  test.concurrent("runs on the merged tree: of two changes that only fail together one is integrated, and the evidence is kept", () =>
    withIsolated(
      { "README.md": "hello\n" },
      [
        proved(agent("a", ["a.txt"], ["write", ["a.txt", "1\n"]]), few),
        proved(
          again(
            "b",
            ["b.txt"],
            [["write", ["b.txt", "1\n"]], ready, ["signal", "go"]],
            ["prompt"],
            ["shell", 'cat b.txt; ls "$MAESTRO_STATE_DIR/.."'],
            ["write", ["b.txt", ""]],
          ),
          few,
        ),
        proved(agent("c", ["c.txt"], ["write", ["c.txt", "c\n"]]), spoil, "test -e junk.txt"),
        bystander,
      ],
      async (project) => {
        const engine = project.begin(...only("a", "b", "c"));
        await until("a is in the project", () => project.exists("a.txt"));
        await started(project, 1);
        project.signal("go");
        const run = await engine.ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        const validations = project.eventsOf("b", "phase.validated") as unknown as {
          result: string;
          evidence: { tree: string; commands: object[] };
        }[];
        expect(validations.map(({ result }) => result)).toEqual(["fail", "pass"]);
        expect(validations[0]?.evidence.commands).toMatchObject([{ command: few, exit_code: 1, output: "2 lines" }]);
        expect(validations[1]?.evidence.commands).toMatchObject([{ command: few, exit_code: 0, output: "1 lines" }]);
        expect(project.notes("prompt")[0]?.prompt).toContain("2 lines");
        expect(project.notes("shell").at(-1)?.stdout).toMatch(/^1\n/);
        expect(project.notes("shell").at(-1)?.stdout).not.toContain("b.txt");
        const { tree } = validations[1]?.evidence ?? {};
        expect(project.eventsOf("b", "phase.integrated")[0]?.to).toBe(tree);
        expect(project.git("cat-file", "-t", String(tree))).toBe("tree");
        const report = JSON.parse(project.maestro(["report", "--json"]).stdout);
        const reported = report.phases.find((phase: { id: string }) => phase.id === "b");
        expect(reported.evidence).toMatchObject({
          result: "pass",
          tree,
          commands: [{ exit_code: 0, output: "1 lines" }],
        });
        expect(project.maestro(["report"]).stdout).toContain(`- phase b: passed on tree ${tree?.slice(0, 12)}`);
        // Changes that a validation makes stay in its worktree.
        expect(project.read("c.txt") + project.read("README.md")).toBe("c\nhello\n");
        expect(project.exists("junk.txt")).toBe(false);
        expect(project.read("a.txt") + project.read("b.txt")).toBe("1\n");
      },
    ));
  test.concurrent("is repeated a few times when the project changes during it, and then accepted with a warning", () =>
    withIsolated(
      { "README.md": "hello\n" },
      [
        proved(agent("one", ["a.txt"], ["write", ["a.txt", "1\n"]]), 'echo again >> "$MAESTRO_STATE_DIR/../noise.txt"'),
        bystander,
      ],
      async (project) => {
        const run = await project.begin(...only("one")).ended;
        expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
        expect(project.read("noise.txt")).toBe("again\n".repeat(4));
        expect(run.stderr).toContain("WARNING: The project kept changing during validation");
        expect(project.read("a.txt")).toBe("1\n");
      },
    ));

  test.concurrent("stops at once when the phase is skipped: nothing of it is in the project, and no worktree is left", () =>
    withIsolated(
      { "README.md": "hello\n" },
      [proved(agent("one", ["a.txt"], ["write", ["a.txt", "1\n"]]), "touch .validating; sleep 30"), agent("two", [])],
      async (project) => {
        const engine = project.begin();
        await until("it is validated", () => engine.stderr().includes("validating"));
        expect(project.maestro(["skip", "one"]).code).toBe(0);
        const run = await engine.ended;
        expect(run.code, run.stdout + run.stderr).toBe(0);
        expect(run.ms).toBeLessThan(25_000);
        expect(project.exists("a.txt")).toBe(false);
        expect(project.worktrees()).toEqual([]);
        expect(project.health()).toEqual({ worktrees: 1, damage: "" });
      },
    ));
});

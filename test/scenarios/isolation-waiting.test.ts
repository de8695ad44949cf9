// Git that hangs: FIFOs that agents leave are never opened, and a git that hangs anyway ends with the engine, however the engine ends.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { agent, bystander, type IsolatedProject, only, withIsolated } from "../support/isolated.ts";
import { allGone, background, isAlive, TEST_TIMEOUT_MS, until } from "../support/processes.ts";
import { planPath } from "../support/project.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

/** The machine may be busy with something else. */
const NOISE_MS = 3000;
const files = { "README.md": "hello\n", "src/a.txt": "a\n", "src/deep/b.txt": "b\n", ".gitignore": "cache/\n" };

describe("FIFOs that an agent leaves", () => {
  const names =
    "pipe src/deep/pipe src/.gitignore new/.gitignore .gitattributes src/deep/.gitattributes cache/.gitignore";
  const leaves = agent(
    "leaves",
    ["out.txt"],
    ["shell", `mkdir -p new cache; mkfifo ${names}; ln -s "$PWD/pipe" cache/to; ln -s /dev/zero cache/zero`],
    ["write", ["out.txt", "done\n"]],
  );

  test.concurrent("are left out of its work, which is integrated with a warning", () =>
    withIsolated(files, [leaves, bystander], async (project) => {
      const run = await project.begin(...only("leaves")).ended;
      expect(run.code, run.stderr).toBe(0);
      expect(project.read("out.txt")).toBe("done\n");
      expect(project.exists("pipe")).toBe(false);
      const told = project.eventsOf("leaves", "phase.warned").filter(({ code }) => code === "left_out");
      expect(JSON.stringify(told)).toMatch(/pipe \(FIFO\).*src\/deep\/\.gitattributes \(FIFO\)/);
      expect(project.worktrees()).toEqual([]);
    }));

  test.concurrent("instead of a file of the project count as deleting it", () =>
    withIsolated(
      files,
      [agent("replaces", ["src/"], ["shell", "rm -r src/deep; mkfifo src/deep"]), bystander],
      async (project) => {
        const run = await project.begin(...only("replaces")).ended;
        expect(run.code, run.stderr).toBe(0);
        expect(project.exists("src/deep")).toBe(false);
      },
    ));

  test.concurrent("in the project itself, where git would open them, are named", () =>
    withIsolated(files, [agent("any", ["out.txt"]), bystander], async (project) => {
      execFileSync("mkfifo", [join(project.path, "src/.gitignore")]);
      const run = await project.beginWith({ MAESTRO_MAX_RETRIES: "0" }, ...only("any")).ended;
      expect(run.code, run.stderr).toBe(4);
      expect(project.errorsOf("any")).toContain("src/.gitignore (FIFO) has the name of a file that git reads");
    }));
});

/** Once `hang` is called, a git with that word among its arguments hangs forever; a deaf one also ignores TERM. */
class WaitingGit {
  readonly #project: IsolatedProject;

  constructor(project: IsolatedProject, isDeaf: boolean) {
    this.#project = project;
    const real = execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const bin = join(project.path, ".bin");
    const wait = `echo $$ >> "${bin}/waiting"; ${isDeaf ? "trap '' TERM INT;" : ""} exec sleep 3600`;
    const choose = `for word; do if [ "$word" = "$(cat "${bin}/hang")" ]; then ${wait}; fi; done`;
    project.write(".bin/git", `#!/bin/sh\nif [ -f "${bin}/hang" ]; then ${choose}; fi\nexec ${real} "$@"\n`);
    chmodSync(join(bin, "git"), 0o755);
  }

  hang(word: string): void {
    this.#project.write(".bin/hang", word);
  }

  heal(): void {
    rmSync(join(this.#project.path, ".bin/hang"));
  }

  pids(): number[] {
    const path = join(this.#project.path, ".bin/waiting");
    return existsSync(path) ? this.#project.read(".bin/waiting").trim().split("\n").map(Number) : [];
  }

  async begun(): Promise<number> {
    return until("git waits", () => this.pids().at(-1));
  }
}

/** An engine whose git waits while it looks at what the agent did. */
async function stuck(project: IsolatedProject, grace: string) {
  const git = new WaitingGit(project, true);
  const engine = background(
    project,
    ["run", planPath, "--keep-open", "--grace", grace, ...only("works")],
    project.agents.env(),
  );
  await until("the agent works", () => project.notes("start").length > 0);
  git.hang("status");
  project.signal("go");
  const pid = await git.begun();
  return { engine, git, pid };
}

const works = agent("works", ["out.txt"], ["signal", "go"], ["write", ["out.txt", "done\n"]]);

describe("a git that hangs", () => {
  test.concurrent("ends within the grace period of the first signal, and the next engine continues the work", () =>
    withIsolated(files, [works, bystander], async (project) => {
      const { engine, git, pid } = await stuck(project, "1s");
      const began = performance.now();
      engine.child.kill("SIGTERM");
      const end = await engine.ended;
      expect(performance.now() - began).toBeLessThan(2000 + NOISE_MS);
      expect([end.code, isAlive(pid)]).toEqual([143, false]);
      expect(end.stdout).toContain("was interrupted; all finished work is kept");
      await allGone(project);
      git.heal();
      const resumed = await background(project, ["resume", "--keep-open", ...only("works")], project.agents.env())
        .ended;
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(project.read("out.txt")).toBe("done\n");
      expect(project.notes("start")).toHaveLength(1);
      expect(project.worktrees()).toEqual([]);
    }));

  test.concurrent.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("ends at once with a second %s", (signal, code) =>
    withIsolated(files, [works, bystander], async (project) => {
      const { engine, pid } = await stuck(project, "60s");
      engine.child.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(isAlive(pid)).toBe(true);
      const began = performance.now();
      engine.child.kill(signal);
      const end = await engine.ended;
      expect(performance.now() - began).toBeLessThan(1000 + NOISE_MS);
      expect([end.code, isAlive(pid)]).toEqual([code, false]);
      await allGone(project);
    }),
  );

  test.concurrent("does not outlive an engine that is killed", () =>
    withIsolated(files, [works, bystander], async (project) => {
      const { engine, pid } = await stuck(project, "500ms");
      engine.child.kill("SIGKILL");
      await engine.ended;
      await until("git is gone", () => !isAlive(pid), 500 + NOISE_MS);
      await allGone(project);
    }));

  test.concurrent.each([
    ["diff", "diff-tree"],
    ["apply", "merge-tree"],
    ["doctor", "for-each-ref"],
  ])("ends with maestro %s", (verb, word) =>
    withIsolated(files, [works, bystander], async (project) => {
      project.signal("go");
      expect((await project.begin(...only("works")).ended).code).toBe(0);
      project.write("out.txt", "other\n");
      const git = new WaitingGit(project, false);
      git.hang(word);
      const words = verb === "doctor" ? [verb] : [verb, "works"];
      const command = background(project, words, project.agents.env());
      const pid = await git.begun();
      command.child.kill("SIGINT");
      const end = await command.ended;
      expect(end.code).toBe(130);
      await until("git is gone", () => !isAlive(pid), NOISE_MS);
    }),
  );
});

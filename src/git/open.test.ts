import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../test/support/git-repository.ts";
import { isOlder, openRepository } from "./open.ts";

let project: GitProject;
let path: string | undefined;
beforeEach(() => {
  path = process.env.PATH;
  project = new GitProject();
});
afterEach(() => {
  process.env.PATH = path;
  project.remove();
});

const open = (root = project.path) => openRepository(root, project.cache);
const reason = async (root = project.path) => {
  const opening = await open(root);
  return opening.kind === "open" ? "open" : `${opening.kind}: ${opening.reason}`;
};

describe("opening a repository", () => {
  test("reports its location and how it stores files", async () => {
    project.write("packages/api/a", "1");
    project.commit();
    project.git("config", "core.autocrlf", "input");
    project.git("config", "core.fileMode", "false");
    const repository = await project.open(join(project.path, "packages/api"));
    expect(repository).toMatchObject({
      projectRoot: join(project.path, "packages/api"),
      toplevel: project.path,
      prefix: "packages/api/",
      gitDir: join(project.path, ".git"),
      commonDir: join(project.path, ".git"),
      objectFormat: "sha1",
      autocrlf: "input",
      eol: null,
      fileMode: false,
      symlinks: true,
      ignoreCase: false,
    });
    expect(repository.place.startsWith(join(project.cache, "project-"))).toBe(true);
  });

  test.each([
    ["unborn", () => undefined],
    ["on a branch with slashes in its name", () => project.git("checkout", "-q", "-b", "feature/x")],
    ["detached", () => project.git("checkout", "-q", "--detach")],
  ])("succeeds when HEAD is %s", async (what, prepare) => {
    if (what !== "unborn") project.commit();
    prepare();
    expect((await project.open()).gitDir).toBe(join(project.path, ".git"));
  });

  test("finds it through a link to the project, in a directory with unusual characters", async () => {
    project.remove();
    project = new GitProject([], "a b\n\u00fc'\"$(x)");
    project.write("a", "1");
    symlinkSync(project.path, join(project.base, "link"));
    const repository = await project.open(join(project.base, "link"));
    expect(repository.toplevel).toBe(project.path);
  });

  test("accepts a worktree of the user, and a submodule as a project of its own", async () => {
    project.write("a", "1");
    project.commit();
    const other = join(project.base, "other");
    project.git("worktree", "add", "-q", other);
    expect(await project.open(other)).toMatchObject({ toplevel: other, commonDir: join(project.path, ".git") });
    const outer = join(project.base, "outer");
    mkdirSync(outer);
    project.gitIn(outer, "init", "-q");
    project.gitIn(outer, "-c", "protocol.file.allow=always", "submodule", "-q", "add", project.path, "inner");
    expect(await project.open(join(outer, "inner"))).toMatchObject({ toplevel: join(outer, "inner") });
  });

  test("changes nothing in the user's repository", async () => {
    project.write("a", "1");
    project.commit();
    const before = project.untouchables();
    await project.open();
    expect(project.untouchables()).toEqual(before);
  });
});

describe("a FIFO instead of the index", () => {
  test("does not block", async () => {
    project.write("a", "1");
    project.commit();
    rmSync(join(project.path, ".git/index"));
    spawnSync("mkfifo", [join(project.path, ".git/index")]);
    expect(await reason()).toBe("open");
  });
});

describe("no repository is found", () => {
  test("without git", async () => {
    process.env.PATH = join(project.base, "nothing");
    expect(await reason()).toBe("none: git is not installed");
  });

  test("when no parent directory has one", async () => {
    project.remove();
    project = new GitProject(null);
    expect(await reason()).toBe("none: the project is not in a git repository");
  });
});

describe("a repository is rejected, with a reason in one line", () => {
  test("when git is too old", async () => {
    const bin = join(project.base, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "git"), "#!/bin/sh\necho git version 2.37.9\n");
    chmodSync(join(bin, "git"), 0o755);
    process.env.PATH = [bin, path].join(delimiter);
    expect(await reason()).toBe("refused: git 2.37 is too old: Maestro needs git 2.38 or newer");
  });

  test.each([
    [[2, 37], true],
    [[1, 99], true],
    [[2, 38], false],
    [[2, 100], false],
    [[3, 0], false],
  ] as [[number, number], boolean][])("%j is older than 2.38: %s", (version, isTooOld) => {
    expect(isOlder(version, [2, 38])).toBe(isTooOld);
  });

  test("when it is bare, or the project is its .git directory", async () => {
    expect(await reason(join(project.path, ".git"))).toBe("refused: the project is inside a .git directory");
    project.remove();
    project = new GitProject(["--bare"]);
    expect(await reason()).toBe("refused: the repository is bare: it has no files to work on");
  });

  test.each([
    ["a merge", ["merge", "side"]],
    ["a rebase", ["rebase", "side"]],
    ["a cherry-pick", ["cherry-pick", "side"]],
  ])("when %s has conflicts", async (what, command) => {
    project.write("a", "1");
    project.commit();
    project.git("checkout", "-q", "-b", "side");
    project.write("a", "2");
    project.commit();
    project.git("checkout", "-q", "main");
    project.write("a", "3");
    project.commit();
    expect(() => project.git(...command)).toThrow();
    expect(await reason()).toBe(`refused: ${what} is in progress and has conflicts in a: finish or abort it first`);
    project.write("a", "4");
    project.git("add", "a");
    expect(await reason()).toBe("open");
  });

  test("when a stash did not apply", async () => {
    for (const name of ["a", "b", "c", "d"]) project.write(name, "1");
    project.commit();
    for (const name of ["a", "b", "c", "d"]) project.write(name, "2");
    project.git("stash", "-q");
    for (const name of ["a", "b", "c", "d"]) project.write(name, "3");
    project.commit();
    expect(() => project.git("stash", "apply")).toThrow();
    expect(await reason()).toBe("refused: there are unresolved conflicts in a, b, c and 1 more: resolve them first");
  });

  test("when it has submodules", async () => {
    project.write("a", "1");
    const commit = project.commit();
    project.git("update-index", "--add", "--cacheinfo", `160000,${commit},libs/inner`);
    expect(await reason()).toBe(
      "refused: it has submodules (libs/inner): their files belong to other repositories and would be missing in a worktree",
    );
  });

  test("when its checkout is sparse", async () => {
    project.write("a/x", "1");
    project.write("b/x", "1");
    project.commit();
    project.git("sparse-checkout", "set", "a");
    expect(await reason()).toContain("refused: the checkout is sparse");
    expect(await open()).toMatchObject({ hint: 'Check out all files with "git sparse-checkout disable".' });
  });

  test("when it declares a foreign directory as its working tree (T14)", async () => {
    project.write("a", "1");
    project.commit();
    project.git("config", "core.worktree", project.base);
    expect(await reason()).toBe("refused: the repository keeps its files elsewhere (core.worktree)");
  });

  test.skipIf(process.getuid?.() !== 0)("when it belongs to another user (needs root)", async () => {
    const { chownSync } = await import("node:fs");
    project.commit();
    chownSync(project.path, 12345, 12345);
    chownSync(join(project.path, ".git"), 12345, 12345);
    expect(await open()).toEqual({
      kind: "refused",
      reason: "the repository belongs to another user, and git does not trust it",
      hint: `Trust it with "git config --global --add safe.directory ${project.path}".`,
    });
    project.git("config", "--global", "--add", "safe.directory", project.path);
    expect(await reason()).toBe("open");
  });

  test("when git cannot read it", async () => {
    project.write(".git/config", "[core\n");
    expect(await reason()).toMatch(/^refused: git cannot read the repository: bad config line 1/);
    rmSync(join(project.path, ".git"), { recursive: true });
    writeFileSync(join(project.path, ".git"), "gitdir: /nowhere\n");
    expect(await reason()).toMatch(/^(none|refused): /);
  });
});

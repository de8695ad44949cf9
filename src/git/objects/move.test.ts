import { copyFileSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import { collectLeftovers, dropKept, holdCommit, keepBase, keepCommit } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { snapshot } from "../snapshot/snapshot.ts";
import { changesBetween } from "./changes.ts";
import { commitTree } from "./commit.ts";
import { moveObjects } from "./move.ts";
import { clearObjects, hasObjects, withPassingObjects } from "./own-objects.ts";

let project: GitProject;
let repository: Repository;

beforeEach(async () => {
  project = new GitProject();
  project.write("a", "a\n");
  project.write("dir/b", "b\n");
  project.commit();
  repository = await project.open();
});
afterEach(() => project.remove());

const take = (of = repository) => snapshot(of, { exclude: [], include: [] });
const looseObjects = () => Number(/^count: (\d+)/m.exec(project.plainGit("count-objects", "-v"))?.[1]);
const dangling = () => project.plainGit("fsck", "--dangling", "--no-reflogs", "--no-progress");
const about = (commit: string, attempt = 1) => ({ session: "s", phase: "1", attempt, commit });

describe("Maestro's own objects", () => {
  test("are not in the user's object database until a reference keeps them, and then all that it needs is there", async () => {
    const before = looseObjects();
    project.write("dir/new/c", "c\n");
    const { commit, tree } = await take();
    expect(looseObjects()).toBe(before);
    expect(() => project.plainGit("cat-file", "-t", commit)).toThrow();
    const ref = await keepCommit(repository, about(commit));
    expect(project.plainGit("rev-parse", `${ref}^{tree}`)).toBe(tree);
    expect(project.plainGit("show", `${ref}:dir/new/c`)).toBe("c");
    // The commit, three trees, one blob.
    expect(looseObjects()).toBe(before + 5);
    await clearObjects(repository);
    expect(hasObjects(repository)).toBe(false);
    expect(project.plainGit("fsck", "--full", "--strict", "--no-progress")).toBe("");
    expect(await changesBetween(repository, project.git("rev-parse", "HEAD"), commit)).toMatchObject([
      { path: "dir/new/c" },
    ]);
  });

  test("are none while the project is as its HEAD, and one commit stands for all snapshots while it does not change", async () => {
    expect((await take()).commit).toBe(project.git("rev-parse", "HEAD"));
    expect(hasObjects(repository)).toBe(false);
    project.write("a", "changed\n");
    const { commit } = await take();
    expect((await take()).commit).toBe(commit);
    project.commit();
    expect((await take()).commit).toBe(project.git("rev-parse", "HEAD"));
  });

  test("that are temporary are deleted, and do not reach the other objects", async () => {
    project.write("a", "for a moment\n");
    const commit = await withPassingObjects(repository, async (passing) => {
      const taken = await take(passing);
      expect(await changesBetween(passing, project.git("rev-parse", "HEAD"), taken.commit)).toHaveLength(1);
      return taken.commit;
    });
    expect(hasObjects(repository)).toBe(false);
    expect(() => project.git("cat-file", "-t", commit)).toThrow();
  });

  test("are written beside a repository that borrows objects from others, by absolute and relative paths", async () => {
    const objects = join(project.path, ".git/objects");
    const [near, far] = [join(project.base, "near"), join(project.base, "far")];
    renameSync(objects, far);
    for (const path of [objects, near]) mkdirSync(join(path, "info"), { recursive: true });
    writeFileSync(join(objects, "info/alternates"), `${near}\n`);
    writeFileSync(join(near, "info/alternates"), "../far\n");
    project.write("a", "changed\n");
    const { commit } = await take();
    await keepCommit(repository, about(commit));
    expect(project.plainGit("show", "refs/maestro/s/1/1:dir/b")).toBe("b");
    expect(looseObjects()).toBe(3);
  });

  test.each(['with "quotes"', "with:colons", "with\nlines", "with\\backslashes"])(
    "work in a directory %j",
    async (name) => {
      const other = new GitProject([], name);
      try {
        other.write("a", "a\n");
        other.commit();
        other.write("b", "b\n");
        const strange = await other.open();
        const { commit } = await take(strange);
        await keepCommit(strange, about(commit));
        expect(other.plainGit("show", "refs/maestro/s/1/1:b")).toBe("b");
        expect(other.plainGit("show", "refs/maestro/s/1/1:a")).toBe("a");
      } finally {
        other.remove();
      }
    },
  );
});

describe("copied objects", () => {
  const work = async (name: string, content: string) => {
    project.write(name, content);
    return (await take()).commit;
  };

  test("that no reference keeps, as after a kill, are deleted; those of references stay", async () => {
    await keepCommit(repository, about(await work("kept", "kept\n")));
    const before = looseObjects();
    const commit = await work("dir/lost", "lost\n");
    await moveObjects(repository, commit, join(repository.objects, "../copied/s"));
    expect(dangling()).toBe(`dangling commit ${commit}`);
    expect(await collectLeftovers(repository)).toBe(4);
    expect([dangling(), looseObjects()]).toEqual(["", before]);
    expect(project.plainGit("show", "refs/maestro/s/1/1:kept")).toBe("kept");
  });

  test("that two lists name are deleted once", async () => {
    const before = looseObjects();
    const commit = await work("lost", "lost\n");
    const list = join(repository.objects, "../copied/s");
    await moveObjects(repository, commit, list);
    copyFileSync(list, join(repository.objects, "../copied/t"));
    expect(await collectLeftovers(repository)).toBe(3);
    expect([dangling(), looseObjects()]).toEqual(["", before]);
  });

  test("are deleted with the references of their session", async () => {
    const before = looseObjects();
    const base = await work("one", "1\n");
    await keepBase(repository, "s", base);
    const { tree } = await take();
    await keepCommit(repository, about(await commitTree(repository, { tree, parents: [base], message: "x" })));
    await keepBase(repository, "s", await work("two", "2\n"));
    expect(project.plainGit("for-each-ref", "refs/maestro").split("\n")).toHaveLength(2);
    expect(await dropKept(repository, "s")).toBe(1);
    expect(project.plainGit("for-each-ref", "refs/maestro")).toBe("");
    expect([dangling(), looseObjects()]).toEqual(["", before]);
  });

  test.each<[what: string, use: (commit: string) => void]>([
    ["a branch", (commit) => project.plainGit("branch", "mine", commit)],
    ["a tag of a tree", (commit) => project.plainGit("tag", "mine", `${commit}^{tree}`)],
    [
      "the reflog",
      (commit) => {
        project.plainGit("update-ref", "-m", "x", "HEAD", commit);
        project.plainGit("update-ref", "-m", "x", "HEAD", `${commit}^`);
      },
    ],
    [
      "the index of a worktree",
      (commit) => {
        project.plainGit("worktree", "add", "-q", "--detach", join(project.base, "other"), commit);
        project.gitIn(join(project.base, "other"), "checkout", "-q", "HEAD~1");
        project.gitIn(join(project.base, "other"), "read-tree", commit);
      },
    ],
    ["the index, which stored the same content", () => project.plainGit("add", "file")],
    [
      "a commit that nothing refers to",
      (commit) => {
        holdCommit(repository, commit);
        project.plainGit("commit-tree", "-p", commit, "-m", "x", `${commit}^{tree}`);
      },
    ],
  ])("stay while they are used by %s", async (_, use) => {
    const commit = await work("file", "used\n");
    await keepCommit(repository, about(commit));
    use(commit);
    await dropKept(repository, "s");
    expect(project.plainGit("fsck", "--full", "--no-dangling", "--no-progress")).toBe("");
    expect(project.plainGit("cat-file", "-p", project.plainGit("hash-object", "file"))).toBe("used");
  });

  test("that the user has stored as well stay, though nothing refers to them", async () => {
    const commit = await work("file", "of the user\n");
    await keepCommit(repository, about(commit));
    const id = project.plainGit("hash-object", "-w", "file");
    await dropKept(repository, "s");
    expect(dangling()).toBe(`dangling blob ${id}`);
  });

  test("have no other rights than those that git writes", async () => {
    const commit = await work("file", "x\n");
    await keepCommit(repository, about(commit));
    const path = join(project.path, ".git/objects", commit.slice(0, 2), commit.slice(2));
    expect((statSync(path).mode & 0o777).toString(8)).toBe("444");
  });
});

import { chmodSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import type { Repository } from "../repository.ts";
import { snapshot } from "../snapshot/snapshot.ts";
import { treeWithout } from "./tree-without.ts";

let project: GitProject;
let repository: Repository;
beforeEach(async () => {
  project = new GitProject();
  project.write("mine", "1\n");
  project.write("theirs", "1\n");
  project.write("dir/deep/gone", "1\n");
  project.write("script", "1\n");
  project.write("kind", "1\n");
  project.commit();
  repository = await project.open();
});
afterEach(() => project.remove());

const taken = (from = repository) => snapshot(from, { exclude: [], include: [] });
const shown = (tree: string) =>
  Object.fromEntries(
    project
      .git("ls-tree", "-r", "-z", "--full-tree", tree)
      .split("\0")
      .filter(Boolean)
      .map((line) => line.split("\t") as [string, string])
      .map(([entry, name]) => [
        name,
        `${entry.slice(0, 6)} ${project.git("cat-file", "-p", entry.split(" ")[2] ?? "")}`,
      ]),
  );

/** The tree after `work`, but with `paths` as they were before it. */
async function without(paths: string[], work: () => void): Promise<Record<string, string>> {
  const base = await taken();
  work();
  const after = await taken();
  const before = project.untouchables();
  const tree = await treeWithout(repository, { tree: after.tree, base: base.tree, paths });
  // Commits are accepted as well.
  expect(await treeWithout(repository, { tree: after.commit, base: base.commit, paths })).toBe(tree);
  expect(project.untouchables()).toEqual(before);
  return shown(tree);
}

describe("a tree without some of its changes", () => {
  test("has these files as they were: created ones are missing, deleted and modified ones are restored, with mode and kind", async () => {
    const files = await without(["theirs", "dir/deep/gone", "new/file", "script", "kind"], () => {
      project.write("mine", "2\n");
      project.write("own", "2\n");
      project.write("theirs", "2\n");
      rmSync(join(project.path, "dir"), { recursive: true });
      project.write("new/file", "2\n");
      chmodSync(join(project.path, "script"), 0o755);
      rmSync(join(project.path, "kind"));
      symlinkSync("mine", join(project.path, "kind"));
    });
    expect(files).toEqual({
      mine: "100644 2",
      own: "100644 2",
      theirs: "100644 1",
      "dir/deep/gone": "100644 1",
      script: "100644 1",
      kind: "100644 1",
    });
  });

  test("keeps all changes when no path is given, or only unchanged ones", async () => {
    const files = await without(["mine", "never/was"], () => project.write("theirs", "2\n"));
    expect(files).toMatchObject({ mine: "100644 1", theirs: "100644 2" });
  });

  test("treats paths literally, neither as patterns nor as directories", async () => {
    const work = () => {
      project.write("dir/a", "2\n");
      project.write("*", "2\n");
      project.write("größe ☃", "2\n");
    };
    expect(Object.keys(await without(["dir", "*", "größe ☃"], work))).toEqual([
      "dir/a",
      "dir/deep/gone",
      "kind",
      "mine",
      "script",
      "theirs",
    ]);
  });

  test("restores a file where a directory is now, and a directory where a file is", async () => {
    const swap = () => {
      renameSync(join(project.path, "kind"), join(project.path, "aside"));
      project.write("kind/below", "2\n");
      rmSync(join(project.path, "dir"), { recursive: true });
      project.write("dir", "2\n");
    };
    const files = await without(["kind", "kind/below", "dir", "dir/deep/gone"], swap);
    expect(files).toMatchObject({ kind: "100644 1", "dir/deep/gone": "100644 1", aside: "100644 1" });
    expect(Object.keys(files)).not.toContain("kind/below");
  });

  test("takes paths relative to the project, even elsewhere in its repository", async () => {
    const inner = await project.open(join(project.path, "dir"));
    const base = await taken(inner);
    project.write("mine", "2\n");
    project.write("dir/deep/gone", "2\n");
    project.write("dir/own", "2\n");
    const after = await taken(inner);
    const tree = await treeWithout(inner, { tree: after.tree, base: base.tree, paths: ["../mine", "deep/gone"] });
    expect(shown(tree)).toMatchObject({ mine: "100644 1", "dir/deep/gone": "100644 1", "dir/own": "100644 2" });
  });

  test("leaves no temporary file, even when a tree does not exist", async () => {
    const { tree } = await taken();
    const before = readdirSync(repository.place);
    await treeWithout(repository, { tree, base: tree, paths: ["mine"] });
    await expect(treeWithout(repository, { tree: "1".repeat(40), base: tree, paths: [] })).rejects.toThrow();
    expect(readdirSync(repository.place)).toEqual(before);
  });
});

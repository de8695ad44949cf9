import { chmodSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import type { Repository } from "../repository.ts";
import { snapshot } from "../snapshot/snapshot.ts";
import { changesBetween } from "./changes.ts";
import { mergeTrees } from "./merge.ts";

let project: GitProject;
let repository: Repository;
beforeEach(async () => {
  project = new GitProject();
  project.write("lines", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  project.write("other", "1\n");
  project.write("script", "1\n");
  project.write("dir/inside", "text\n".repeat(10));
  project.commit();
  repository = await project.open();
});
afterEach(() => project.remove());

const tree = async () => (await snapshot(repository, { exclude: [], include: [] })).tree;

/** Both changes start from the current state. */
const merge = async (ours: () => void, theirs: () => void) => {
  project.git("clean", "-qfd");
  const base = await tree();
  ours();
  const left = await tree();
  project.git("reset", "-q", "--hard");
  project.git("clean", "-qfd");
  theirs();
  const right = await tree();
  const before = project.untouchables();
  const merged = await mergeTrees(repository, { base, ours: left, theirs: right });
  expect(project.untouchables()).toEqual(before);
  return { merged, base };
};
const write = (name: string, text: string) => () => project.write(name, text);
const remove = (name: string) => () => rmSync(join(project.path, name), { recursive: true });

describe("a merge is clean", () => {
  test.each([
    ["different files", write("other", "2\n"), write("new", "1\n"), ["new", "other"]],
    [
      "different places of one file",
      write("lines", "0\n2\n3\n4\n5\n6\n7\n8\n9\n"),
      write("lines", "1\n2\n3\n4\n5\n6\n7\n8\n0\n"),
      ["lines"],
    ],
    ["the same change", write("other", "2\n"), write("other", "2\n"), ["other"]],
    ["the same deletion", remove("other"), remove("other"), ["other"]],
    ["no change on our side", () => undefined, write("other", "2\n"), ["other"]],
    ["no change on their side", write("other", "2\n"), () => undefined, ["other"]],
    [
      "a mode on one side and content on the other",
      () => chmodSync(join(project.path, "script"), 0o755),
      write("script", "2\n"),
      ["script"],
    ],
    [
      "a change of a file that the other side renamed",
      write("dir/inside", `${"text\n".repeat(10)}more\n`),
      () => {
        remove("dir/inside")();
        project.write("moved", "text\n".repeat(10));
      },
      ["moved"],
    ],
  ])("for %s", async (_what, ours, theirs, changed) => {
    const { merged, base } = await merge(ours, theirs);
    if (merged.kind !== "clean") throw new Error(JSON.stringify(merged));
    expect((await changesBetween(repository, base, merged.tree)).map(({ path }) => path)).toEqual(changed);
  });

  test("with merge=union, which needs no program", async () => {
    project.write(".gitattributes", "CHANGELOG.md merge=union\n");
    project.write("CHANGELOG.md", "# Changes\n");
    project.commit();
    const { merged } = await merge(
      write("CHANGELOG.md", "# Changes\n- ours\n"),
      write("CHANGELOG.md", "# Changes\n- theirs\n"),
    );
    if (merged.kind !== "clean") throw new Error(JSON.stringify(merged));
    expect(project.git("cat-file", "-p", `${merged.tree}:CHANGELOG.md`)).toBe("# Changes\n- ours\n- theirs");
  });

  test("and gives the same tree for the same three trees every time", async () => {
    const { merged, base } = await merge(write("a", "1\n"), write("b", "1\n"));
    const again = await merge(write("a", "1\n"), write("b", "1\n"));
    expect(again).toEqual({ merged, base });
  });
});

describe("a merge reports a conflict with its file and reason", () => {
  test.each([
    ["lines", write("lines", "A\n2\n"), write("lines", "B\n2\n"), "both changed the same lines"],
    ["new", write("new", "1\n"), write("new", "2\n"), "both created it with different content"],
    ["other", write("other", "2\n"), remove("other"), "one changed it, the other deleted it"],
    [
      "image",
      () => project.write("image", Buffer.from([0, 1])),
      () => project.write("image", Buffer.from([0, 2])),
      "both changed it, and it is binary",
    ],
    [
      "other",
      write("other", "2\n"),
      () => {
        remove("other")();
        symlinkSync("lines", join(project.path, "other"));
      },
      "it is of different types",
    ],
  ])("%s", async (path, ours, theirs, reason) => {
    const { merged } = await merge(ours, theirs);
    if (merged.kind !== "conflict") throw new Error("was clean");
    const found = merged.files.find((file) => file.path === path || file.path.startsWith(`${path}~`));
    expect(found?.reason).toBe(reason);
  });

  test("for every conflicting file, with paths relative to the project", async () => {
    project.write("packages/api/a", "1\n");
    project.write("packages/api/b\nc", "1\n");
    project.write("packages/web/d", "1\n");
    project.commit();
    repository = await project.open(join(project.path, "packages/api"));
    const all = (text: string) => () => {
      for (const name of ["packages/api/a", "packages/api/b\nc", "packages/web/d"]) project.write(name, text);
    };
    const { merged } = await merge(all("2\n"), all("3\n"));
    expect(merged).toEqual({
      kind: "conflict",
      files: ["a", "b\nc", "../web/d"].map((path) => ({ path, reason: "both changed the same lines" })),
    });
  });

  test("for a file where the other side has a directory", async () => {
    const { merged } = await merge(write("x", "1\n"), write("x/y", "1\n"));
    expect(merged).toMatchObject({ kind: "conflict" });
    if (merged.kind === "conflict")
      expect(merged.files[0]?.reason).toBe("it is a file for one and a directory for the other");
  });
});

import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import { snapshot } from "../snapshot/snapshot.ts";
import { changesBetween } from "./changes.ts";

let project: GitProject;
beforeEach(() => {
  project = new GitProject();
});
afterEach(() => project.remove());

/** What `change` does to the project, as git sees it. */
const changesBy = async (change: () => void, root = project.path) => {
  const repository = await project.open(root);
  const from = await snapshot(repository, { exclude: [], include: [] });
  change();
  const to = await snapshot(repository, { exclude: [], include: [] });
  return changesBetween(repository, from.tree, to.tree);
};

describe("changes between two trees", () => {
  test("are empty when nothing changed", async () => {
    project.write("a", "1");
    expect(await changesBy(() => undefined)).toEqual([]);
  });

  test("count lines, and recognize binary files by their content", async () => {
    project.write("text", "1\n2\n3\n");
    project.write("image", Buffer.from([0, 1, 2]));
    project.write(".gitattributes", "text -diff\nimage diff=hex\n");
    const changes = await changesBy(() => {
      project.write("text", "1\n3\n4\n5\n");
      project.write("image", Buffer.from([0, 1, 3]));
    });
    expect(changes).toEqual([
      { path: "image", kind: "modified", added: 0, removed: 0, binary: true },
      { path: "text", kind: "modified", added: 2, removed: 1, binary: false },
    ]);
  });

  test("name both paths of a rename, with any characters in the names", async () => {
    const [from, to] = ['old\tname\n"x"', "new -> \u00fc\tname"];
    project.write(from, "line\n".repeat(20));
    project.write("tab\there", "1\n");
    const changes = await changesBy(() => {
      rmSync(join(project.path, from));
      project.write(to, `${"line\n".repeat(20)}more\n`);
      project.write("tab\there", "2\n");
    });
    expect(changes).toEqual([
      { path: to, kind: "renamed", from, added: 1, removed: 0, binary: false },
      { path: "tab\there", kind: "modified", added: 1, removed: 1, binary: false },
    ]);
  });

  test("report a file that was replaced by a link as modified", async () => {
    project.write("a", "1\n");
    const changes = await changesBy(() => {
      rmSync(join(project.path, "a"));
      symlinkSync("b", join(project.path, "a"));
    });
    expect(changes).toEqual([{ path: "a", kind: "modified", added: 1, removed: 1, binary: false }]);
  });

  test("have paths relative to the project, even elsewhere in its repository", async () => {
    project.write("packages/api/a", "1\n");
    project.write("packages/web/b", "1\n");
    project.write("c", "1\n");
    const changes = await changesBy(
      () => {
        for (const name of ["packages/api/a", "packages/web/b", "c"]) project.write(name, "2\n");
      },
      join(project.path, "packages/api"),
    );
    expect(changes.map(({ path }) => path).sort()).toEqual(["../../c", "../web/b", "a"]);
  });
});

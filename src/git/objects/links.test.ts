import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import { describeLinks, leadsOut, linksOutside } from "./links.ts";

describe("whether a link leads out of the project", () => {
  const others: Record<string, string> = {
    "a/up": "..",
    "a/out": "../../x",
    "a/abs": "/etc",
    deep: "one/two/three",
    loop: "loop",
    "a/in": "../b",
  };
  const find = (name: string) => others[name] ?? others[name.toLowerCase()];
  test.each<[name: string, target: string, prefix: string, leads: boolean]>([
    ["l", "a", "", false],
    ["l", "./a/../b", "", false],
    ["a/l", "../b", "", false],
    ["a/b/l", "../../c", "", false],
    ["l", "nowhere", "", false],
    ["l", "...", "", false],
    ["l", "..x/y", "", false],
    ["l", "/etc/passwd", "", true],
    ["l", "//etc", "", true],
    ["l", "..", "", true],
    ["l", "../x", "", true],
    ["l", "../project/a", "", true],
    ["a/l", "../../x", "", true],
    ["a/b/l", "./../.././../x", "", true],
    ["l", "a/b/../../../x", "", true],
    ["l", "C:\\Windows", "", true],
    ["l", "\\\\server\\share", "", true],
    ["l", "a/up/b", "", false],
    ["l", "a/up/../x", "", true],
    ["l", "a/out", "", true],
    ["l", "A/OUT/y", "", true],
    ["l", "a/abs/passwd", "", true],
    ["l", "a/in/../c", "", false],
    ["l", "deep/../../../../x", "", true],
    ["l", "deep/../../x", "", false],
    ["l", "loop/x", "", false],
    ["l", ".git/config", "", true],
    ["l", "a/.GIT/hooks", "", true],
    ["packages/api/l", "../web/x", "packages/api/", true],
    ["packages/api/l", "../api/x", "packages/api/", false],
    ["packages/api/l", "../../../x", "packages/api/", true],
    ["packages/api/l", "src/x", "packages/api/", false],
    ["packages/api/l", "../apis", "packages/api/", true],
  ])("%s -> %s in a project at %j: %j", (name, target, prefix, leads) => {
    expect(leadsOut({ name, target }, prefix, find)).toBe(leads);
  });
});

describe("comparing the links of two trees", () => {
  let project: GitProject;
  beforeEach(() => {
    project = new GitProject();
    project.write("a/file", "1\n");
    symlinkSync("/usr", join(project.path, "old"));
    symlinkSync("a/file", join(project.path, "inside"));
    symlinkSync("way/../../x", join(project.path, "turned"));
    mkdirSync(join(project.path, "way/on"), { recursive: true });
    project.write("way/on/file", "2\n");
  });
  afterEach(() => project.remove());

  test("reports links that are new, changed or redirected by another link, and no others", async () => {
    symlinkSync("far/on/../..", join(project.path, "astray"));
    project.write("far/on/file", "3\n");
    const from = project.commit();
    const repository = await project.open();
    expect(await linksOutside(repository, from, from)).toEqual([]);
    symlinkSync("../../etc", join(project.path, "a/new"));
    symlinkSync("file", join(project.path, "a/fine"));
    rmSync(join(project.path, "inside"));
    symlinkSync("/etc/passwd", join(project.path, "inside"));
    rmSync(join(project.path, "far"), { recursive: true });
    symlinkSync("a", join(project.path, "far"));
    rmSync(join(project.path, "a/file"));
    mkdirSync(join(project.path, "a/on"));
    project.write("a/on/file", "4\n");
    const to = project.commit();
    expect(await linksOutside(repository, from, to)).toEqual([
      { path: "a/new", target: "../../etc" },
      { path: "inside", target: "/etc/passwd" },
    ]);
    rmSync(join(project.path, "far"));
    rmSync(join(project.path, "a/on"), { recursive: true });
    symlinkSync(".", join(project.path, "far"));
    symlinkSync("..", join(project.path, "on"));
    expect(await linksOutside(repository, to, project.commit())).toEqual([
      { path: "astray", target: "far/on/../.." },
      { path: "on", target: ".." },
    ]);
  });

  test("reports nothing when only files change, and describes links in one line", async () => {
    const from = project.commit();
    const repository = await project.open();
    project.write("a/file", "2\n");
    expect(await linksOutside(repository, from, project.commit())).toEqual([]);
    const links = Array.from({ length: 22 }, (_, n) => ({ path: `l\n${n}`, target: "/x\u001b[31m" }));
    expect(describeLinks(links)).toMatch(/^Links that lead out of the project: l 0 -> \/x, [^\n\u001b]* and 2 more$/);
  });
});

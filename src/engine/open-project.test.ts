import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { GitProject } from "../../test/support/git-repository.ts";
import { locateState } from "../store/location.ts";
import { excluded, openProject, ownPaths } from "./open-project.ts";

let project: GitProject | undefined;
afterEach(() => project?.remove());

const open = async (cwd: string, cache: string) => {
  const opening = await openProject({ cwd, env: { XDG_CACHE_HOME: cache } });
  if (opening.kind !== "open") throw new Error(opening.reason);
  return opening.repository;
};

/** Of a user whose home is somewhere else. */
const env = { HOME: "/home/user" };

describe("excluded from snapshots", () => {
  test.each<[stateDir: string, paths: string[]]>([
    [".gemini", [".gemini/state", ".gemini/plans", ".gemini/parallel"]],
    ["tools/.gemini", ["tools/.gemini/state", "tools/.gemini/plans", "tools/.gemini/parallel"]],
    [".maestro", [".maestro"]],
    ["a/b", ["a/b"]],
    [".", ["state", "plans", "parallel"]],
  ])("are the parts of Maestro in the state directory %s", async (stateDir, paths) => {
    project = new GitProject();
    const repository = await open(project.path, project.cache);
    expect(excluded(repository, locateState(project.path, stateDir), env)).toEqual(paths);
  });

  test.each<[where: string, paths: string[]]>([
    ["project/packages/api/.state", [".state"]],
    ["project/.state", ["../../.state"]],
    ["project/.gemini", ["../../.gemini/state", "../../.gemini/plans", "../../.gemini/parallel"]],
    ["project", ["../../state", "../../plans", "../../parallel"]],
    ["elsewhere", []],
    ["project-2", []],
  ])("are the parts of Maestro in a state directory elsewhere: %s", async (where, paths) => {
    project = new GitProject();
    const root = join(project.path, "packages", "api");
    mkdirSync(root, { recursive: true });
    const repository = await open(root, project.cache);
    expect(excluded(repository, locateState(root, join(project.base, where)), env)).toEqual(paths);
  });

  test("is the cache directory when it is inside the repository, as in a repository of the home directory", async () => {
    project = new GitProject();
    const cache = join(project.path, ".cache");
    const repository = await open(project.path, cache);
    expect(excluded(repository, locateState(project.path, ".state"), env)).toEqual([".state", ".cache/maestro"]);
  });

  test("is what Maestro keeps in the home directory when that is the project, in git and outside of it", async () => {
    project = new GitProject();
    const repository = await open(project.path, project.cache);
    const home = { HOME: project.path };
    const location = locateState(project.path, ".state");
    expect(excluded(repository, location, home)).toEqual([".state", ".local/state/maestro"]);
    expect(ownPaths(location, home)).toEqual([".state", ".local/state/maestro"]);
    expect(ownPaths(location, env)).toEqual([".state"]);
    expect(ownPaths(locateState(project.path, join(project.base, "elsewhere")), home)).toEqual([
      ".local/state/maestro",
    ]);
  });

  test("is nothing when the project itself is in the cache directory", async () => {
    project = new GitProject([], "maestro");
    const root = join(project.path, "x");
    mkdirSync(root);
    const repository = await open(root, project.base);
    expect(excluded(repository, locateState(root, ".state"), env)).toEqual([".state"]);
  });
});

describe("left out of the listing of a project outside git", () => {
  test.each<[stateDir: string, paths: string[]]>([
    [".gemini", [".gemini/state", ".gemini/plans", ".gemini/parallel"]],
    [".maestro", [".maestro"]],
    [".", ["state", "plans", "parallel"]],
    ["/home/someone/project/.state", [".state"]],
    ["/home/someone/project/.gemini", [".gemini/state", ".gemini/plans", ".gemini/parallel"]],
    ["/home/someone/project-2", []],
    ["/home/someone", []],
  ])("are the parts of Maestro in the state directory %s", (stateDir, paths) => {
    expect(ownPaths(locateState("/home/someone/project", stateDir), env)).toEqual(paths);
  });
});

describe("opening a project", () => {
  test("puts its worktrees in the cache directory", async () => {
    project = new GitProject();
    const { place } = await open(project.path, project.cache);
    expect(place.startsWith(`${join(project.cache, "maestro")}/project-`)).toBe(true);
  });

  test("is refused when the cache directory cannot be created", async () => {
    project = new GitProject();
    writeFileSync(join(project.base, "file"), "");
    const opening = await openProject({ cwd: project.path, env: { XDG_CACHE_HOME: join(project.base, "file") } });
    expect(opening).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("the repository cannot be used: "),
      hint: expect.stringContaining("XDG_CACHE_HOME"),
    });
  });
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { GitProject } from "../../test/support/git-repository.ts";
import { locateState } from "../store/location.ts";
import { excluded, openProject } from "./open-project.ts";

let project: GitProject | undefined;
afterEach(() => project?.remove());

const open = async (cwd: string, cache: string) => {
  const opening = await openProject({ cwd, env: { XDG_CACHE_HOME: cache } });
  if (opening.kind !== "open") throw new Error(opening.reason);
  return opening.repository;
};

describe("what is no part of a snapshot", () => {
  test.each<[stateDir: string, paths: string[]]>([
    [".gemini", [".gemini/state", ".gemini/plans", ".gemini/parallel"]],
    ["tools/.gemini", ["tools/.gemini/state", "tools/.gemini/plans", "tools/.gemini/parallel"]],
    [".maestro", [".maestro"]],
    ["a/b", ["a/b"]],
    [".", ["state", "plans", "parallel"]],
  ])("of the state directory %s", async (stateDir, paths) => {
    project = new GitProject();
    const repository = await open(project.path, project.cache);
    expect(excluded(repository, locateState(project.path, stateDir))).toEqual(paths);
  });

  test.each<[where: string, paths: string[]]>([
    ["project/packages/api/.state", [".state"]],
    ["project/.state", ["../../.state"]],
    ["project/.gemini", ["../../.gemini/state", "../../.gemini/plans", "../../.gemini/parallel"]],
    ["project", ["../../state", "../../plans", "../../parallel"]],
    ["elsewhere", []],
    ["project-2", []],
  ])("of a state directory anywhere: %s", async (where, paths) => {
    project = new GitProject();
    const root = join(project.path, "packages", "api");
    mkdirSync(root, { recursive: true });
    const repository = await open(root, project.cache);
    expect(excluded(repository, locateState(root, join(project.base, where)))).toEqual(paths);
  });

  test("is the cache directory of a repository that holds it, as one in the home directory does", async () => {
    project = new GitProject();
    const cache = join(project.path, ".cache");
    const repository = await open(project.path, cache);
    expect(excluded(repository, locateState(project.path, ".state"))).toEqual([".state", ".cache/maestro"]);
  });

  test("is nothing of a project that lies in the cache directory itself", async () => {
    project = new GitProject([], "maestro");
    const root = join(project.path, "x");
    mkdirSync(root);
    const repository = await open(root, project.base);
    expect(excluded(repository, locateState(root, ".state"))).toEqual([".state"]);
  });
});

describe("a project is opened", () => {
  test("with its worktrees in the cache directory", async () => {
    project = new GitProject();
    const { place } = await open(project.path, project.cache);
    expect(place.startsWith(`${join(project.cache, "maestro")}/project-`)).toBe(true);
  });

  test("or not, when the cache directory cannot be made", async () => {
    project = new GitProject();
    writeFileSync(join(project.base, "file"), "");
    const opening = await openProject({ cwd: project.path, env: { XDG_CACHE_HOME: join(project.base, "file") } });
    expect(opening).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("the repository cannot be worked with: "),
      hint: expect.stringContaining("XDG_CACHE_HOME"),
    });
  });
});

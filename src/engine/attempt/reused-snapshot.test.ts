import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import type { Repository } from "../../git/repository.ts";
import { type Snapshot, snapshot } from "../../git/snapshot/snapshot.ts";
import { ReusedSnapshot } from "./reused-snapshot.ts";

let project: GitProject;
let repository: Repository;
let reused: ReusedSnapshot;
let taken: number;
beforeEach(async () => {
  project = new GitProject();
  project.write("a.txt", "1\n");
  project.write(".gitignore", "*.gen\nnode_modules/\n");
  project.commit();
  repository = await project.open();
  reused = new ReusedSnapshot(repository, [".gemini"]);
  taken = 0;
});
afterEach(() => {
  reused.close();
  project.remove();
});

const now = (force: string[] = []) =>
  reused.now(force, () => {
    taken += 1;
    return snapshot(repository, { exclude: [".gemini"], include: [], force });
  });
const path = (name: string) => join(project.path, name);

/** Waits until the files are old enough for their times to tell every later change. */
async function settled(): Promise<void> {
  for (let before = -1; before !== taken; ) {
    before = taken;
    await now();
  }
}

describe("a snapshot of a repository that agents share", () => {
  test("is taken once for all attempts while no file changes", async () => {
    await settled();
    const before = taken;
    const commits = await Promise.all([now(), now(), now()]);
    expect(new Set(commits.map(({ commit }) => commit)).size).toBe(1);
    expect(taken).toBe(before);
  });

  test.each<[string, () => void]>([
    ["a new file", () => project.write("src/new.txt", "1\n")],
    ["other content of the same size", () => writeFileSync(path("a.txt"), "2\n")],
    ["another list of ignored files", () => appendFileSync(path(".gitignore"), "*.log\n")],
    ["a staged file", () => project.git("add", "--chmod=+x", "a.txt")],
  ])("is taken again after %s", async (_name, act) => {
    await settled();
    const [before, first] = [taken, await now()];
    act();
    const second = await now();
    expect(taken).toBe(before + 1);
    expect(second).not.toBe(first);
  });

  test("is taken again when other files count as declared", async () => {
    project.write("x.gen", "1\n");
    await settled();
    const before = await now();
    expect((await now(["x.gen"])).tree).not.toBe(before.tree);
  });

  test("is always taken when the repository keeps files where a listing does not look", async () => {
    project.write("vendor/lib.c", "1\n");
    project.write("go.mod", "module x\n");
    project.commit();
    await now();
    project.write("vendor/lib.c", "2\n");
    const before = await now();
    project.write("vendor/lib.c", "3\n");
    expect((await now()).tree).not.toBe(before.tree);
    expect(taken).toBe(3);
  });
});

// Elsewhere only a sweep can tell.
describe.runIf(process.platform === "linux")("a snapshot that is known without looking at the files", () => {
  const known = (force: string[] = []) => reused.unchanged(() => force);

  /** Enough files for a sweep that is not repeated while the test runs. */
  async function lastOfMany(): Promise<Snapshot> {
    for (let at = 0; at < 3000; at++) project.write(`many/${at % 30}/${at}.txt`, "1\n");
    project.commit();
    await settled();
    return now();
  }

  test("is the last one while nothing has changed", async () => {
    expect(await known()).toBeUndefined();
    const last = await lastOfMany();
    expect(await known()).toBe(last);
  });

  test.each<[string, () => void, string[]]>([
    ["a new file", () => project.write("src/new.txt", "1\n"), []],
    ["other content of the same size", () => writeFileSync(path("a.txt"), "2\n"), []],
    ["a staged file", () => project.git("add", "--chmod=+x", "a.txt"), []],
    ["another declared file", () => undefined, ["x.gen"]],
  ])("is none after %s", async (_name, act, force) => {
    await lastOfMany();
    act();
    expect(await known(force)).toBeUndefined();
  });
});

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../test/support/git-repository.ts";
import { commitTree } from "./objects/commit.ts";
import { decodeName, dropKept, encodeName, keepCommit, listKept } from "./refs.ts";
import type { Repository } from "./repository.ts";

let project: GitProject;
let repository: Repository;
let tree: string;
beforeEach(async () => {
  project = new GitProject();
  project.write("a", "1");
  project.commit();
  tree = project.git("rev-parse", "HEAD^{tree}");
  repository = await project.open();
});
afterEach(() => project.remove());

const commit = (seconds: number) =>
  commitTree(repository, { tree, parents: [], message: `${seconds}`, at: new Date(seconds * 1000) });

describe("a kept commit", () => {
  test("is listed by session or with all others, oldest first", async () => {
    const [first, second, third] = [await commit(3), await commit(1), await commit(2)];
    await keepCommit(repository, { session: "2026-02-14-task", phase: "1", attempt: 1, commit: first });
    await keepCommit(repository, { session: "2026-02-14-task", phase: "API.v2", attempt: 12, commit: second });
    await keepCommit(repository, { session: "2026-02-14-task-2", phase: "1", attempt: 1, commit: third });
    const kept = await listKept(repository);
    expect(kept.map(({ session, phase, attempt, commit }) => [session, phase, attempt, commit])).toEqual([
      ["2026-02-14-task", "API.v2", 12, second],
      ["2026-02-14-task-2", "1", 1, third],
      ["2026-02-14-task", "1", 1, first],
    ]);
    expect(await listKept(repository, "2026-02-14-task")).toHaveLength(2);
    expect(await listKept(repository, "2026-02-14")).toEqual([]);
    expect(kept.at(-1)?.ref).toBe("refs/maestro/2026-02-14-task/1/1");
  });

  test("survives garbage collection, and appears in no branch, tag or reflog", async () => {
    project.git("config", "core.logAllRefUpdates", "always");
    const before = project.untouchables();
    const work = await commit(1);
    await keepCommit(repository, { session: "s", phase: "1", attempt: 1, commit: work });
    expect(project.untouchables()).toEqual(before);
    expect(project.git("branch", "-a")).toBe("* main");
    project.git("gc", "-q", "--prune=now");
    expect(project.git("cat-file", "-t", work)).toBe("commit");
  });

  test("is listed when all references are packed, and again after another attempt", async () => {
    const [first, second] = [await commit(1), await commit(2)];
    await keepCommit(repository, { session: "s", phase: "1", attempt: 1, commit: first });
    project.git("pack-refs", "--all");
    expect(project.exists(".git/refs/maestro/s")).toBe(false);
    expect([await listKept(repository), await listKept(repository, "s")]).toEqual(
      Array(2).fill([expect.objectContaining({ commit: first })]),
    );
    expect(await listKept(repository, "t")).toEqual([]);
    await keepCommit(repository, { session: "s", phase: "1", attempt: 2, commit: second });
    expect((await listKept(repository, "s")).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(await dropKept(repository, "s")).toBe(2);
    expect(await listKept(repository)).toEqual([]);
  });

  test("is replaced when the same attempt is kept again", async () => {
    const [first, second] = [await commit(1), await commit(2)];
    await keepCommit(repository, { session: "s", phase: "1", attempt: 1, commit: first });
    await keepCommit(repository, { session: "s", phase: "1", attempt: 1, commit: second });
    expect((await listKept(repository)).map(({ commit }) => commit)).toEqual([second]);
  });

  test("is dropped by session, and listed by the age of the work", async () => {
    for (const [session, time] of [
      ["old", 1],
      ["resumed", 2],
      ["new", 3],
      ["resumed", 9],
    ] as const) {
      await keepCommit(repository, { session, phase: "1", attempt: time, commit: await commit(time) });
    }
    expect((await listKept(repository)).map(({ session }) => session)).toEqual(["old", "resumed", "new", "resumed"]);
    expect(await dropKept(repository, "resumed")).toBe(2);
    expect(await dropKept(repository, "resumed")).toBe(0);
    expect((await listKept(repository)).map(({ session }) => session)).toEqual(["old", "new"]);
  });

  test("is not confused with other references below refs/maestro", async () => {
    project.git("update-ref", "refs/maestro/other", "HEAD");
    project.git("update-ref", "refs/maestro/s/p/x/y", "HEAD");
    project.git("update-ref", "refs/maestro/S/p/1", "HEAD");
    expect(await listKept(repository)).toEqual([]);
    for (const session of ["other", "s", "S"]) await dropKept(repository, session);
    expect(project.git("for-each-ref", "--format=%(refname)", "refs/maestro").split("\n")).toHaveLength(3);
  });
});

describe("a name in a reference", () => {
  test.each([
    ["1", "1"],
    ["2026-02-14-task_api", "2026-02-14-task_api"],
    ["a.b", "a.b"],
    ["..", "%2e%2e"],
    ["a..b", "a%2e.b"],
    [".a", "%2ea"],
    ["a.", "a%2e"],
    ["x.lock", "x%2elock"],
    ["Setup", "%53etup"],
    ["a/b", "a%2fb"],
    ["a b~^:?*[\\@{", "a%20b%7e%5e%3a%3f%2a%5b%5c%40%7b"],
    ["100%", "100%25"],
    ["\u00fc", "%c3%bc"],
  ])("%j is encoded as %s", (name, encoded) => {
    expect(encodeName(name)).toBe(encoded);
    expect(decodeName(encoded)).toBe(name);
  });

  test("can be decoded, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (name) => {
        fc.pre(Buffer.from(name).toString() === name);
        expect(decodeName(encodeName(name))).toBe(name);
      }),
    );
  });

  test("is valid for git, whatever it is", async () => {
    const work = await commit(1);
    const names = fc.sample(fc.string({ minLength: 1, maxLength: 20, unit: "binary" }), 30);
    for (const name of ["@", "-", "a.lock.lock", "...", ".lock", ...names]) {
      if (Buffer.from(name).toString() !== name) continue;
      await keepCommit(repository, { session: name, phase: name, attempt: 1, commit: work });
      expect((await listKept(repository, name)).map(({ phase }) => phase)).toEqual([name]);
    }
  });

  test.each(["", "%zz", "A", "%41%", "a..b", "%2"])("rejects %j, which encodeName cannot produce", (encoded) => {
    expect(decodeName(encoded)).toBeUndefined();
  });

  test.each([-1, 1.5, Number.NaN])("rejects %s as an attempt number", async (attempt) => {
    await expect(keepCommit(repository, { session: "s", phase: "1", attempt, commit: "x" })).rejects.toThrow(
      "Not an attempt number",
    );
    await expect(keepCommit(repository, { session: "", phase: "1", attempt: 1, commit: "x" })).rejects.toThrow(
      "needs a name",
    );
  });
});

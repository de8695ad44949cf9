import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitProject } from "../../../test/support/git-repository.ts";
import { finish } from "../apply/apply.ts";
import { planApply } from "../apply/apply-plan.ts";
import { keepCommit, listKept } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { snapshot } from "../snapshot/snapshot.ts";
import { removeWorktree } from "../worktree/removal.ts";
import { addWorktree, adoptWorktree, resetWorktree } from "../worktree/worktree.ts";
import { readBlobs } from "./blobs.ts";
import { changesBetween } from "./changes.ts";
import { commitTree } from "./commit.ts";
import { mergeTrees } from "./merge.ts";
import { objectId } from "./object-id.ts";
import { filesIn, missingObjects } from "./objects.ts";
import { patchBetween } from "./patch.ts";
import { treeWithout } from "./tree-without.ts";

let project: GitProject;
let repository: Repository;
let good: string;
beforeEach(async () => {
  project = new GitProject();
  project.write("a", "1\n");
  good = project.commit();
  repository = await project.open();
});
afterEach(() => project.remove());

const use = {
  changesBetween: (id: string) => changesBetween(repository, id, good),
  "changesBetween, second": (id: string) => changesBetween(repository, good, id),
  patchBetween: (id: string) => patchBetween(repository, id, good),
  "patchBetween, second": (id: string) => patchBetween(repository, good, id),
  planApply: (id: string) => planApply(repository, id, good),
  finish: (id: string) => finish(repository, good, id),
  mergeTrees: (id: string) => mergeTrees(repository, { base: id, ours: good, theirs: good }),
  "mergeTrees, theirs": (id: string) => mergeTrees(repository, { base: good, ours: good, theirs: id }),
  treeWithout: (id: string) => treeWithout(repository, { tree: good, base: id, paths: [] }),
  "treeWithout, tree": (id: string) => treeWithout(repository, { tree: id, base: good, paths: [] }),
  commitTree: (id: string) => commitTree(repository, { tree: id, parents: [], message: "x" }),
  "commitTree, parent": (id: string) => commitTree(repository, { tree: good, parents: [id], message: "x" }),
  missingObjects: (id: string) => missingObjects(repository, [id]),
  filesIn: (id: string) => filesIn(repository, id, []),
  readBlobs: async (id: string) => {
    for await (const _ of readBlobs(repository, [id]));
  },
  keep: (id: string) => keepCommit(repository, { session: "s", phase: "1", attempt: 1, commit: id }),
  addWorktree: (id: string) => addWorktree(repository, "s", "w1", { commit: id, ignored: [], links: [] }),
  resetWorktree: async (id: string) => {
    const from = { commit: good, ignored: [], links: [] };
    const worktree = adoptWorktree(repository, "w1") ?? (await addWorktree(repository, "s", "w1", from));
    await resetWorktree(repository, worktree, id);
  },
};

describe("text that is not a full object id", () => {
  test.each(Object.entries(use))("is rejected by %s, and git does not run", async (_, attempt) => {
    const target = join(project.base, "written");
    const hostile = [
      `--output=${target}`,
      `-o${target}`,
      "--no-index",
      "-",
      "",
      "HEAD",
      "main",
      "refs/heads/main",
      ":/x",
      good.slice(0, 12),
      good.toUpperCase(),
      `${good}^{tree}`,
      `${good}:a`,
      `${good}\n--output=${target}`,
      ` ${good}`,
      `${good}\0`,
      `${good}${good.slice(0, 24)}`,
    ];
    for (const id of hostile) {
      await expect(attempt(id), JSON.stringify(id)).rejects.toMatchObject({
        code: "parse_failed",
        message: expect.stringContaining("Not a full object id"),
      });
    }
    expect(existsSync(target)).toBe(false);
    expect(project.git("for-each-ref", "refs/maestro")).toBe("");
  });

  test("is shown in one line without control characters", () => {
    expect(() => objectId(repository, `\u001b[31m--output=x\n\u202e${"y".repeat(500)}`)).toThrow(
      /^Not a full object id of this repository \(got: [^\n\u001b]{1,90}\)$/,
    );
    expect(() => objectId(repository, undefined)).toThrow("Not a full object id");
    expect(objectId(repository, good)).toBe(good);
  });
});

describe("every git command", () => {
  const path = process.env.PATH;
  afterEach(() => {
    process.env.PATH = path;
  });

  test("has --end-of-options before its first object, reference or path", async () => {
    const log = join(project.base, "log");
    const bin = join(project.base, "bin");
    mkdirSync(bin);
    const real = execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    writeFileSync(join(bin, "git"), `#!/bin/sh\nprintf '%s\\037' "$@" >> ${log}; echo >> ${log}; exec ${real} "$@"\n`);
    chmodSync(join(bin, "git"), 0o755);
    process.env.PATH = [bin, path].join(delimiter);
    project.write("a", "2\n");
    const { commit } = await snapshot(await project.open(), { exclude: [], include: ["*.local"] });
    for (const [name, attempt] of Object.entries(use))
      if (!name.startsWith("addWorktree")) await attempt(commit).catch(notABlob);
    await listKept(repository);
    await removeWorktree(repository, "w1");
    const calls = readFileSync(log, "utf8").split("\n").filter(Boolean);
    expect(calls.length).toBeGreaterThan(30);
    for (const call of calls) {
      const words = call.split("\x1f");
      const mark = words.indexOf("--end-of-options");
      const named = words.findIndex((word) => /^(?:[0-9a-f]{40}|HEAD|refs\/|\/)/.test(word));
      // The parent of a commit is the value of an option.
      if (named !== -1 && words[named - 1] !== "-p") expect(mark, call).toBeLessThan(named);
      if (named !== -1) expect(mark, call).toBeGreaterThan(0);
    }
  });
});

/** Some functions expect a file where a commit is given. */
function notABlob(error: unknown): void {
  if (!(error instanceof Error) || !/file content/.test(error.message)) throw error;
}

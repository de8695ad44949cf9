// The clone of an exchange that workers of one user share.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { commitTree } from "../../git/objects/commit.ts";
import type { TreeId } from "../../ids.ts";
import { keepOrder, openClone, tidyClone } from "./clone.ts";

const place = mkdtempSync(join(tmpdir(), "maestro-clone-"));
afterAll(() => rmSync(place, { recursive: true }));

test("a worker that starts deletes old orders, and neither those that another worker has begun nor their objects", async () => {
  const clone = await openClone(place, "/exchange.git", "sha1");
  const git = (...words: string[]) => execFileSync("git", words, { cwd: clone.toplevel, encoding: "utf8" }).trim();
  const tree = git("hash-object", "-t", "tree", "-w", "/dev/null") as TreeId;
  const commits: string[] = [];
  for (let at = 0; at < 45; at += 1) {
    const commit = await commitTree(clone, { tree, parents: [], message: `order ${at}` });
    const packs = join(clone.commonDir, "objects", "pack", "pack");
    const objects = execFileSync("git", ["cat-file", "commit", commit], {
      cwd: clone.toplevel,
      env: { ...process.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: clone.objects },
    });
    execFileSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], { cwd: clone.toplevel, input: objects });
    execFileSync("git", ["pack-objects", "-q", packs], { cwd: clone.toplevel, input: `${commit}\n` });
    await keepOrder(clone, `key-${at}`, commit);
    commits.push(commit);
  }
  git("prune-packed");
  const [begun = ""] = commits;
  await tidyClone(clone, new Set(["key-0"]));
  const kept = git("for-each-ref", "--format=%(refname)", "refs/maestro-orders").split("\n");
  expect(kept).toContain("refs/maestro-orders/key-0");
  expect(kept.length).toBeLessThanOrEqual(5);
  expect(git("cat-file", "-t", begun)).toBe("commit");
  expect(readdirSync(join(clone.commonDir, "objects", "pack")).length).toBeLessThan(45);
  // Nothing refers to it now, but it is young: another worker may have fetched it just before.
  expect(git("cat-file", "-t", commits[10] ?? "")).toBe("commit");
});

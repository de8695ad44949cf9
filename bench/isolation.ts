// What isolating an attempt costs: snapshot, worktree, its tree, merge and removal, beside `git worktree add` and `remove` of the same
// repository of 5,000 files. Interleaved rounds. Then one pass over 50,000 files.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mergeTrees } from "../src/git/merge.ts";
import { openRepository } from "../src/git/open.ts";
import type { Repository } from "../src/git/repository.ts";
import { snapshot } from "../src/git/snapshot.ts";
import { addWorktree, treeOf } from "../src/git/worktree.ts";
import { removeWorktree } from "../src/git/worktree-removal.ts";
import { median, report } from "./support/measure.ts";

const ROUNDS = 9;
const CHANGED = 20;
const root = mkdtempSync(join(tmpdir(), "maestro-bench-isolation-"));
process.env.HOME = root;
process.env.GIT_CONFIG_NOSYSTEM = "1";

const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, stdio: "pipe" });

/** A project as people have one: packed, clean but for a few files, with its index up to date. */
async function makeProject(count: number): Promise<string> {
  const project = join(root, `project-${count}`);
  for (let at = 0; at < count; at++) {
    const directory = join(project, "src", `part-${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `file-${at}.ts`), `export const value = ${at};\n`.repeat(20 + (at % 100)));
  }
  git(project, "-c", "init.defaultBranch=main", "init", "-q");
  git(project, "config", "gc.auto", "0");
  git(project, "add", "-A");
  git(project, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x");
  git(project, "gc", "-q");
  // Younger files than this are read again by any git.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  git(project, "status");
  for (let at = 0; at < CHANGED; at++) writeFileSync(join(project, `new-${at}.ts`), `${at}\n`);
  return project;
}

async function open(project: string): Promise<Repository> {
  const opening = await openRepository(project, join(root, "cache"));
  if (opening.kind !== "open") throw new Error(opening.reason);
  return opening.repository;
}

async function timed<T>(into: number[], work: () => Promise<T> | T): Promise<T> {
  const before = performance.now();
  const result = await work();
  into.push(performance.now() - before);
  return result;
}

const stages = ["snapshot", "worktree", "tree of the worktree", "merge", "removal"] as const;
type Times = Record<(typeof stages)[number], number[]>;
const newTimes = (): Times => ({ snapshot: [], worktree: [], "tree of the worktree": [], merge: [], removal: [] });

async function isolate(repository: Repository, times: Times, round: number): Promise<void> {
  const options = { exclude: [".gemini"], include: [] };
  const base = await timed(times.snapshot, () => snapshot(repository, options));
  const worktree = await timed(times.worktree, () => addWorktree(repository, "attempt", base));
  for (let at = 0; at < CHANGED; at++)
    writeFileSync(join(worktree.root, "src/part-3", `file-${300 + at}.ts`), `${round}\n`);
  const theirs = await timed(times["tree of the worktree"], () => treeOf(repository, worktree, options));
  // Somebody else's change came in between.
  const ours = await aside(repository, base.tree, round);
  const merged = await timed(times.merge, () => mergeTrees(repository, { base: base.tree, ours, theirs: theirs.tree }));
  if (merged.kind !== "clean" || merged.tree === theirs.tree) throw new Error("not merged");
  await timed(times.removal, () => removeWorktree(repository, "attempt"));
}

async function aside(repository: Repository, base: string, round: number): Promise<string> {
  const file = join(repository.projectRoot, "src/part-7/file-700.ts");
  writeFileSync(file, `somebody ${round}\n`);
  const { tree } = await snapshot(repository, { exclude: [".gemini"], include: [] });
  git(repository.projectRoot, "checkout", "-q", "--", "src/part-7/file-700.ts");
  if (tree === base) throw new Error("nothing changed");
  return tree;
}

const small = await makeProject(5000);
const repository = await open(small);
const ours = newTimes();
const plain: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const path = join(root, "plain");
  await timed(plain, () => {
    git(small, "worktree", "add", "-q", "--detach", path, "HEAD");
    git(small, "worktree", "remove", path);
  });
  await isolate(repository, ours, round);
}
const totals = plain.map((_, round) => stages.reduce((sum, stage) => sum + (ours[stage][round] ?? 0), 0));
report("5,000 files: git worktree add and remove (median)", median(plain), "ms");
for (const stage of stages) report(`5,000 files: ${stage} (median)`, median(ours[stage]), "ms");
report("5,000 files: an isolated attempt in all (median)", median(totals), "ms");
report("ratio of the medians", median(totals) / median(plain), "x", 3);

const large = newTimes();
await isolate(await open(await makeProject(50_000)), large, 0);
for (const stage of stages) report(`50,000 files: ${stage}`, large[stage][0] ?? Number.NaN, "ms");
rmSync(root, { recursive: true });

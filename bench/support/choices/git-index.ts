// The git index: compares our reader with `git ls-files --stage --debug`, whose output format git does not guarantee.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IndexEntry, indexEntries } from "../../../src/git/snapshot/index-file.ts";
import { time } from "../measure.ts";
import { reportRounds } from "./rivals.ts";

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x", ...args], { cwd, stdio: "pipe" });

function makeRepository(root: string, name: string, count: number): string {
  const project = join(root, name);
  for (let at = 0; at < count; at++) {
    const folder = join(project, "src", `part-${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${at}.ts`), `${at}\n`);
  }
  git(project, "-c", "init.defaultBranch=main", "init", "-q");
  // Its own maintenance would go on in the background while the project is deleted.
  git(project, "config", "gc.auto", "0");
  git(project, "add", "-A");
  git(project, "commit", "-qm", "x");
  return project;
}

/** Git's output, parsed into the same shape. */
function listed(project: string): IndexEntry[] {
  const { stdout } = spawnSync("git", ["ls-files", "--stage", "--debug", "-z"], { cwd: project, maxBuffer: 1 << 30 });
  const entry =
    /(\d{6}) ([0-9a-f]+) (\d)\t([^\0]*)\0(?: {2}ctime:.*\n {2}mtime:.*\n {2}dev:.*\n {2}uid:.*\n {2}size: (\d+)\tflags: ([0-9a-f]+)\n)/g;
  return [...stdout.toString("latin1").matchAll(entry)].map(([, mode, id, stage, name, size, flags]) => ({
    name: name ?? "",
    mode: Number.parseInt(mode ?? "", 8),
    id: id ?? "",
    size: Number(size),
    stage: Number(stage),
    isHidden: (Number.parseInt(flags ?? "", 16) & 0x40008000) !== 0,
  }));
}

const sorted = (entries: IndexEntry[]) =>
  JSON.stringify(entries.map((entry) => JSON.stringify(entry, Object.keys(entry).sort())).sort());

/** Compares both readers on repositories with every kind of index. */
function differences(root: string): string[] {
  const states: Record<string, (project: string) => void> = {
    "version 2": (project) => git(project, "update-index", "--index-version", "2"),
    "version 4": (project) => git(project, "update-index", "--index-version", "4"),
    "assume-unchanged": (project) => git(project, "update-index", "--assume-unchanged", "src/part-0/file-1.ts"),
    "skip-worktree": (project) => git(project, "update-index", "--skip-worktree", "src/part-0/file-1.ts"),
    "intent to add": (project) => {
      writeFileSync(join(project, "new.ts"), "new\n");
      git(project, "add", "-N", "new.ts");
    },
    "names with line breaks": (project) => {
      writeFileSync(join(project, "a\nb\t.ts"), "new\n");
      git(project, "add", "-A");
    },
    unmerged: (project) => {
      git(project, "checkout", "-qb", "other");
      writeFileSync(join(project, "src/part-0/file-1.ts"), "theirs\n");
      git(project, "commit", "-qam", "theirs");
      git(project, "checkout", "-q", "main");
      writeFileSync(join(project, "src/part-0/file-1.ts"), "ours\n");
      git(project, "commit", "-qam", "ours");
      spawnSync("git", ["-c", "user.name=x", "-c", "user.email=x", "merge", "other"], { cwd: project });
    },
    "split, with a changed file": (project) => {
      git(project, "update-index", "--split-index");
      writeFileSync(join(project, "src/part-0/file-1.ts"), "changed\n");
      git(project, "add", "-A");
    },
  };
  return Object.entries(states).map(([state, change], at) => {
    const project = makeRepository(root, `state-${at}`, 150);
    change(project);
    const ours = indexEntries(join(project, ".git"), "sha1");
    return `${state.padEnd(28)} ${sorted(ours) === sorted(listed(project)) ? "same entries" : `differ: ours ${ours.length}, git ${listed(project).length}`}`;
  });
}

export function measureGitIndex(): void {
  const root = mkdtempSync(join(tmpdir(), "maestro-bench-index-"));
  for (const line of differences(root)) console.log(`  ${line}`);
  for (const [count, rounds] of [
    [500, 41],
    [5_000, 31],
    [50_000, 11],
  ] as const) {
    const project = makeRepository(root, `project-${count}`, count);
    const gitDir = join(project, ".git");
    if (indexEntries(gitDir, "sha1").length !== count || listed(project).length !== count)
      throw new Error("entries are missing");
    reportRounds(
      {
        [`${count} files: our reader`]: () => indexEntries(gitDir, "sha1"),
        [`${count} files: git ls-files --stage --debug`]: () => listed(project),
      },
      rounds,
      time,
    );
  }
  // git may still be busy.
  rmSync(root, { recursive: true, maxRetries: 10, retryDelay: 200 });
}

// Reasons why Maestro cannot work with a repository, found in its files: unmerged entries, submodules, a foreign working tree.

import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fromRaw } from "./names.ts";
import { readFile } from "./read-file.ts";
import { GITLINK, type IndexEntry } from "./snapshot/index-file.ts";

export function unmergedReason(gitDir: string, entries: readonly IndexEntry[]): string | undefined {
  const unmerged = [...new Set(entries.filter(({ stage }) => stage > 0).map(({ name }) => fromRaw(name)))];
  if (unmerged.length === 0) return undefined;
  const operations: [file: string, name: string][] = [
    ["rebase-merge", "a rebase"],
    ["rebase-apply", "a rebase"],
    ["CHERRY_PICK_HEAD", "a cherry-pick"],
    ["REVERT_HEAD", "a revert"],
    ["MERGE_HEAD", "a merge"],
    ["BISECT_LOG", "a bisect"],
  ];
  const operation = operations.find(([file]) => existsSync(join(gitDir, file)))?.[1];
  if (operation === undefined) return `there are unresolved conflicts in ${fewOf(unmerged)}: resolve them first`;
  return `${operation} is in progress and has conflicts in ${fewOf(unmerged)}: finish or abort it first`;
}

export function submoduleReason(entries: readonly IndexEntry[]): string | undefined {
  const submodules = entries.filter(({ mode }) => mode === GITLINK).map(({ name }) => fromRaw(name));
  if (submodules.length === 0) return undefined;
  return `it has submodules (${fewOf(submodules)}): their files belong to other repositories and would be missing in a worktree`;
}

function fewOf(names: readonly string[]): string {
  const more = names.length - 3;
  return names.slice(0, 3).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/**
 * A repository can declare any directory as its working tree (core.worktree), such as the home directory, whose content would then reach
 * the agents. Only a submodule has a reason to do so, and there the directory points back.
 */
export function borrowedWorkTree(toplevel: string, gitDir: string): string | undefined {
  const pointer = join(toplevel, ".git");
  const target = /^gitdir: (.*?)\n?$/s.exec(readFile(pointer)?.bytes.toString("utf8") ?? "")?.[1];
  if (target !== undefined) {
    const path = isAbsolute(target) ? target : join(toplevel, target);
    if (existsSync(path) && realpathSync.native(path) === gitDir) return undefined;
  }
  return "the repository keeps its files elsewhere (core.worktree)";
}

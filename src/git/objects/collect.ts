// Deletes objects that Maestro copied to the user's object database and that nothing refers to any more. Never deletes an object that
// Maestro did not copy, that a reference, reflog, index or worktree reaches, or that any git has stored again since: git renews the time of
// such an object, because the program that stored it relies on it. What remains is for the user's own "git gc".

import { existsSync, lstatSync, readFileSync, renameSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { toRaw } from "../names.ts";
import { theirGit, userObjects } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { blockingKindAt } from "../snapshot/file-kind.ts";
import { turns } from "../yield-turn.ts";
import { loosePath, partsOf, readLoose } from "./loose.ts";
import { objectId } from "./object-id.ts";

/** A copied object that is still there. */
interface Copied {
  id: string;
  /** When it was copied, as the file has it. */
  time: number;
  isUntouched: boolean;
}

/** `lists`: files written by `moveObjects`. `held`: objects that stay, with what they refer to. Returns how many were deleted. */
export async function collectObjects(
  repository: Repository,
  lists: readonly string[],
  held: readonly string[],
): Promise<number> {
  const target = userObjects(repository);
  const copied = lists.flatMap((list) => stillThere(repository, target, list));
  if (copied.length === 0 || blockingKindAt(toRaw(join(repository.gitDir, "index"))) !== undefined) return 0;
  const reached = await reachedFrom(repository, copied, held);
  // A git command that ran in the meantime may rely on one of them: then nothing is deleted this time.
  const now = lists.flatMap((list) => stillThere(repository, target, list));
  if (now.some(({ isUntouched }, at) => isUntouched !== copied[at]?.isUntouched)) return 0;
  const pause = turns();
  let deleted = 0;
  // The last ones first: an object is deleted before those that it refers to, so a kill leaves none that is incomplete.
  const distinct = new Map(copied.map(({ id, time }) => [id, time]));
  for (const [id, time] of [...distinct].reverse()) {
    await pause();
    if (!reached.has(id) && deleteUntouched(loosePath(target, id), time)) deleted += 1;
  }
  return deleted;
}

/**
 * Takes the object out of git's sight before looking at its time for the last time: a git that stored it again before that has renewed the
 * time, and gets it back; one that stores it afterwards writes it anew. A kill in between leaves a file that "git gc" deletes.
 */
function deleteUntouched(path: string, time: number): boolean {
  const aside = join(dirname(path), `tmp_obj_maestro${process.pid}`);
  renameSync(path, aside);
  if (lstatSync(aside).mtimeMs === time) unlinkSync(aside);
  else renameSync(aside, path);
  return !existsSync(path);
}

function stillThere(repository: Repository, target: string, list: string): Copied[] {
  const found = new Map<string, Copied>();
  const lines = existsSync(list) ? readFileSync(list, "latin1").split("\n") : [];
  for (const line of lines) {
    const [, time, id] = /^(\d+) ([0-9a-f]+)$/.exec(line) ?? [];
    if (time === undefined || id === undefined) continue;
    const stat = lstatSync(loosePath(target, objectId(repository, id)), { throwIfNoEntry: false });
    // An object that was deleted and copied again counts with its last copy.
    found.delete(id);
    const copiedAt = Number(time) * 1000;
    if (stat !== undefined) found.set(id, { id, time: copiedAt, isUntouched: stat.mtimeMs === copiedAt });
  }
  return [...found.values()];
}

/** The ids of all objects that have to stay, apart from those that were there before the first copy. */
async function reachedFrom(
  repository: Repository,
  copied: readonly Copied[],
  held: readonly string[],
): Promise<ReadonlySet<string>> {
  const ids = new Set(copied.map(({ id }) => id));
  const touched = copied.filter(({ isUntouched }) => !isUntouched).map(({ id }) => id);
  const lines = [
    ...touched,
    ...held.filter((id) => ids.has(id)),
    ...olderCommits(repository, ids).map((id) => `^${id}`),
  ];
  const args = ["rev-list", "--objects", "--no-object-names", "--ignore-missing"];
  const { stdout } = await theirGit(repository, [...args, "--all", "--reflog", "--indexed-objects", "--stdin"], {
    input: lines.map((line) => `${line}\n`).join(""),
  });
  return new Set(stdout.toString().split("\n"));
}

/** The commits of the user's that copied commits are based on. They were complete before, so nothing behind them was copied. */
function olderCommits(repository: Repository, ids: ReadonlySet<string>): string[] {
  const older = new Set<string>();
  for (const id of ids) {
    const object = readLoose(userObjects(repository), id);
    if (object?.type !== "commit") continue;
    const [, ...parents] = partsOf(object, repository.objectFormat);
    for (const parent of parents) if (!ids.has(parent.id)) older.add(parent.id);
  }
  return [...older];
}

// Maestro's own object directory of a project: emptied when nothing needs its objects any more. The user's objects are never touched.

import { mkdirSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Directory } from "../../disk/contained.ts";
import { randomHex } from "../../disk/random.ts";
import type { Repository } from "../repository.ts";
import { removeDirectory } from "../worktree/remove-directory.ts";

export function hasObjects({ objects }: Repository): boolean {
  return readdirSync(objects).length > 0;
}

/** Deletes all objects in the directory. The caller knows that no session of the project needs them. */
export async function clearObjects({ objects }: Repository): Promise<void> {
  await removeBelow(objects);
  mkdirSync(objects, { mode: 0o700 });
}

/** Runs `use` on a repository whose new objects are deleted afterwards. `clearObjects` deletes those of a killed process. */
export async function withPassingObjects<T>(
  repository: Repository,
  use: (repository: Repository) => Promise<T>,
): Promise<T> {
  const objects = join(repository.objects, `passing-${randomHex(8)}`);
  mkdirSync(objects, { mode: 0o700 });
  try {
    return await use({ ...repository, objects, borrowed: [repository.objects, ...repository.borrowed] });
  } finally {
    await removeBelow(objects);
  }
}

async function removeBelow(path: string): Promise<void> {
  const parent = Directory.openRoot(dirname(path));
  try {
    await removeDirectory(parent, basename(path));
  } finally {
    parent.close();
  }
}

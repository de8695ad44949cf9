// Which objects a repository still has: those that nothing refers to are collected in time.

import { ownGit } from "./own-git.ts";
import type { Repository } from "./repository.ts";

/** Of these ids the ones that are not there. */
export async function missingObjects(repository: Repository, ids: readonly string[]): Promise<string[]> {
  const input = ids.map((id) => `${id}\n`).join("");
  const { stdout } = await ownGit(repository, ["cat-file", "--batch-check=%(objectname)"], { input });
  const lines = stdout.toString().split("\n");
  return ids.filter((_, at) => lines[at]?.endsWith(" missing"));
}

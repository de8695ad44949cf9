// Whether `git status` would show new files below a directory of the project. Reads only.

import { join } from "node:path";
import { fromProject } from "../names.ts";
import { ownGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";

/** `directory` is relative to the project. */
export async function hasUntracked(repository: Repository, directory: string): Promise<boolean> {
  const { toplevel, prefix, gitDir } = repository;
  const args = [
    "--literal-pathspecs",
    "ls-files",
    "--others",
    "--exclude-standard",
    "--directory",
    "--no-empty-directory",
  ];
  const call = { workTree: toplevel, index: join(gitDir, "index") };
  const { stdout } = await ownGit(repository, [...args, "-z", "--", fromProject(prefix, directory)], call);
  return stdout.length > 0;
}

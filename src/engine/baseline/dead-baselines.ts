// Deletes what a killed process left of a baseline: its batch, its worktree with what kept the snapshot, and its copy of a project outside git.

import type { Repository } from "../../git/repository.ts";
import { worktreePrefix } from "../../git/worktree/prefix.ts";
import { removeDeadBatches } from "../../store/files/batch.ts";
import type { StateLocation } from "../../store/location.ts";
import { removeDeadCopies } from "./copied-project.ts";
import { BASELINE, forgetSnapshots } from "./take-baseline.ts";

/** Returns how many batches and copies were deleted. `repository`: null outside git. */
export async function clearDeadBaselines(repository: Repository | null, location: StateLocation): Promise<number> {
  const batches = removeDeadBatches(location, `${BASELINE}-`);
  if (repository !== null) await forgetSnapshots(repository, `${worktreePrefix(location)}${BASELINE}-`);
  return batches.length + removeDeadCopies();
}

// What an earlier engine left in the repository: a change that was half brought in is finished, worktrees that nobody needs are removed.

import { pruneWorktrees } from "../../git/worktree/removal.ts";
import { adoptWorktree } from "../../git/worktree/worktree.ts";
import { requireSession } from "../../session/decide/operation.ts";
import { lastAttempt } from "../../session/session.ts";
import { purposeOf } from "../attempt/place.ts";
import type { Workshop } from "../run-context.ts";
import { settleProject } from "./settle-project.ts";

/** Before anything of the project is looked at, and after everything of the earlier engine has ended. */
export async function clearLeftovers({ isolation, store, warn, now }: Workshop): Promise<void> {
  const { repository } = isolation.options;
  if (repository === null) return;
  const settled = await settleProject({ repository, location: store.location }, store, now());
  if (settled !== undefined) warn(settled);
  for (const phase of requireSession(store.session).phases) {
    const last = lastAttempt(phase);
    const name = last?.placed?.worktree ?? null;
    // What is ours is not removed as a dead engine's.
    if (last !== undefined && name !== null && last.result === null) {
      adoptWorktree(repository, name, purposeOf({ phase: phase.id, ...last }));
    }
  }
  await pruneWorktrees(repository, isolation.options.prefix);
}

// What an earlier engine left in the repository: a change that was half brought in is finished, worktrees that nobody needs are removed.

import { adoptWorktree } from "../git/worktree.ts";
import { pruneWorktrees } from "../git/worktree-removal.ts";
import { requireSession } from "../session/decide.ts";
import { awaitsIntegration, lastAttempt, type SessionPhase } from "../session/session.ts";
import { describeIntent } from "../store/integration-file.ts";
import { settle } from "./bring-in.ts";
import type { Workshop } from "./workshop.ts";

/** Before anything of the project is looked at, and after everything of the earlier engine has ended. */
export async function clearLeftovers({ isolation, store, warn }: Workshop): Promise<void> {
  const { repository } = isolation.options;
  if (repository === null) return;
  const settled = await settle({ repository, location: store.location });
  if (settled !== undefined) {
    const how = settled.outcome === "applied" ? "was finished" : "was taken back: the files were changed meanwhile";
    warn(`${describeIntent(settled.intent)} ${how}`);
  }
  for (const phase of requireSession(store.session).phases) {
    const name = lastAttempt(phase)?.placed?.worktree ?? null;
    // What is ours is not removed as a dead engine's.
    if (name !== null && isNeeded(phase)) adoptWorktree(repository, name);
  }
  await pruneWorktrees(repository);
}

function isNeeded(phase: SessionPhase): boolean {
  return lastAttempt(phase)?.result === null || awaitsIntegration(phase);
}

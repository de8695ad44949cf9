// What attempts had done when their engine died, before their worktrees are let go of with the session: it is looked at, kept and recorded, as
// the engine would have done at their end.

import { errno, MaestroError, reasonOf } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { removeWorktree } from "../../git/worktree/removal.ts";
import { adoptWorktree, pathOf } from "../../git/worktree/worktree.ts";
import { lastAttempt } from "../../session/session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { examineWorktree } from "../attempt/examine.ts";
import { purposeOf } from "../attempt/place.ts";
import { endAll } from "../process/tree.ts";

/** How long an agent that outlived its engine may take to end. */
const GRACE_MS = 5000;

/** For a session that nobody goes on with, by whoever has claimed it as its engine. Tells what was kept. */
export async function rescueWork(
  repository: Repository,
  store: SessionStore,
  exclude: readonly string[],
): Promise<string[]> {
  const told: string[] = [];
  const runs = (store.session?.phases ?? []).flatMap((phase) => lastAttempt(phase)?.run ?? []);
  await endAll({ groups: new Set(), runs: new Set(runs) }, GRACE_MS);
  for (const phase of store.session?.phases ?? []) {
    const last = lastAttempt(phase);
    const { worktree: name = null, base = null } = last?.placed ?? {};
    if (last?.result !== null || name === null || base === null) continue;
    try {
      const worktree = adoptWorktree(repository, name, purposeOf({ phase: phase.id, ...last }));
      if (worktree === undefined) continue;
      const examined = { phase: phase.id, attempt: last.attempt };
      const { changes } = await examineWorktree({ repository, store, exclude }, examined, worktree, base);
      if (changes.total > 0) {
        store.update(() => ({ events: [{ type: "attempt.changed", ...examined, ...changes }], result: null }));
        const files = changes.total === 1 ? "1 file" : `${changes.total} files`;
        const where = `"maestro diff ${phase.id} --attempt ${last.attempt}" shows what it had done`;
        const rest =
          changes.unkept === undefined ? "" : `, without ${changes.unkept.length} that were too large to be kept`;
        told.push(`Phase ${phase.id} was at work on ${files} when its engine died; ${where}${rest}`);
      }
    } catch (error) {
      throw lost(phase.id, pathOf(repository, name), error);
    }
    await removeWorktree(repository, name);
  }
  return told;
}

/** It stays where it is. */
function lost(phase: string, path: string, error: unknown): unknown {
  if (!(error instanceof MaestroError) && errno(error) === undefined) return error;
  const reason = error instanceof MaestroError ? error.message : reasonOf(error);
  return new MaestroError("io", `The work of phase ${phase} could not be kept: ${reason}`, {
    hint: `It lies in ${path}. Mend that, or let go of it: git worktree remove --force "${path}"`,
    cause: error,
  });
}

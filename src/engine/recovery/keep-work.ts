// Keeps the work of attempts whose engine died, before their worktrees are removed with the session: it examines, commits and records the
// work as the engine would have done at the end of the attempt.

import { errno, MaestroError, reasonOf } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { removeWorktree } from "../../git/worktree/removal.ts";
import { adoptWorktree, pathOf } from "../../git/worktree/worktree.ts";
import type { PhaseId } from "../../ids.ts";
import { attemptChanged } from "../../session/decide/facts.ts";
import { isNative, lastAttempt, type Session } from "../../session/session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { examineWorktree } from "../attempt/examine.ts";
import { purposeOf } from "../attempt/place.ts";
import { endAll } from "../process/tree.ts";

/** Grace period for an agent that outlived its engine before it is killed. */
const GRACE_MS = 5000;

/** The worktrees of attempts without a recorded end, whose work has not been examined. */
export function unexaminedWorktrees(session: Session | undefined): string[] {
  const last = (session?.phases ?? []).flatMap((phase) => lastAttempt(phase) ?? []);
  return last.flatMap(({ result, placed }) => (result === null ? (placed?.worktree ?? []) : []));
}

/** For a session that will not be resumed; the caller holds the engine's lock. Returns what to tell the user. */
export async function keepWork(
  repository: Repository,
  store: SessionStore,
  exclude: readonly string[],
): Promise<string[]> {
  const told: string[] = [];
  const last = (store.session?.phases ?? []).flatMap((phase) => lastAttempt(phase) ?? []);
  const runs = last.filter((attempt) => !isNative(attempt)).map(({ run }) => run);
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
        store.update(() => ({ events: [attemptChanged(examined, changes)], result: null }));
        const files = changes.total === 1 ? "1 file" : `${changes.total} files`;
        const where = `"maestro diff ${phase.id} --attempt ${last.attempt}" shows its changes`;
        const rest =
          changes.unkept === undefined ? "" : `, except ${changes.unkept.length} that were too large to keep`;
        told.push(`Phase ${phase.id} had changed ${files} when its engine died; ${where}${rest}`);
      }
    } catch (error) {
      throw lost(phase.id, pathOf(repository, name), error);
    }
    await removeWorktree(repository, name);
  }
  return told;
}

/** The error for work that could not be kept; its worktree stays in place. */
function lost(phase: PhaseId, path: string, error: unknown): unknown {
  if (!(error instanceof MaestroError) && errno(error) === undefined) return error;
  const reason = error instanceof MaestroError ? error.message : reasonOf(error);
  return new MaestroError("io", `The work of phase ${phase} could not be kept: ${reason}`, {
    hint: `The work is in ${path}. Fix the problem, or discard the work: git worktree remove --force "${path}"`,
    cause: error,
  });
}

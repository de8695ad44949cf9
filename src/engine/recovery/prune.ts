// Deletes what earlier runs left in the repository: worktrees of dead processes and the kept work of old sessions. It never deletes the
// user's files, or anything that belongs to an active session.

import { clearObjects, hasObjects } from "../../git/objects/own-objects.ts";
import { collectLeftovers, dropKept, listKept } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { worktreePrefix } from "../../git/worktree/prefix.ts";
import { pruneWorktrees } from "../../git/worktree/removal.ts";
import { adoptWorktree } from "../../git/worktree/worktree.ts";
import { requireSession } from "../../session/decide/operation.ts";
import { lastAttempt, type Session } from "../../session/session.ts";
import { archivedNames } from "../../store/archive.ts";
import { tryClaimEngine } from "../../store/engine-lock.ts";
import { sweepResults } from "../../store/files/batch.ts";
import { readIntent } from "../../store/files/integration-file.ts";
import type { StateLocation } from "../../store/location.ts";
import { readSession } from "../../store/read-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { purposeOf } from "../attempt/place.ts";
import { clearDeadBaselines } from "../baseline/dead-baselines.ts";
import type { GitProject } from "../integrate/bring-in.ts";
import type { RunContext } from "../run-context.ts";
import { finishChange } from "./finish-change.ts";
import { unexaminedWorktrees } from "./keep-work.ts";
import { orReport, type Problem } from "./problem.ts";
import type { Recovery } from "./recover.ts";

/** Called when an engine starts, after all processes of the earlier engine have ended and before the project is read. */
export async function clearLeftovers({ isolation, store, batchId, warn, now }: RunContext): Promise<void> {
  const { repository } = isolation.options;
  sweepResults(store.location, batchId);
  await orReport(
    ({ message }) => warn(message),
    () => clearDeadBaselines(repository, store.location),
  );
  if (repository === null) return;
  const finished = await finishChange({ repository, location: store.location }, store, now());
  if (finished !== undefined) warn(finished);
  for (const phase of requireSession(store.session).phases) {
    const last = lastAttempt(phase);
    const name = last?.placed?.worktree ?? null;
    // This engine examines the worktree later, so it must not be pruned as a worktree of a dead engine.
    if (last !== undefined && name !== null && last.result === null) {
      adoptWorktree(repository, name, purposeOf({ phase: phase.id, ...last }));
    }
  }
  await pruneWorktrees(repository, isolation.options.prefix);
  await discardObjects({ repository, location: store.location }, store.session);
}

/**
 * Deletes Maestro's own objects, and copies of them that a killed process left in the user's, unless a half-applied change or an attempt
 * without a recorded end still needs them. Everything else that a session needs later is kept by references. The caller holds the engine's
 * lock.
 */
export async function discardObjects(
  { repository, location }: GitProject,
  session: Session | undefined,
): Promise<void> {
  const isOpen = (session?.phases ?? []).some((phase) => lastAttempt(phase)?.result === null);
  if (isOpen || readIntent(location) !== undefined || !hasObjects(repository)) return;
  await collectLeftovers(repository);
  await clearObjects(repository);
}

export interface Pruned {
  /** What happened to a half-applied change, if there was one. */
  finished: string | undefined;
  /** How many batches and copies of killed baselines were deleted. */
  baselines: number;
  /** Names of the worktrees that were removed. */
  worktrees: string[];
  /** Sessions whose kept work was deleted. */
  sessions: string[];
  problems: Problem[];
}

/** Outside git it deletes only what is left of baselines and of half-written results. `kept`: how many archived sessions keep their work. */
export async function prune({ store, now, open }: Omit<Recovery, "tell" | "warn">, kept: number): Promise<Pruned> {
  const pruned: Pruned = { finished: undefined, baselines: 0, worktrees: [], sessions: [], problems: [] };
  const attempt = <T>(work: () => Promise<T>) => orReport((problem) => void pruned.problems.push(problem), work);
  const opening = await attempt(open);
  const { location } = store;
  const found = opening?.kind === "open" ? opening.repository : null;
  await attempt(async () => sweepResults(location));
  pruned.baselines = (await attempt(() => clearDeadBaselines(found, location))) ?? 0;
  if (opening?.kind !== "open") return pruned;
  const { repository } = opening;
  const { state } = readSession(store);
  pruned.finished = await attempt(() => finishIfIdle({ repository, location }, store, now()));
  const needed = new Set(unexaminedWorktrees(store.session));
  pruned.worktrees = (await attempt(() => pruneWorktrees(repository, worktreePrefix(location), needed))) ?? [];
  if (state === "broken") return pruned;
  pruned.sessions = (await attempt(() => dropOld(repository, location, store.session?.session_id, kept))) ?? [];
  if (pruned.problems.length === 0) await attempt(() => discardIfIdle({ repository, location }, store));
  return pruned;
}

/** Skipped while an engine runs, because that engine finishes its own change. */
async function finishIfIdle(project: GitProject, store: SessionStore, now: Date): Promise<string | undefined> {
  if (readIntent(project.location) === undefined) return undefined;
  return whenIdle(project.location, () => finishChange(project, store, now));
}

/** Does nothing while an engine runs. */
export async function discardIfIdle(project: GitProject, store: SessionStore): Promise<void> {
  await whenIdle(project.location, () => discardObjects(project, store.session));
}

/** Does nothing while an engine runs. */
async function whenIdle<T>(location: StateLocation, work: () => Promise<T>): Promise<T | undefined> {
  const release = tryClaimEngine(location);
  if (release === undefined) return undefined;
  try {
    return await work();
  } finally {
    release();
  }
}

/** Drops only sessions that this project has archived: another project in the same repository may still use the others. */
async function dropOld(
  repository: Repository,
  location: StateLocation,
  active: string | undefined,
  kept: number,
): Promise<string[]> {
  const archived = new Set(archivedNames(location));
  const newestFirst = (await listKept(repository)).toReversed().map(({ session }) => session);
  const ended = [...new Set(newestFirst)].filter((id) => id !== active && archived.has(`${id}.jsonl`));
  const old = ended.slice(kept);
  for (const session of old) await dropKept(repository, session);
  return old;
}

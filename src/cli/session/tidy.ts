// Clears away what runs left in the repository and is of no more use: changes that were begun, worktrees of dead processes, the work of old
// sessions. Nothing of the user's is ever removed, and nothing of a session that somebody may still be at.

import type { GitProject } from "../../engine/integrate/bring-in.ts";
import { rescueWork } from "../../engine/recovery/rescue.ts";
import { settleProject } from "../../engine/recovery/settle-project.ts";
import { type ErrorCode, errno, MaestroError, reasonOf } from "../../errors.ts";
import { drop, list } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import { pruneWorktrees } from "../../git/worktree/removal.ts";
import { lastAttempt, type Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { archivedNames } from "../../store/archive.ts";
import { tryClaimEngine } from "../../store/engine-lock.ts";
import { readIntent } from "../../store/files/integration-file.ts";
import type { StateLocation } from "../../store/location.ts";
import { readSession } from "../../store/read-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { openStore } from "../context.ts";
import type { Io } from "../io.ts";
import { excluded, openProject, worktreePrefix } from "../work/repository.ts";

export interface Tidied {
  /** What became of a change that had been begun. */
  settled: string | undefined;
  /** Names of worktrees that were removed. */
  worktrees: string[];
  /** Sessions whose work was let go of. */
  sessions: string[];
  problems: Problem[];
}

export interface Problem {
  /** Absent for a word of the system. */
  code?: ErrorCode;
  message: string;
  hint?: string;
}

/** After a session was put away: what cannot be cleared is a warning, and the archive stands. */
export async function tidyRepository(io: Io, settings: ResolvedSettings): Promise<void> {
  const { settled, problems } = await tidy(io, settings);
  if (settled !== undefined) io.err(`WARNING: ${settled}\n`);
  for (const problem of problems) warn(io, problem);
}

/** Outside git there is nothing to clear. */
export async function tidy(io: Io, settings: ResolvedSettings): Promise<Tidied> {
  const tidied: Tidied = { settled: undefined, worktrees: [], sessions: [], problems: [] };
  const attempt = <T>(work: () => Promise<T>) => collecting(tidied.problems, work);
  const opening = await attempt(() => openProject(io));
  if (opening?.kind !== "open") return tidied;
  const { repository } = opening;
  const store = openStore(io, settings);
  try {
    const { state } = readSession(store);
    const project = { repository, location: store.location };
    tidied.settled = await attempt(() => settleIfIdle(project, store, io.now()));
    tidied.worktrees =
      (await attempt(() => pruneWorktrees(repository, worktreePrefix(store.location), neededBy(store.session)))) ?? [];
    if (state === "broken") return tidied;
    const kept = settings.values.MAESTRO_KEEP_REFS;
    tidied.sessions = (await attempt(() => dropOld(repository, store.location, store.session?.session_id, kept))) ?? [];
    return tidied;
  } finally {
    store.close();
  }
}

/** The worktrees that somebody has still to look into. */
export function neededBy(session: Session | undefined): ReadonlySet<string> {
  return new Set(unexamined(session));
}

/** The worktrees of attempts whose end nobody has seen. */
function unexamined(session: Session | undefined): string[] {
  const last = (session?.phases ?? []).flatMap((phase) => lastAttempt(phase) ?? []);
  return last.flatMap(({ result, placed }) => (result === null ? (placed?.worktree ?? []) : []));
}

/** So often one waits for others who are at the session. */
export const SETTLE_TURNS = 5;

/** `busy`: an engine is at the session, and may leave it as it was. A problem: what killed attempts had done could not be kept. */
export type Settled = "done" | "busy" | Problem;

/**
 * Before a session is put away, or after a person has decided against a phase: a change that was half in the project is finished or undone; if
 * that cannot be done it stays on record, and is told. `isOver`: nobody goes on with the session, and what killed attempts had done is kept.
 */
export async function settle(io: Io, settings: ResolvedSettings, isOver: boolean): Promise<Settled> {
  const store = openStore(io, settings);
  const { location } = store;
  try {
    readSession(store);
    const isOwed = isOver && unexamined(store.session).length > 0;
    const isBegun = (await orWarn(io, async () => readIntent(location) !== undefined)) ?? false;
    if (!isBegun && !isOwed) return "done";
    const opening = await orWarn(io, () => openProject(io));
    if (opening?.kind !== "open") return "done";
    const { repository } = opening;
    const release = tryClaimEngine(location);
    if (release === undefined) return "busy";
    try {
      // Whoever had it before may have been at it.
      readSession(store);
      const told = isBegun
        ? await orWarn(io, () => settleProject({ repository, location }, store, io.now()))
        : undefined;
      if (told !== undefined) io.err(`WARNING: ${told}\n`);
      return isOver ? await rescue(io, repository, store) : "done";
    } finally {
      release();
    }
  } finally {
    store.close();
  }
}

async function rescue(io: Io, repository: Repository, store: SessionStore): Promise<"done" | Problem> {
  try {
    const told = await rescueWork(repository, store, excluded(repository, store.location));
    for (const line of told) io.err(`${line}\n`);
    return "done";
  } catch (error) {
    return expected(error);
  }
}

/** Undefined, and a warning, for what a person can act on. */
async function orWarn<T>(io: Io, work: () => Promise<T>): Promise<T | undefined> {
  const problems: Problem[] = [];
  const done = await collecting(problems, work);
  for (const problem of problems) warn(io, problem);
  return done;
}

export function warn(io: Io, { message, hint }: Problem): void {
  io.err(`WARNING: ${message}\n${hint === undefined ? "" : `  ${hint}\n`}`);
}

/** An engine that runs is at it itself. */
async function settleIfIdle(project: GitProject, store: SessionStore, now: Date): Promise<string | undefined> {
  if (readIntent(project.location) === undefined) return undefined;
  const release = tryClaimEngine(project.location);
  if (release === undefined) return undefined;
  try {
    return await settleProject(project, store, now);
  } finally {
    release();
  }
}

/**
 * Lets go of sessions but for the last ones. Only of those that this project has put away: others may belong to another project of the
 * repository, where they are still at work.
 */
async function dropOld(
  repository: Repository,
  location: StateLocation,
  active: string | undefined,
  kept: number,
): Promise<string[]> {
  const archived = new Set(archivedNames(location));
  const newestFirst = (await list(repository)).toReversed().map(({ session }) => session);
  const ended = [...new Set(newestFirst)].filter((id) => id !== active && archived.has(`${id}.jsonl`));
  const old = ended.slice(kept);
  for (const session of old) await drop(repository, session);
  return old;
}

async function collecting<T>(problems: Problem[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    problems.push(expected(error));
    return undefined;
  }
}

/** What a person can act on; anything else is a defect. */
export function expected(error: unknown): Problem {
  if (error instanceof MaestroError || errno(error) !== undefined) return problemOf(error);
  throw error;
}

export function problemOf(error: unknown): Problem {
  if (!(error instanceof MaestroError)) return { message: reasonOf(error) };
  const { code, message, hint } = error;
  return hint === undefined ? { code, message } : { code, message, hint };
}

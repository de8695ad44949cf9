// maestro diff [phase]: shows what an attempt, or the whole session, changed, from the recorded trees. It changes nothing.

import { workPatch } from "../../engine/kept-work.ts";
import { MaestroError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { requirePhase } from "../../session/decide/operation.ts";
import { phaseState } from "../../session/phase/phase-state.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import type { StateLocation } from "../../store/location.ts";
import { seenSession } from "../../store/seen-session.ts";
import { diffText, statLines } from "../../views/diff.ts";
import { oneLine } from "../../views/text/cell.ts";
import { isInProject, sessionWork } from "../../views/work.ts";
import { openStore, settingsOf } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { paint } from "../paint.ts";
import {
  type AttemptWithChanges,
  requireRepository,
  unchangedLine,
  unkeptLine,
  type WorkFlags,
  workedAttempt,
} from "./kept-work.ts";
import { sessionFor } from "./results.ts";

export interface DiffFlags extends WorkFlags {
  stat?: boolean;
}

export async function diff(io: Io, id: string | undefined, flags: DiffFlags): Promise<number> {
  const store = openStore(io, settingsOf(io));
  const session = seenSession(store.location, sessionFor(store, flags.session), io.now());
  if (id === undefined) return wholeDiff(io, store.location, session, flags);
  const phase = requirePhase(session, id);
  const attempt = workedAttempt(phase, flags.attempt);
  if (flags.json) printJson(io, facts(session, phase, attempt));
  else if (attempt === undefined || attempt.changes.total === 0) {
    const isDriven = flags.session === undefined && runningEngine(store.location) !== undefined;
    const isRunning = phaseState(session, phase, isDriven) === "running";
    io.err(`${unchangedLine(phase, attempt, flags, isRunning)}\n`);
  } else if (flags.stat) io.out(`${stat(io, phase, attempt).join("\n")}\n`);
  else
    await printPatch(
      io,
      await requireRepository(io, store.location, { phase: id, session: flags.session }),
      session,
      id,
      attempt,
    );
  return 0;
}

/** What is in the project of the session's work, in the order in which it came in. */
async function wholeDiff(io: Io, location: StateLocation, session: Session, flags: DiffFlags): Promise<number> {
  if (flags.attempt !== undefined) throw new MaestroError("usage", "--attempt needs a phase");
  const works = sessionWork(session);
  if (flags.json) {
    printJson(io, {
      session: session.session_id,
      work: works.map(({ phase, attempt }) => facts(session, phase, attempt)),
    });
    return 0;
  }
  if (works.length === 0) io.err(`Nothing that session ${session.session_id} changed is in the project\n`);
  // Opened before anything is printed: without the repository the answer is an error.
  const repository =
    works.length === 0 || flags.stat ? null : await requireRepository(io, location, { session: flags.session });
  for (const { phase, attempt } of works) {
    io.out(`# Phase ${phase.id}, ${oneLine(phase.name)}, attempt ${attempt.attempt}\n`);
    if (repository === null) io.out(`${stat(io, phase, attempt).join("\n")}\n`);
    else await printPatch(io, repository, session, phase.id, attempt);
  }
  return 0;
}

/** The changes that the journal recorded: available without a repository, and after the kept work is deleted. */
function facts({ session_id: session }: Session, phase: SessionPhase, attempt: AttemptWithChanges | undefined) {
  const about = { session, phase: phase.id, attempt: attempt?.attempt ?? null };
  const none = { base: null, commit: null, files: [], total: 0, added: 0, removed: 0, outside: [] };
  return { ...about, integrated: attempt !== undefined && isInProject(phase, attempt), ...(attempt?.changes ?? none) };
}

function stat(io: Io, phase: SessionPhase, work: AttemptWithChanges): string[] {
  const { attempt, changes } = work;
  return statLines({ phase: phase.id, attempt, changes, isIntegrated: isInProject(phase, work) }, paint(io.color));
}

async function printPatch(
  io: Io,
  repository: Repository,
  { session_id }: Session,
  id: string,
  attempt: AttemptWithChanges,
): Promise<void> {
  const { patch } = await workPatch(repository, session_id, { phase: id, attempt });
  const missing = unkeptLine(attempt.changes);
  if (missing !== undefined) io.err(`WARNING: ${missing}\n`);
  // Other programs get the patch byte for byte.
  io.out(io.terminal ? diffText(patch.toString("utf8"), paint(io.color)) : patch);
}

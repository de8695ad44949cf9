// maestro diff <phase>: shows what an attempt changed, from the recorded trees. It changes nothing.

import { patchBetween } from "../../git/objects/patch.ts";
import { requirePhase } from "../../session/decide/operation.ts";
import { lastAttempt, type Session, type SessionPhase } from "../../session/session.ts";
import { diffText, statLines } from "../../views/diff.ts";
import { isInProject } from "../../views/work.ts";
import { openStore, settingsOf } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { paint } from "../paint.ts";
import {
  type AttemptWithChanges,
  requireKept,
  requireRepository,
  unkeptLine,
  type WorkFlags,
  workedAttempt,
} from "./kept-work.ts";
import { sessionFor } from "./results.ts";

export interface DiffFlags extends WorkFlags {
  stat?: boolean;
}

export async function diff(io: Io, id: string, flags: DiffFlags): Promise<number> {
  const session = sessionFor(openStore(io, settingsOf(io)), flags.session);
  const phase = requirePhase(session, id);
  const attempt = workedAttempt(phase, flags.attempt);
  if (flags.json) printJson(io, facts(session, phase, attempt));
  else if (attempt === undefined || attempt.changes.total === 0) io.err(`${unchanged(phase, attempt, flags)}\n`);
  else if (flags.stat) io.out(`${stat(io, phase, attempt).join("\n")}\n`);
  else await printPatch(io, session, id, attempt);
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

function unchanged(phase: SessionPhase, attempt: AttemptWithChanges | undefined, flags: DiffFlags): string {
  const { id } = phase;
  if (attempt !== undefined) return `Attempt ${attempt.attempt} of phase ${id} changed nothing`;
  const who = flags.attempt === undefined ? `any attempt of phase ${id}` : `attempt ${flags.attempt} of phase ${id}`;
  const last = lastAttempt(phase);
  const isCutOff = last?.result === null && last.placed !== undefined;
  const later = isCutOff
    ? ` yet; attempt ${last.attempt} has no recorded end: "maestro resume" or "maestro abort" records its changes`
    : "";
  return `No recorded changes for ${who}${later}`;
}

async function printPatch(io: Io, { session_id }: Session, id: string, attempt: AttemptWithChanges): Promise<void> {
  const repository = await requireRepository(io);
  const { base, commit } = await requireKept(repository, session_id, id, attempt);
  const patch = await patchBetween(repository, base, commit);
  const missing = unkeptLine(attempt.changes);
  if (missing !== undefined) io.err(`WARNING: ${missing}\n`);
  // Other programs get the patch byte for byte.
  io.out(io.terminal ? diffText(patch.toString("utf8"), paint(io.color)) : patch);
}

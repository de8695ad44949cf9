// Finds an attempt's work: selects the attempt that the user means.

import { openProject } from "../../engine/open-project.ts";
import { MaestroError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import { type Attempt, type Changes, isNative, lastAttempt, type SessionPhase } from "../../session/session.ts";
import type { StateLocation } from "../../store/location.ts";
import { oneLine } from "../../views/text/cell.ts";
import { isInProject, someOf } from "../../views/work.ts";
import type { Io } from "../io.ts";

export interface WorkFlags {
  session?: string;
  attempt?: string;
  json?: boolean;
}

/** An attempt whose changes are recorded. */
export type AttemptWithChanges = Attempt & { changes: Changes };

/** The attempt with this number; without a number, the last one that changed files, or else the last one with recorded changes. */
export function workedAttempt(phase: SessionPhase, number: string | undefined): AttemptWithChanges | undefined {
  const worked = phase.attempts.filter(isWorked);
  if (number === undefined) return worked.findLast(({ changes }) => changes.total > 0) ?? worked.at(-1);
  const { attempt } = numbered(phase, number);
  return worked.find((one) => one.attempt === attempt);
}

/** The last attempt whose work is in the project, or the one with this number; throws if its work is not in the project. */
export function integratedAttempt(phase: SessionPhase, number: string | undefined): AttemptWithChanges {
  const meant = number === undefined ? phase.attempts : [numbered(phase, number)];
  const there = meant.filter(isWorked).filter((attempt) => isInProject(phase, attempt));
  const found = there.findLast(({ changes }) => changes.total > 0) ?? there.at(-1);
  if (found !== undefined) return found;
  const what =
    number === undefined ? `No attempt of phase ${phase.id} is` : `Attempt ${number} of phase ${phase.id} is not`;
  throw new MaestroError("not_found", `${what} recorded as applied to the project`, {
    hint: `See its changes with "maestro diff ${phase.id}".`,
  });
}

function numbered({ id, attempts }: SessionPhase, number: string): Attempt {
  const found = attempts.find((one) => String(one.attempt) === number);
  if (found !== undefined) return found;
  const known = attempts.map(({ attempt }) => attempt).join(", ");
  throw new MaestroError("not_found", `Phase ${id} has no attempt ${number}`, {
    hint: known === "" ? 'See "maestro status".' : `It has ${known}.`,
  });
}

function isWorked(attempt: Attempt): attempt is AttemptWithChanges {
  return attempt.changes !== undefined;
}

/** `wanted`: the phase and the session whose work is wanted; without them all of the session that is shown by default. */
export async function requireRepository(
  io: Io,
  location: StateLocation,
  wanted: { phase?: string; session?: string | undefined },
): Promise<Repository> {
  const opening = await openProject({ ...io, location });
  if (opening.kind === "open") return opening.repository;
  const help =
    opening.kind === "refused" ? opening.hint : "Without git, Maestro records only the names of changed files.";
  const { phase, session } = wanted;
  const words = [
    ...(phase === undefined ? [] : [phase]),
    "--stat",
    ...(session === undefined ? [] : ["--session", session]),
  ];
  const names = `See which files changed with "maestro diff ${words.join(" ")}".`;
  throw new MaestroError("environment", `Cannot read the work of attempts, which is kept in git: ${opening.reason}`, {
    hint: help === undefined ? names : `${help} ${names}`,
  });
}

const MAX_NAMED = 10;

/** Names the changes that were not kept and so cannot be shown or applied; undefined if all were kept. */
export function unkeptLine({ unkept = [] }: Changes): string | undefined {
  if (unkept.length === 0) return undefined;
  return `Not kept (too large, and not owned by the phase): ${someOf(unkept.map(oneLine), MAX_NAMED)}`;
}

/** Why an attempt, or the phase, has nothing to show or to apply. */
export function unchangedLine(
  phase: SessionPhase,
  attempt: AttemptWithChanges | undefined,
  { attempt: number }: WorkFlags,
  isRunning: boolean,
): string {
  const { id } = phase;
  if (attempt !== undefined) return `Attempt ${attempt.attempt} of phase ${id} changed nothing`;
  const who = number === undefined ? `any attempt of phase ${id}` : `attempt ${number} of phase ${id}`;
  const last = lastAttempt(phase);
  if (last?.result === null && isRunning) return `No recorded changes for ${who} yet: its agent is running`;
  const isCutOff = last?.result === null && (last.placed !== undefined || isNative(last));
  const later = isCutOff
    ? ` yet; attempt ${last.attempt} has no recorded end: "maestro resume" or "maestro abort" records its changes`
    : "";
  return `No recorded changes for ${who}${later}`;
}

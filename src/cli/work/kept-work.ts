// The work of an attempt as the session recorded it and the repository keeps it: which attempt is meant, and whether its commit is still there.

import { openProject } from "../../engine/open-project.ts";
import { MaestroError } from "../../errors.ts";
import { missingObjects } from "../../git/objects/objects.ts";
import { listKept } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import type { CommitId, ObjectId, SessionId } from "../../ids.ts";
import type { Attempt, Changes, SessionPhase } from "../../session/session.ts";
import { oneLine } from "../../views/text/cell.ts";
import { isInProject, someOf } from "../../views/work.ts";
import type { Io } from "../io.ts";

export interface WorkFlags {
  session?: string;
  attempt?: string;
  json?: boolean;
}

/** An attempt whose files are known. */
export type AttemptWithChanges = Attempt & { changes: Changes };

/** The attempt of that number; without one the last that changed something, or else the last that was looked at. */
export function workedAttempt(phase: SessionPhase, number: string | undefined): AttemptWithChanges | undefined {
  const worked = phase.attempts.filter(isWorked);
  if (number === undefined) return worked.findLast(({ changes }) => changes.total > 0) ?? worked.at(-1);
  const { attempt } = numbered(phase, number);
  return worked.find((one) => one.attempt === attempt);
}

/** The last attempt whose work is in the project, or the one of that number, which has to be. */
export function integratedAttempt(phase: SessionPhase, number: string | undefined): AttemptWithChanges {
  const meant = number === undefined ? phase.attempts : [numbered(phase, number)];
  const there = meant.filter(isWorked).filter((attempt) => isInProject(phase, attempt));
  const found = there.findLast(({ changes }) => changes.total > 0) ?? there.at(-1);
  if (found !== undefined) return found;
  const what =
    number === undefined ? `Nothing of phase ${phase.id} is` : `Attempt ${number} of phase ${phase.id} is not`;
  throw new MaestroError("not_found", `${what} recorded as brought into the project`, {
    hint: `"maestro diff ${phase.id}" shows what it did.`,
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

export async function requireRepository(io: Io): Promise<Repository> {
  const opening = await openProject(io);
  if (opening.kind === "open") return opening.repository;
  const hint = opening.kind === "refused" ? opening.hint : "Without git only the names of changed files are known.";
  throw new MaestroError("environment", `The work of attempts is kept with git: ${opening.reason}`, { hint });
}

const MAX_NAMED = 10;

/** What of the work cannot be shown or applied; undefined when all of it can. */
export function unkeptLine({ unkept = [] }: Changes): string | undefined {
  if (unkept.length === 0) return undefined;
  return `Not kept, because it was too large and outside of the phase's files: ${someOf(unkept.map(oneLine), MAX_NAMED)}`;
}

export interface KeptWork {
  base: CommitId;
  /** A commit, or a tree without what the phase does not own. */
  commit: ObjectId;
}

/** What the journal says, when the repository agrees. */
export async function requireKept(
  repository: Repository,
  session: SessionId,
  phase: string,
  { attempt, changes: { base, commit } }: AttemptWithChanges,
): Promise<KeptWork> {
  const what = `attempt ${attempt} of phase ${phase}`;
  if (base === null || commit === null) {
    throw new MaestroError(
      "not_found",
      `The content of ${what} was not kept: it shared the project with others, or git was not there`,
      {
        hint: `"maestro diff ${phase} --stat" shows which files changed.`,
      },
    );
  }
  const ref = (await listKept(repository, session)).find((one) => one.phase === phase && one.attempt === attempt);
  if (ref !== undefined && ref.commit !== commit) {
    throw new MaestroError("conflict", `${ref.ref} is not what the session recorded for ${what}: ${commit}`, {
      hint: "Somebody moved it, or another project of this repository has a session of the same name.",
    });
  }
  const [missing] = await missingObjects(repository, [commit, base]);
  if (missing === undefined) return { base, commit };
  throw new MaestroError("not_found", `The work of ${what} is gone: the repository does not have ${missing} any more`, {
    hint: "Work is kept for the last sessions only: MAESTRO_KEEP_REFS says how many.",
  });
}

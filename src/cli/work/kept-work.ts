// The work of an attempt as the session recorded it and the repository keeps it: which attempt is meant, and whether its commit is still there.

import { MaestroError } from "../../errors.ts";
import { missingObjects } from "../../git/objects/objects.ts";
import { list } from "../../git/refs.ts";
import type { Repository } from "../../git/repository.ts";
import type { Attempt, Changes, SessionPhase } from "../../session/session.ts";
import { oneLine } from "../../views/text/cell.ts";
import { someOf } from "../../views/work.ts";
import type { Io } from "../io.ts";
import { openProject } from "./repository.ts";

export interface WorkFlags {
  session?: string;
  attempt?: string;
  json?: boolean;
}

/** An attempt whose files are known. */
export type Worked = Attempt & { changes: Changes };

/** The attempt of that number; without one the last that changed something, or else the last that was looked at. */
export function workedAttempt(phase: SessionPhase, number: string | undefined): Worked | undefined {
  const worked = phase.attempts.filter(isWorked);
  if (number === undefined) return worked.findLast(({ changes }) => changes.total > 0) ?? worked.at(-1);
  const { attempt } = numbered(phase, number);
  return worked.find((one) => one.attempt === attempt);
}

/** The last attempt whose work is in the project, or the one of that number, which has to be. */
export function integratedAttempt(phase: SessionPhase, number: string | undefined): Worked {
  const meant = number === undefined ? phase.attempts : [numbered(phase, number)];
  const there = meant.filter(isWorked).filter(isInProject);
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

/** Brought in, or done there: then also what a failed attempt left. */
export function isInProject({ integrated, reverted, placed, changes }: Worked): boolean {
  if (reverted) return false;
  return integrated !== undefined || (placed?.worktree === null && changes.total > 0);
}

function isWorked(attempt: Attempt): attempt is Worked {
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

export interface Kept {
  base: string;
  commit: string;
}

/** What the journal says, when the repository agrees. */
export async function requireKept(
  repository: Repository,
  session: string,
  phase: string,
  { attempt, changes: { base, commit } }: Worked,
): Promise<Kept> {
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
  const ref = (await list(repository, session)).find((one) => one.phase === phase && one.attempt === attempt);
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

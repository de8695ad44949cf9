// The work of an attempt that the repository keeps: checked against the record, and as a patch. For the command line, the engine and hooks.

import { MaestroError } from "../errors.ts";
import { missingObjects } from "../git/objects/objects.ts";
import { patchBetween } from "../git/objects/patch.ts";
import { listKept } from "../git/refs.ts";
import type { Repository } from "../git/repository.ts";
import type { CommitId, ObjectId, SessionId } from "../ids.ts";
import type { WorkedAttempt } from "../views/work.ts";

export interface KeptWork {
  base: CommitId;
  /** A commit, or a tree without the files that the phase does not own. */
  commit: ObjectId;
}

/** The work that the journal recorded, after checking that the repository still has it. */
export async function requireKept(
  repository: Repository,
  session: SessionId,
  phase: string,
  { attempt, changes: { base, commit } }: WorkedAttempt,
): Promise<KeptWork> {
  const what = `attempt ${attempt} of phase ${phase}`;
  if (base === null || commit === null) {
    throw new MaestroError(
      "not_found",
      `The content of ${what} was not kept: it shared the project with other attempts, or git was not available`,
      {
        hint: `See which files changed with "maestro diff ${phase} --stat".`,
      },
    );
  }
  const ref = (await listKept(repository, session)).find((one) => one.phase === phase && one.attempt === attempt);
  if (ref !== undefined && ref.commit !== commit) {
    throw new MaestroError(
      "conflict",
      `${ref.ref} is not the commit that the session recorded for ${what}: ${commit}`,
      {
        hint: "The ref was moved, or another project in this repository has a session with the same name.",
      },
    );
  }
  const [missing] = await missingObjects(repository, [commit, base]);
  if (missing === undefined) return { base, commit };
  throw new MaestroError(
    "not_found",
    `The work of ${what} does not exist any more: the repository does not have ${missing}`,
    {
      hint: "Only the work of the last sessions is kept; MAESTRO_KEEP_REFS sets how many.",
    },
  );
}

/** What the attempt changed as a unified diff. */
export async function workPatch(
  repository: Repository,
  session: SessionId,
  { phase, attempt }: { phase: string; attempt: WorkedAttempt },
): Promise<KeptWork & { patch: Buffer }> {
  const kept = await requireKept(repository, session, phase, attempt);
  return { ...kept, patch: await patchBetween(repository, kept.base, kept.commit) };
}

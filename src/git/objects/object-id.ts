// Names of objects on their way into a git command: full ids and nothing else, so that no text from a journal, a marker or a reference can be
// an option, a reference, a path or the beginning of another id.

import { MaestroError } from "../../errors.ts";
import type { CommitId, ObjectId, TreeId } from "../../ids.ts";
import { stripControls } from "../../text.ts";
import type { Repository } from "../repository.ts";

/** Stands before the first argument that comes from outside: git takes what follows for no option. */
export const END_OF_OPTIONS = "--end-of-options";

const MAX_SHOWN = 80;
const forms = { sha1: /^[0-9a-f]{40}$/, sha256: /^[0-9a-f]{64}$/ };

/** The id as it is; anything but a full id of this repository's kind is refused. */
export function objectId({ objectFormat }: Pick<Repository, "objectFormat">, id: unknown): ObjectId {
  if (typeof id === "string" && forms[objectFormat].test(id)) return id as ObjectId;
  const shown = stripControls(String(id)).replace(/\s+/g, " ").slice(0, MAX_SHOWN);
  throw new MaestroError("parse_failed", `Not a full object id of this repository (got: ${shown})`, {
    hint: 'The session or the cache of its worktrees is damaged: run "maestro doctor".',
  });
}

/** What a command of git that makes or finds a tree answered. */
export function answeredTree(repository: Pick<Repository, "objectFormat">, stdout: Buffer): TreeId {
  return objectId(repository, stdout.toString().trim()) as TreeId;
}

/** What a command of git that makes or finds a commit answered. */
export function answeredCommit(repository: Pick<Repository, "objectFormat">, stdout: Buffer): CommitId {
  return objectId(repository, stdout.toString().trim()) as CommitId;
}

// Checks object ids before they become arguments of a git command: full ids only, so that no text from a journal, a marker or a reference
// can act as an option, a reference, a path or an abbreviated id.

import { MaestroError } from "../../errors.ts";
import type { ObjectId, TreeId } from "../../ids.ts";
import { stripControls } from "../../text.ts";
import type { Repository } from "../repository.ts";

/** Goes before the first argument that comes from outside: git treats nothing after it as an option. */
export const END_OF_OPTIONS = "--end-of-options";

const MAX_SHOWN = 80;
const forms = { sha1: /^[0-9a-f]{40}$/, sha256: /^[0-9a-f]{64}$/ };

/** Returns the id unchanged; rejects anything but a full id in this repository's format. */
export function objectId({ objectFormat }: Pick<Repository, "objectFormat">, id: unknown): ObjectId {
  if (typeof id === "string" && forms[objectFormat].test(id)) return id as ObjectId;
  const shown = stripControls(String(id)).replace(/\s+/g, " ").slice(0, MAX_SHOWN);
  throw new MaestroError("parse_failed", `Not a full object id of this repository (got: ${shown})`, {
    hint: 'The session or the cache of its worktrees is damaged: run "maestro doctor".',
  });
}

/** The tree id that git printed. */
export function answeredTree(repository: Pick<Repository, "objectFormat">, stdout: Buffer): TreeId {
  return objectId(repository, stdout.toString().trim()) as TreeId;
}

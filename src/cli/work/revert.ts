// maestro revert <phase>: removes an attempt's change from the project and keeps later changes.

import { decideReverted } from "../../session/decide/applied-work.ts";
import type { Io } from "../io.ts";
import { type ChangeVerb, changeProject } from "./change-project.ts";
import { integratedAttempt, type WorkFlags } from "./kept-work.ts";

const verb: ChangeVerb = {
  what: "revert",
  done: "reverted",
  choose: integratedAttempt,
  merge: ({ base, commit }) => ({ base: commit, theirs: base }),
  already: "is not in the project any more",
  advice: (phase) =>
    `Later changes depend on it; see what would be removed with "maestro diff ${phase}". Change these files by hand, then revert it again.`,
  next: ({ phase: { id, status } }) =>
    status === "completed" ? `Phase ${id} is still recorded as completed.` : undefined,
  events: decideReverted,
};

export function revert(io: Io, id: string, flags: WorkFlags): Promise<number> {
  return changeProject(io, id, flags, verb);
}

// maestro revert <phase>: takes the change of an attempt out of the project again; what came after it stays.

import type { SessionEvent } from "../../session/events.ts";
import { hashFiles } from "../../store/files/project-files.ts";
import type { Io } from "../io.ts";
import { changeProject, type Deed } from "./change-project.ts";
import { integratedAttempt, type WorkFlags } from "./kept-work.ts";

const deed: Deed = {
  what: "revert",
  done: "reverted",
  choose: integratedAttempt,
  merge: ({ base, commit }) => ({ base: commit, theirs: base }),
  already: "is not in the project any more",
  advice: (phase) =>
    `What came later stands on it: "maestro diff ${phase}" shows what would go. Change these files by hand, then revert it again.`,
  next: ({ phase: { id, status } }) =>
    status === "completed" ? `Phase ${id} is still recorded as completed.` : undefined,
  events: ({ phase, attempt }, trees, { files, projectRoot }) => {
    const all = [...files.created, ...files.modified, ...files.deleted];
    const reverted: SessionEvent = { type: "phase.reverted", phase: phase.id, attempt: attempt.attempt, ...trees };
    if (all.length === 0) return [reverted];
    // None of them are files that the phase has made; but what they hold now is as it should be.
    const hashes = hashFiles(projectRoot, all);
    return [reverted, { type: "phase.files_added", phase: phase.id, created: [], modified: [], deleted: [], hashes }];
  },
};

export function revert(io: Io, id: string, flags: WorkFlags): Promise<number> {
  return changeProject(io, id, flags, deed);
}

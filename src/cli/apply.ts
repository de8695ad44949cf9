// maestro apply <phase>: merges the change of an attempt into the project as it is now, because a person asks for it.

import { decideFiles } from "../session/decide.ts";
import { hashFiles } from "../store/project-files.ts";
import { oneLine } from "../views/cell.ts";
import { someOf } from "../views/work.ts";
import { changeProject, type Deed } from "./change-project.ts";
import type { Io } from "./io.ts";
import { type WorkFlags, workedAttempt } from "./kept-work.ts";

const MAX_PATHS = 10;

const deed: Deed = {
  what: "apply",
  done: "applied",
  choose: workedAttempt,
  merge: ({ base, commit }) => ({ base, theirs: commit }),
  already: "is in the project already",
  advice: (phase) =>
    `The work is kept: "maestro diff ${phase}" shows it. Change these files so that it fits, then apply it again.`,
  warning: ({ phase, attempt }, paths) => {
    const outside = attempt.changes.outside.filter((path) => paths.has(path));
    if (outside.length === 0) return undefined;
    const files = someOf(outside.map(oneLine), MAX_PATHS);
    return `Not among the files of phase ${phase.id}, and applied because you asked: ${files}`;
  },
  next: ({ phase: { id, status } }) =>
    status === "failed"
      ? `Phase ${id} is still failed: "maestro retry ${id}" lets its agent go on from here, "maestro skip ${id}" goes on without it.`
      : undefined,
  events: ({ session, phase, attempt }, trees, { files, projectRoot }) => {
    const all = [...files.created, ...files.modified, ...files.deleted];
    const recorded = decideFiles(session, phase.id, files, hashFiles(projectRoot, all));
    if (attempt.integrated !== undefined) return recorded;
    const about = { phase: phase.id, attempt: attempt.attempt, ...trees, user_decision: true };
    return [{ type: "phase.integrated", ...about }, ...recorded];
  },
};

export function apply(io: Io, id: string, flags: WorkFlags): Promise<number> {
  return changeProject(io, id, flags, deed);
}

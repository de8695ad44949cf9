// maestro apply <phase>: merges the change of an attempt into the project as it is now, because a person asks for it.

import { decideApplied, settlesPhase } from "../../session/decide/applied-work.ts";
import { oneLine } from "../../views/text/cell.ts";
import { someOf } from "../../views/work.ts";
import type { Io } from "../io.ts";
import { changeProject, type Deed } from "./change-project.ts";
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
  next: (work) => {
    const { id, status, plan } = work.phase;
    if (status !== "failed") return undefined;
    if (!settlesPhase(work)) {
      return `Phase ${id} is still failed: "maestro retry ${id}" lets its agent go on from here, "maestro skip ${id}" goes on without it.`;
    }
    return (plan?.validation ?? []).length === 0
      ? `Phase ${id} is completed by it. Go on with "maestro resume".`
      : `Phase ${id} is done but for its validation: "maestro verify ${id}", or "maestro resume".`;
  },
  events: decideApplied,
};

export function apply(io: Io, id: string, flags: WorkFlags): Promise<number> {
  return changeProject(io, id, flags, deed);
}

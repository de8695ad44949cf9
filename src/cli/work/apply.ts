// maestro apply <phase>: merges an attempt's change into the current project at the user's request.

import { decideApplied, settlesPhase } from "../../session/decide/applied-work.ts";
import { oneLine } from "../../views/text/cell.ts";
import { someOf } from "../../views/work.ts";
import type { Io } from "../io.ts";
import { type ChangeVerb, changeProject } from "./change-project.ts";
import { type WorkFlags, workedAttempt } from "./kept-work.ts";

const MAX_PATHS = 10;

const verb: ChangeVerb = {
  what: "apply",
  done: "applied",
  choose: workedAttempt,
  merge: ({ base, commit }) => ({ base, theirs: commit }),
  already: "is already in the project",
  advice: (phase) =>
    `The work is kept; see it with "maestro diff ${phase}". Change these files so that the work merges, then apply it again.`,
  warning: ({ phase, attempt }, paths) => {
    const outside = attempt.changes.outside.filter((path) => paths.has(path));
    if (outside.length === 0) return undefined;
    const files = someOf(outside.map(oneLine), MAX_PATHS);
    return `Applied files that phase ${phase.id} does not own: ${files}`;
  },
  next: (work) => {
    const { id, status, plan } = work.phase;
    if (status !== "failed") return undefined;
    if (!settlesPhase(work)) {
      return `Phase ${id} is still failed: "maestro retry ${id}" lets its agent continue from here, "maestro skip ${id}" skips it.`;
    }
    return (plan?.validation ?? []).length === 0
      ? `This completes phase ${id}. Continue with "maestro resume".`
      : `Phase ${id} only needs validation now: run "maestro verify ${id}" or "maestro resume".`;
  },
  events: decideApplied,
};

export function apply(io: Io, id: string, flags: WorkFlags): Promise<number> {
  return changeProject(io, id, flags, verb);
}

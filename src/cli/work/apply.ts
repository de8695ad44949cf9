// maestro apply <phase>: merges the change of an attempt into the project as it is now, because a person asks for it.

import { decideFiles } from "../../session/decide/operation.ts";
import type { SessionEvent } from "../../session/events.ts";
import { hasReported } from "../../session/session.ts";
import { judgeMove } from "../../session/transitions.ts";
import { hashFiles } from "../../store/files/project-files.ts";
import { oneLine } from "../../views/text/cell.ts";
import { someOf } from "../../views/work.ts";
import type { Io } from "../io.ts";
import { changeProject, type Deed, type Work } from "./change-project.ts";
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
  events: (work, trees, { files, projectRoot }) => {
    const { session, phase, attempt } = work;
    const all = [...files.created, ...files.modified, ...files.deleted];
    const recorded = decideFiles(session, phase.id, files, hashFiles(projectRoot, all));
    const about = { phase: phase.id, attempt: attempt.attempt, ...trees, user_decision: true };
    const integrated: SessionEvent[] =
      attempt.integrated === undefined ? [{ type: "phase.integrated", ...about }, ...recorded] : recorded;
    return settlesPhase(work) ? settled(work, integrated) : integrated;
  },
};

/** The agent had succeeded, and only its work had not come in: now it has. */
function settlesPhase({ session, phase, attempt }: Work): boolean {
  const again = { to: "in_progress", userDecision: true, maxRetries: 0 } as const;
  return (
    phase.status === "failed" &&
    attempt === phase.attempts.at(-1) &&
    hasReported(phase) &&
    judgeMove(session, phase, again).legal
  );
}

function settled({ phase }: Work, integrated: SessionEvent[]): SessionEvent[] {
  const { id, handoff, agents, plan } = phase;
  const reason = "its work was applied by hand";
  const move = { type: "phase.moved", phase: id, user_decision: true, reason } as const;
  const isDone = (plan?.validation ?? []).length === 0;
  return [
    { ...move, from: "failed", to: "in_progress" },
    ...(handoff === undefined
      ? []
      : [{ type: "phase.handed_off" as const, phase: id, agent: agents[0] ?? "unknown", handoff }]),
    ...integrated,
    ...(isDone ? [{ ...move, from: "in_progress" as const, to: "completed" as const }] : []),
  ];
}

export function apply(io: Io, id: string, flags: WorkFlags): Promise<number> {
  return changeProject(io, id, flags, deed);
}

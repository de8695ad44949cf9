// Brings the project's files from one tree to another, all of them or none: the intent is written down first, and recovery/finish-change.ts
// finishes it after a crash. The caller holds the engine's lock.

import { crashPoint } from "../../disk/fault.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { executePlan, finish } from "../../git/apply/apply.ts";
import { type ApplyPlan, planApply } from "../../git/apply/apply-plan.ts";
import type { Repository } from "../../git/repository.ts";
import { describeIntent, type Intent, removeIntent, writeIntent } from "../../store/files/integration-file.ts";
import type { StateLocation } from "../../store/location.ts";

export interface GitProject {
  repository: Repository;
  location: StateLocation;
}

/** `changed`: somebody changed these files since the tree `from` was taken; the project is as it was, but for what they did. */
export type BroughtIn = { kind: "applied" } | { kind: "changed"; paths: string[] };

export async function bringIn(project: GitProject, intent: Intent): Promise<BroughtIn> {
  const plan = await planApply(project.repository, intent.from, intent.to);
  if (plan.steps.length === 0 || plan.refused.length > 0) {
    // Nothing will be touched: there is nothing to do, or it says why it must not be done.
    await executePlan(project.repository, plan);
    return { kind: "applied" };
  }
  writeIntent(project.location, intent);
  const paths = await carriedOut(project, plan, intent);
  crashPoint("integrate-record");
  removeIntent(project.location);
  return paths.length === 0 ? { kind: "applied" } : { kind: "changed", paths };
}

/** The files that somebody changed, so that nothing was done or all of it was taken back; none when it is done. */
async function carriedOut(project: GitProject, plan: ApplyPlan, intent: Intent): Promise<string[]> {
  try {
    const outcome = await executePlan(project.repository, plan);
    if (outcome.kind === "changed") return outcome.paths;
    if (outcome.left.length === 0) return [];
    return [...new Set([...outcome.left, ...(await takeBack(project, intent))])];
  } catch (error) {
    await undo(project, intent, error);
    throw error;
  }
}

/** After an error: back to the beginning. If that fails too, what was begun stays written down. */
async function undo(project: GitProject, intent: Intent, cause: unknown): Promise<void> {
  try {
    await takeBack(project, intent);
  } catch {
    // What went wrong first is what somebody has to know; the rest follows from it.
    throw unfinished(intent, cause);
  }
  removeIntent(project.location);
}

/** Back from the tree `to` to the tree `from`; returns the files that another program changed meanwhile. */
export async function takeBack({ repository }: GitProject, { from, to }: Intent): Promise<string[]> {
  crashPoint("integrate-back");
  return (await finish(repository, to, from)).left;
}

/** The error for a change that stays written down until the cause is fixed. */
export function unfinished(intent: Intent, cause: unknown): unknown {
  const code = cause instanceof MaestroError ? cause.code : "io";
  // Not the system's word: a defect, to be seen as one.
  if (!(cause instanceof MaestroError) && errno(cause) === undefined) return cause;
  const message = `${describeIntent(intent)} is not finished: ${reasonOf(cause)}`;
  return new MaestroError(code, message, {
    hint: 'Once that is fixed, "maestro resume" or "maestro doctor --fix" finishes it.',
    cause,
  });
}

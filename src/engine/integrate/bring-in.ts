// Changes the project's files from one tree to another, all of them or none: the intent is written first, so that
// recovery/finish-change.ts can finish the change after a crash. The caller holds the engine's lock.

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

/** `changed`: these files changed since the tree `from` was taken; the rest of the project is as before. */
export type BroughtIn = { kind: "applied" } | { kind: "changed"; paths: string[] };

export async function bringIn(project: GitProject, intent: Intent): Promise<BroughtIn> {
  const plan = await planApply(project.repository, intent.from, intent.to);
  if (plan.steps.length === 0 || plan.refused.length > 0) {
    // No file is changed: `executePlan` has nothing to do, or throws the reason why the plan is refused.
    await executePlan(project.repository, plan);
    return { kind: "applied" };
  }
  writeIntent(project.location, intent);
  const paths = await applyPlan(project, plan, intent);
  crashPoint("integrate-record");
  removeIntent(project.location);
  return paths.length === 0 ? { kind: "applied" } : { kind: "changed", paths };
}

/** Applies the plan. Returns the files that changed meanwhile, in which case nothing stays applied; an empty list means success. */
async function applyPlan(project: GitProject, plan: ApplyPlan, intent: Intent): Promise<string[]> {
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

/** Undoes the change after an error. If that fails too, the intent stays on disk for recovery. */
async function undo(project: GitProject, intent: Intent, cause: unknown): Promise<void> {
  try {
    await takeBack(project, intent);
  } catch {
    // Report the first error; the second one is a consequence of it.
    throw unfinished(intent, cause);
  }
  removeIntent(project.location);
}

/** Reverts from the tree `to` to the tree `from`; returns the files that another program changed meanwhile. */
export async function takeBack({ repository }: GitProject, { from, to }: Intent): Promise<string[]> {
  crashPoint("integrate-back");
  return (await finish(repository, to, from)).left;
}

/** The error for a change whose intent stays on disk until the cause is fixed. */
export function unfinished(intent: Intent, cause: unknown): unknown {
  const code = cause instanceof MaestroError ? cause.code : "io";
  // Neither an expected error nor one of the operating system: a bug, passed on unchanged.
  if (!(cause instanceof MaestroError) && errno(cause) === undefined) return cause;
  const message = `${describeIntent(intent)} is not finished: ${reasonOf(cause)}`;
  return new MaestroError(code, message, {
    hint: 'Fix the problem, then finish the change with "maestro resume" or "maestro doctor --fix".',
    cause,
  });
}

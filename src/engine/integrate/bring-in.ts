// Brings the project's files from one tree to another, all of it or nothing, whatever happens on the way: what is to happen is written down
// first, and whoever comes after a killed process finishes it. The caller holds the engine's lock.

import { crashPoint } from "../../disk/fault.ts";
import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { carryOut, finish } from "../../git/apply/apply.ts";
import { type ApplyPlan, planApply } from "../../git/apply/apply-plan.ts";
import { missingObjects } from "../../git/objects/objects.ts";
import type { Repository } from "../../git/repository.ts";
import {
  describeIntent,
  type Intent,
  readIntent,
  removeIntent,
  setAsideHint,
  writeIntent,
} from "../../store/files/integration-file.ts";
import type { StateLocation } from "../../store/location.ts";

export interface GitProject {
  repository: Repository;
  location: StateLocation;
}

/** `changed`: somebody changed these files since the tree `from` was taken; the project is as it was, but for what they did. */
export type BroughtIn = { kind: "applied" } | { kind: "changed"; paths: string[] };

export interface Settled {
  intent: Intent;
  outcome: "applied" | "undone";
  /** Changed by somebody, and the reason why the rest was undone. */
  left: string[];
}

export async function bringIn(project: GitProject, intent: Intent): Promise<BroughtIn> {
  const plan = await planApply(project.repository, intent.from, intent.to);
  if (plan.steps.length === 0 || plan.refused.length > 0) {
    // Nothing will be touched: there is nothing to do, or it says why it must not be done.
    await carryOut(project.repository, plan);
    return { kind: "applied" };
  }
  writeIntent(project.location, intent);
  const paths = await carriedOut(project, plan, intent);
  crashPoint("integrate-record");
  removeIntent(project.location);
  return paths.length === 0 ? { kind: "applied" } : { kind: "changed", paths };
}

/** Finishes what a killed process began, or takes it back when it is not wanted any more; undefined when there is nothing. */
export async function settle(
  project: GitProject,
  isWanted: (intent: Intent) => boolean = () => true,
): Promise<Settled | undefined> {
  const { repository, location } = project;
  const intent = readIntent(location);
  if (intent === undefined) return undefined;
  await requirePossible(repository, intent);
  try {
    const left = isWanted(intent) ? (await finish(repository, intent.from, intent.to)).left : null;
    const outcome = left?.length === 0 ? "applied" : "undone";
    const all = outcome === "applied" ? [] : [...(left ?? []), ...(await takeBack(project, intent))];
    removeIntent(location);
    return { intent, outcome, left: [...new Set(all)] };
  } catch (error) {
    throw unfinished(intent, error);
  }
}

/** The files that somebody changed, so that nothing was done or all of it was taken back; none when it is done. */
async function carriedOut(project: GitProject, plan: ApplyPlan, intent: Intent): Promise<string[]> {
  try {
    const outcome = await carryOut(project.repository, plan);
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

async function takeBack({ repository }: GitProject, { from, to }: Intent): Promise<string[]> {
  crashPoint("integrate-back");
  return (await finish(repository, to, from)).left;
}

/** What can never be finished must not stand in the way for ever: it is damage like that of the file itself. */
async function requirePossible(repository: Repository, intent: Intent): Promise<void> {
  const { from, to } = intent;
  const [missing] = await missingObjects(repository, [from, to]);
  const refused = missing === undefined ? (await planApply(repository, from, to)).refused[0] : undefined;
  const why =
    missing === undefined
      ? refused && `it would change ${refused.path}, and ${refused.reason}`
      : `the repository does not have ${missing} any more`;
  if (why === undefined) return;
  throw new MaestroError("parse_failed", `${describeIntent(intent)} cannot be finished: ${why}`, {
    hint: setAsideHint,
  });
}

function unfinished(intent: Intent, cause: unknown): unknown {
  const code = cause instanceof MaestroError ? cause.code : "io";
  // Not the system's word: a defect, to be seen as one.
  if (!(cause instanceof MaestroError) && errno(cause) === undefined) return cause;
  const message = `${describeIntent(intent)} is not finished: ${reasonOf(cause)}`;
  return new MaestroError(code, message, {
    hint: 'Once that is put right, "maestro resume" or "maestro doctor --fix" finishes it.',
    cause,
  });
}

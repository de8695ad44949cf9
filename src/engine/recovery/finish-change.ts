// Finishes a change of the project that a killed process began, records it, and reports it to the user. If the user has since skipped the
// phase or aborted the session, the change is undone instead.

import { MaestroError } from "../../errors.ts";
import { finish } from "../../git/apply/apply.ts";
import { planApply } from "../../git/apply/apply-plan.ts";
import { missingObjects } from "../../git/objects/objects.ts";
import type { Repository } from "../../git/repository.ts";
import { decideFinishedChange, isWanted } from "../../session/decide/applied-work.ts";
import {
  describeIntent,
  type Intent,
  readIntent,
  removeIntent,
  setAsideHint,
} from "../../store/files/integration-file.ts";
import { hashFiles } from "../../store/files/project-files.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { oneLine } from "../../views/text/cell.ts";
import { someOf } from "../../views/work.ts";
import { type GitProject, takeBack, unfinished } from "../integrate/bring-in.ts";

const MAX_PATHS = 10;

export interface FinishedChange {
  intent: Intent;
  outcome: "applied" | "undone";
  /** Files that another program changed since then, which is why the rest was undone. */
  left: string[];
}

/** The caller holds the engine's lock and has read the session. Returns what to tell the user; undefined when nothing was begun. */
export async function finishChange(project: GitProject, store: SessionStore, now: Date): Promise<string | undefined> {
  const finished = await finishIntent(project, (intent) => isWanted(store.session, intent));
  if (finished === undefined) return undefined;
  if (finished.outcome === "applied" && store.session !== undefined) {
    const { projectRoot } = project.repository;
    const rules = { now, hashes: (paths: readonly string[]) => hashFiles(projectRoot, paths) };
    store.update((session) => ({
      events: session === undefined ? [] : decideFinishedChange(session, finished.intent, rules),
      result: undefined,
    }));
  }
  return describe(finished);
}

/** Finishes the recorded change, or undoes it when the user no longer wants it; undefined when no change is recorded. */
export async function finishIntent(
  project: GitProject,
  isStillWanted: (intent: Intent) => boolean = () => true,
): Promise<FinishedChange | undefined> {
  const { repository, location } = project;
  const intent = readIntent(location);
  if (intent === undefined) return undefined;
  await requirePossible(repository, intent);
  try {
    const left = isStillWanted(intent) ? (await finish(repository, intent.from, intent.to)).left : null;
    const outcome = left?.length === 0 ? "applied" : "undone";
    const all = outcome === "applied" ? [] : [...(left ?? []), ...(await takeBack(project, intent))];
    removeIntent(location);
    return { intent, outcome, left: [...new Set(all)] };
  } catch (error) {
    throw unfinished(intent, error);
  }
}

/** A change that can never be finished must not block the project forever: it is reported as damage, which "maestro doctor" sets aside. */
async function requirePossible(repository: Repository, intent: Intent): Promise<void> {
  const { from, to } = intent;
  const [missing] = await missingObjects(repository, [from, to]);
  const refused = missing === undefined ? (await planApply(repository, from, to)).refused[0] : undefined;
  const why =
    missing === undefined
      ? refused && `it would change ${refused.path}, and ${refused.reason}`
      : `the repository no longer has ${missing}`;
  if (why === undefined) return;
  throw new MaestroError("parse_failed", `${describeIntent(intent)} cannot be finished: ${why}`, {
    hint: setAsideHint,
  });
}

function describe({ intent, outcome, left }: FinishedChange): string {
  const what = `${describeIntent(intent)} had been interrupted`;
  if (outcome === "applied") return `${what}; it is finished now`;
  if (left.length === 0) return `${what}; it is undone, because the phase was skipped or the session aborted`;
  return `${what}; it is undone, because ${someOf(left.map(oneLine), MAX_PATHS)} changed since`;
}

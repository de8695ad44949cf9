// Finishes a change of the project that a killed process began, records it, and tells it. What a person has decided against since then is taken
// back instead: nothing of a skipped phase or an aborted session comes in.

import { decideFinishedChange, isWanted } from "../../session/decide/applied-work.ts";
import { describeIntent } from "../../store/files/integration-file.ts";
import { hashFiles } from "../../store/files/project-files.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { oneLine } from "../../views/text/cell.ts";
import { someOf } from "../../views/work.ts";
import { type GitProject, type Settled, settle } from "../integrate/bring-in.ts";

const MAX_PATHS = 10;

/** The caller holds the engine's lock and has read the session. Returns what to tell; undefined when there was nothing. */
export async function settleProject(project: GitProject, store: SessionStore, now: Date): Promise<string | undefined> {
  const settled = await settle(project, (intent) => isWanted(store.session, intent));
  if (settled === undefined) return undefined;
  if (settled.outcome === "applied" && store.session !== undefined) {
    const { projectRoot } = project.repository;
    const rules = { now, hashes: (paths: readonly string[]) => hashFiles(projectRoot, paths) };
    store.update((session) => ({
      events: session === undefined ? [] : decideFinishedChange(session, settled.intent, rules),
      result: undefined,
    }));
  }
  return tellSettled(settled);
}

function tellSettled({ intent, outcome, left }: Settled): string {
  const what = `${describeIntent(intent)} had been interrupted`;
  if (outcome === "applied") return `${what}; it is finished now`;
  if (left.length === 0) return `${what}; it is taken back, because the phase is not to be done any more`;
  return `${what}; it is undone, because somebody has changed ${someOf(left.map(oneLine), MAX_PATHS)} since`;
}

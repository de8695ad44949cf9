// What a hook writes: through the session store like every process, but with only a short wait for the lock.

import { MaestroError } from "../errors.ts";
import { noteHistory } from "../store/archive.ts";
import { runningEngine } from "../store/engine-lock.ts";
import { inOwnState } from "../store/location.ts";
import { SessionStore } from "../store/session-store.ts";
import { ensureWorkspace, tryHiding } from "../store/workspace.ts";
import { now } from "./clock.ts";
import { hookSettings, isNoProject, openHookProject, type Project } from "./project.ts";
import type { Surroundings } from "./surroundings.ts";

/** Time reserved for the work itself. */
const RESERVED_MS = 300;
const LEAST_WAIT_MS = 50;

export function storeOf({ location }: Project, here: Surroundings): SessionStore {
  return new SessionStore(location, {
    now: here.clock,
    warn: here.log,
    /** Computed for each lock: the record comes first, and the view gets the remaining time. */
    get lockWaitMs() {
      return Math.max(LEAST_WAIT_MS, here.deadline - now() - RESERVED_MS);
    },
  });
}

/** Only logs failures, and never creates a workspace in the home directory or the root (C38); false when there is none. */
export function makeWorkspace({ location }: Project, here: Surroundings): boolean {
  if (isNoProject(here)) return false;
  try {
    ensureWorkspace(location);
    // Without a session, too, hooks note which agents run; git status must not show those files.
    tryHiding(location, here.log);
    return true;
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    here.log(`workspace: ${error.message}`);
    return false;
  }
}

/** Why an orchestration cannot keep its state here; undefined when it can. Creates what is missing. */
export function workspaceProblem(here: Surroundings): string | undefined {
  if (isNoProject(here)) return undefined;
  try {
    ensureWorkspace(openHookProject(here).location);
    return undefined;
  } catch (error) {
    if (!(error instanceof MaestroError)) throw error;
    return `The workspace cannot be used: ${error.message}. ${error.hint ?? "Fix this, then repeat the command."}`;
  }
}

/** Archives the completed session, if auto-archive is on and no engine is about to do it; returns its id. */
export function archiveCompleted(project: Project, here: Surroundings): string | undefined {
  if (!hookSettings(here).MAESTRO_AUTO_ARCHIVE || runningEngine(project.location) !== undefined) return undefined;
  return storeOf(project, here).archive().session_id;
}

/** Adds a line about an unfinished session to the history. */
export function noteUnfinished(project: Project, here: Surroundings): void {
  const store = storeOf(project, here);
  store.refresh();
  const { session } = store;
  if (session === undefined) return;
  inOwnState(project.location, ["state"], (directory) => noteHistory(directory, session, here.clock()));
}

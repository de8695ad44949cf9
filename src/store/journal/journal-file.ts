// Names in state/.

import { existsSync } from "node:fs";

export const JOURNAL_FILE = "progress.jsonl";
export const VIEW_FILE = "active-session.md";
/** A directory: which native delegations are running. */
export const DELEGATIONS = "delegations";

/** Whether a session lies in a state directory, given by its absolute path. */
export function hasSession(stateDir: string): boolean {
  return existsSync(`${stateDir}/state/${JOURNAL_FILE}`);
}

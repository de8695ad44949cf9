// Names of files and directories in state/.

import { existsSync } from "node:fs";

export const JOURNAL_FILE = "progress.jsonl";
export const VIEW_FILE = "active-session.md";
/** A directory that records which native delegations are running. */
export const DELEGATIONS = "delegations";

/** Whether the state directory, given by its absolute path, holds a session. */
export function hasSession(stateDir: string): boolean {
  return existsSync(`${stateDir}/state/${JOURNAL_FILE}`);
}

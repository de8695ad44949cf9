// Where an attempt runs, in words: on a worker, or in the queue for one. Empty for an attempt on this machine.

import { type Attempt, isQueued } from "../../session/session.ts";
import { oneLine } from "./cell.ts";

export const QUEUED = "waits for a worker";

/** "on worker NAME", QUEUED, or nothing. */
export function placeText(attempt: Attempt | undefined): string {
  if (attempt === undefined) return "";
  if (isQueued(attempt)) return QUEUED;
  return attempt.worker === undefined ? "" : `on worker ${oneLine(attempt.worker)}`;
}

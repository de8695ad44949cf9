// Worktrees whose processes are gone, for somebody who only wants to know of them.

import { judge } from "../../disk/identity.ts";
import type { Repository } from "../repository.ts";
import { inPlace, markedNames, markerTime, readMarker } from "./marker.ts";

/** Others may come back to theirs, but not after so long. */
const ABANDONED_MS = 14 * 24 * 60 * 60 * 1000;

/** `prefix`: how the names of those begin that one may do with as one likes; of others only what is old. */
export function deadWorktrees(repository: Repository, prefix = ""): string[] {
  return inPlace(repository, markedNames).filter((name) => {
    const marker = readMarker(repository, name);
    if (marker === undefined || judge(marker.owner) !== "dead") return false;
    return name.startsWith(prefix) || Date.now() - markerTime(repository, name) > ABANDONED_MS;
  });
}

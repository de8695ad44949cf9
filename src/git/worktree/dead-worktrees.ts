// Lists worktrees whose processes are dead. Removes nothing.

import { judge } from "../../disk/identity.ts";
import type { Repository } from "../repository.ts";
import { inPlace, markedNames, markerTime, readMarker } from "./marker.ts";

/** Other sessions may resume theirs, but not after this long. */
const ABANDONED_MS = 14 * 24 * 60 * 60 * 1000;

/** `prefix`: the names that belong to the caller. Worktrees with other names are listed only when they are old. */
export function deadWorktrees(repository: Repository, prefix = ""): string[] {
  return inPlace(repository, markedNames).filter((name) => {
    const marker = readMarker(repository, name);
    if (marker === undefined || judge(marker.owner) !== "dead") return false;
    return name.startsWith(prefix) || Date.now() - markerTime(repository, name) > ABANDONED_MS;
  });
}

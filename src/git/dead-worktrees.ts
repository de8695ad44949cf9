// Worktrees whose processes are gone, for somebody who only wants to know of them.

import { judge } from "../store/identity.ts";
import type { Repository } from "./repository.ts";
import { inPlace, markedNames, readMarker } from "./worktree-marker.ts";

export function deadWorktrees(repository: Repository): string[] {
  return inPlace(repository, markedNames).filter((name) => {
    const marker = readMarker(repository, name);
    return marker !== undefined && judge(marker.owner) === "dead";
  });
}

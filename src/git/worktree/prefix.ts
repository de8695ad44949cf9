// The names of a project's worktrees: several projects may share one repository, and each clears only its own worktrees.

import { createHash } from "node:crypto";

/** How the names of the worktrees begin that belong to the project with this state directory. */
export function worktreePrefix({ root, components }: { root: string; components: readonly string[] }): string {
  return `${createHash("sha256")
    .update([root, ...components].join("/"))
    .digest("hex")
    .slice(0, 8)}-`;
}

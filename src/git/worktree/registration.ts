// Runs `git worktree add` and `git worktree remove`. git does not support two of these at the same time: while one is in progress, any
// other worktree command fails. Maestro's calls take turns; a collision with another process is retried.

import { setTimeout as sleep } from "node:timers/promises";
import { MaestroError } from "../../errors.ts";
import { theirGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { TurnTaking } from "../turn-taking.ts";

const TRIES = 5;
const WAIT_MS = 100;

const turns = new Map<string, TurnTaking>();

/** `isDone`: whether a failure can be ignored because the wanted state is already there. */
export async function aboutWorktrees(
  repository: Repository,
  args: readonly string[],
  isDone: () => boolean = () => false,
): Promise<void> {
  const turn = turns.get(repository.commonDir) ?? new TurnTaking();
  turns.set(repository.commonDir, turn);
  await turn.take(async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await theirGit(repository, ["worktree", ...args]);
        return;
      } catch (error) {
        if (isDone()) return;
        const isPassing = error instanceof MaestroError && /failed to read .*worktrees\//.test(error.message);
        if (!isPassing || attempt === TRIES) throw error;
        await sleep(WAIT_MS);
      }
    }
  });
}

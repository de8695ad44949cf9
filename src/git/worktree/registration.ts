// Registers worktrees with a repository, and takes them out again. Git itself does not expect two of these at the same time: while one is half
// made, any other command about worktrees fails. Ours take turns; for those of others there is another try.

import { setTimeout as sleep } from "node:timers/promises";
import { MaestroError } from "../../errors.ts";
import { theirGit } from "../own-git.ts";
import type { Repository } from "../repository.ts";
import { TurnTaking } from "../turn-taking.ts";

const TRIES = 5;
const WAIT_MS = 100;

const turns = new Map<string, TurnTaking>();

/** `isDone`: whether a failure is no matter, because it has come to pass all the same. */
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

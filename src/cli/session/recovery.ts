// Runs recovery for the command line: opens the project's store and prints recovery's messages on stderr.

import { openProject } from "../../engine/open-project.ts";
import { plansHint } from "../../engine/plans-hint.ts";
import type { Problem } from "../../engine/recovery/problem.ts";
import { type Pruned, prune } from "../../engine/recovery/prune.ts";
import type { Recovery } from "../../engine/recovery/recover.ts";
import type { Repository } from "../../git/repository.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { removePromptsOf } from "../../store/files/batch.ts";
import { locateState } from "../../store/location.ts";
import { openStore } from "../context.ts";
import type { Io } from "../io.ts";

export async function withRecovery<T>(
  io: Io,
  settings: ResolvedSettings,
  use: (recovery: Recovery) => Promise<T>,
): Promise<T> {
  const store = openStore(io, settings);
  try {
    return await use({
      store,
      now: io.now,
      env: io.env,
      open: () => openProject({ ...io, location: store.location }),
      tell: (line) => io.err(`${line}\n`),
      warn: (problem) => warn(io, problem),
    });
  } finally {
    store.close();
  }
}

export function pruneProject(io: Io, settings: ResolvedSettings): Promise<Pruned> {
  return withRecovery(io, settings, (recovery) => prune(recovery, settings.values.MAESTRO_KEEP_REFS));
}

/**
 * Cleans up after archiving, and shows once what the user can do with plans; a failure only warns, because the archive is already complete. `repository`:
 * the one of the run that has just ended.
 */
export async function pruneAfterArchive(
  io: Io,
  settings: ResolvedSettings,
  { session_id }: { session_id: string },
  repository?: Repository,
): Promise<void> {
  const { MAESTRO_CLEANUP_DISPATCH, MAESTRO_STATE_DIR } = settings.values;
  const location = locateState(io.cwd, MAESTRO_STATE_DIR);
  if (MAESTRO_CLEANUP_DISPATCH) removePromptsOf(location, session_id);
  await withRecovery(io, settings, async (recovery) => {
    // Both need the repository, and opening it starts git three times.
    const opening = repository === undefined ? recovery.open() : Promise.resolve({ kind: "open", repository } as const);
    const open = () => opening;
    const { finished, problems } = await prune({ ...recovery, open }, settings.values.MAESTRO_KEEP_REFS);
    if (finished !== undefined) warn(io, { message: finished });
    for (const problem of problems) warn(io, problem);
    const hint = await plansHint({ env: io.env, location, open }, io.now());
    if (hint !== undefined) io.err(`${hint}\n`);
  });
}

function warn(io: Io, { message, hint }: Problem): void {
  io.err(`WARNING: ${message}\n${hint === undefined ? "" : `  ${hint}\n`}`);
}

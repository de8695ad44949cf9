// Crash recovery for the command line, the MCP server and doctor. Before a user's decision takes effect, it finishes or undoes a
// half-applied change of a dead engine, and keeps the work of attempts without a recorded end.

import { MaestroError } from "../../errors.ts";
import type { Opening } from "../../git/open.ts";
import type { Environment } from "../../setting-layers.ts";
import { decidePhase, type PhaseDecision, recordAbort } from "../../store/decisions.ts";
import { runningEngine, tryClaimEngine } from "../../store/engine-lock.ts";
import { liveDelegations } from "../../store/files/delegations.ts";
import { readIntent } from "../../store/files/integration-file.ts";
import type { StateLocation } from "../../store/location.ts";
import { readSession } from "../../store/read-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { engineGone } from "../../store/stop-engine.ts";
import { settleDelegations } from "../delegated/delegation-work.ts";
import { excluded } from "../open-project.ts";
import { isAncestor } from "../process/ancestors.ts";
import { finishChange } from "./finish-change.ts";
import { keepWork, unexaminedWorktrees } from "./keep-work.ts";
import { expected, orReport, type Problem } from "./problem.ts";

/** The dependencies of recovery, and how it reports to the user. */
export interface Recovery {
  store: SessionStore;
  now: () => Date;
  env: Environment;
  /** Opens the git repository of the project. */
  open: () => Promise<Opening>;
  tell: (line: string) => void;
  warn: (problem: Problem) => void;
}

/** `busy`: an engine holds the session and may still leave work behind. A problem: the work of killed attempts could not be kept. */
export type Recovered = "done" | "busy" | Problem;

/** How often recovery is retried while other processes hold the session. */
const MAX_TURNS = 5;

/**
 * Finishes or undoes a half-applied change; a change that cannot be finished stays recorded and is reported. `isOver`: the session will not
 * be resumed, so the work of killed attempts is kept now.
 */
export async function recover(recovery: Recovery, isOver: boolean): Promise<Recovered> {
  const { store, now, open, warn } = recovery;
  const { location } = store;
  readSession(store);
  if (isOver) await orReport(warn, () => settleLost(recovery));
  const isOwed = isOver && unexaminedWorktrees(store.session).length > 0;
  const isBegun = (await orReport(warn, async () => readIntent(location) !== undefined)) ?? false;
  if (!isBegun && !isOwed) return "done";
  const opening = await orReport(warn, open);
  if (opening?.kind !== "open") return "done";
  const { repository } = opening;
  const release = tryClaimEngine(location);
  if (release === undefined) return "busy";
  try {
    // The process that held the session until now may have recorded more.
    readSession(store);
    const project = { repository, location };
    const told = isBegun ? await orReport(warn, () => finishChange(project, store, now())) : undefined;
    if (told !== undefined) warn({ message: told });
    if (!isOver) return "done";
    for (const line of await keepWork(repository, store, excluded(repository, location, recovery.env)))
      recovery.tell(line);
    return "done";
  } catch (error) {
    return expected(error);
  } finally {
    release();
  }
}

/** Records delegations as interrupted whose conversation has ended, before the session is closed. */
async function settleLost({ store, now, env }: Recovery): Promise<void> {
  const { location } = store;
  if (runningEngine(location) !== undefined) return;
  const isLive = liveDelegations(location, now(), ({ by }) => !isAncestor(by));
  await settleDelegations({ location, env, store, now, isLive });
}

/** Skips a phase and undoes its half-applied change, if any. Returns whether a running engine acts on the decision. */
export async function skipPhase(recovery: Recovery, decision: Omit<PhaseDecision, "to">): Promise<boolean> {
  const isRunning = decidePhase(recovery.store, { ...decision, to: "skipped" });
  await recover(recovery, false);
  return isRunning;
}

/** Aborts the session, waits for its engine to end, and keeps the work of killed attempts. */
export async function abortSession(
  recovery: Recovery,
  reason: string | undefined,
): Promise<{ id: string; hasEngineEnded: boolean }> {
  const { store, now, warn } = recovery;
  const id = recordAbort(store, reason, now());
  // A process that is about to resume the session sees the abort and exits.
  let isGone = await engineGone(store.location);
  let recovered: Recovered = "busy";
  for (let turn = 0; turn < MAX_TURNS && isGone && recovered === "busy"; turn++) {
    recovered = await recover(recovery, true);
    isGone = await engineGone(store.location);
  }
  const hasEngineEnded = isGone && recovered !== "busy";
  if (!hasEngineEnded) warn({ message: "The engine has not exited yet" });
  if (typeof recovered !== "string") warn(recovered);
  return { id, hasEngineEnded };
}

/** Called before a session is archived. Throws when work cannot be kept, because archiving would lose it. */
export async function recoverBeforeArchive(recovery: Recovery): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const recovered = await recover(recovery, true);
    if (recovered === "done") return;
    if (recovered !== "busy")
      throw new MaestroError(recovered.code ?? "io", recovered.message, { hint: recovered.hint });
    refuseWhileRunning(recovery.store.location);
  }
  throw new MaestroError("environment", "Another process keeps using the session", { hint: "Try again." });
}

export function refuseWhileRunning(location: StateLocation): void {
  const owner = runningEngine(location);
  if (owner === undefined) return;
  throw new MaestroError("environment", `The session is being run by process ${owner.pid} since ${owner.since}`, {
    hint: 'Stop it first: "maestro stop".',
  });
}

// Crash recovery for every front door. What an engine that died left behind is finished, undone or kept before a person's decision takes
// effect: a change that is half in the project, and the work of attempts without a recorded end.

import { MaestroError } from "../../errors.ts";
import type { Opening } from "../../git/open.ts";
import { decidePhase, type PhaseDecision, recordAbort } from "../../store/decisions.ts";
import { runningEngine, tryClaimEngine } from "../../store/engine-lock.ts";
import { readIntent } from "../../store/files/integration-file.ts";
import type { StateLocation } from "../../store/location.ts";
import { readSession } from "../../store/read-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { engineGone } from "../../store/stop-engine.ts";
import { excluded } from "../open-project.ts";
import { finishChange } from "./finish-change.ts";
import { keepWork, unexaminedWorktrees } from "./keep-work.ts";
import { expected, orReport, type Problem } from "./problem.ts";

/** What recovery works with, and how it reports to the user. */
export interface Recovery {
  store: SessionStore;
  now: () => Date;
  /** Opens the git repository of the project. */
  open: () => Promise<Opening>;
  tell: (line: string) => void;
  warn: (problem: Problem) => void;
}

/** `busy`: an engine has claimed the session and may leave work behind. A problem: the work of killed attempts could not be kept. */
export type Recovered = "done" | "busy" | Problem;

/** How often recovery is tried again while other processes hold the session. */
const MAX_TURNS = 5;

/**
 * Finishes or undoes a change that is half in the project; a change that cannot be finished stays on record and is reported. `isOver`: the
 * session is not resumed any more, so the work of killed attempts is kept now.
 */
export async function recover(recovery: Recovery, isOver: boolean): Promise<Recovered> {
  const { store, now, open, warn } = recovery;
  const { location } = store;
  readSession(store);
  const isOwed = isOver && unexaminedWorktrees(store.session).length > 0;
  const isBegun = (await orReport(warn, async () => readIntent(location) !== undefined)) ?? false;
  if (!isBegun && !isOwed) return "done";
  const opening = await orReport(warn, open);
  if (opening?.kind !== "open") return "done";
  const { repository } = opening;
  const release = tryClaimEngine(location);
  if (release === undefined) return "busy";
  try {
    // The process that held the session before may have recorded more.
    readSession(store);
    const project = { repository, location };
    const told = isBegun ? await orReport(warn, () => finishChange(project, store, now())) : undefined;
    if (told !== undefined) warn({ message: told });
    if (!isOver) return "done";
    for (const line of await keepWork(repository, store, excluded(repository, location))) recovery.tell(line);
    return "done";
  } catch (error) {
    return expected(error);
  } finally {
    release();
  }
}

/** Skips a phase, and takes back what of it is half in the project. Returns whether a running engine acts on the decision. */
export async function skipPhase(recovery: Recovery, decision: Omit<PhaseDecision, "to">): Promise<boolean> {
  const isRunning = decidePhase(recovery.store, { ...decision, to: "skipped" });
  await recover(recovery, false);
  return isRunning;
}

/** Ends the session for good, waits for its engine, and keeps what killed attempts did. */
export async function abortSession(
  recovery: Recovery,
  reason: string | undefined,
): Promise<{ id: string; hasEngineEnded: boolean }> {
  const { store, now, warn } = recovery;
  const id = recordAbort(store, reason, now());
  // A process that is about to resume the session sees the decision and ends.
  let isGone = await engineGone(store.location);
  let recovered: Recovered = "busy";
  for (let turn = 0; turn < MAX_TURNS && isGone && recovered === "busy"; turn++) {
    recovered = await recover(recovery, true);
    isGone = await engineGone(store.location);
  }
  const hasEngineEnded = isGone && recovered !== "busy";
  if (!hasEngineEnded) warn({ message: "The engine has not ended yet" });
  if (typeof recovered !== "string") warn(recovered);
  return { id, hasEngineEnded };
}

/** Before a session is archived: what cannot be kept now would be lost, so it refuses the archive. */
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
    hint: 'End it first: "maestro stop".',
  });
}

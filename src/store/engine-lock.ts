// One engine per session: the lock that a run holds from its first step to its last, and who holds it now.

import { MaestroError } from "../errors.ts";
import { judge } from "./identity.ts";
import { inState, type StateLocation } from "./location.ts";
import { claimLock, type LockOwner, readOwner } from "./lock.ts";

const ENGINE_LOCK = ".engine";

/** Takes the lock; returns how to let go. A second engine is refused and told who the first one is. */
export function claimEngine(location: StateLocation): () => void {
  const claimed = claim(location);
  if (typeof claimed === "function") return claimed;
  throw alreadyRunning(claimed.heldBy);
}

/** Undefined when somebody else has it. */
export function tryClaimEngine(location: StateLocation): (() => void) | undefined {
  const claimed = claim(location);
  return typeof claimed === "function" ? claimed : undefined;
}

function claim(location: StateLocation): (() => void) | { heldBy: LockOwner | undefined } {
  const claimed = inState(location, ["state"], (directory) => claimLock(directory, ENGINE_LOCK));
  if (claimed === undefined) throw new MaestroError("environment", `There is no state directory: ${location.shown}`);
  return "heldBy" in claimed ? claimed : () => void inState(location, ["state"], claimed.release);
}

/** The engine that drives the session now; undefined when there is none. */
export function runningEngine(location: StateLocation): LockOwner | undefined {
  const owner = inState(location, ["state"], (directory) => readOwner(directory, ENGINE_LOCK));
  return owner === undefined || judge(owner) === "dead" ? undefined : owner;
}

function alreadyRunning(owner: LockOwner | undefined): MaestroError {
  const who = owner === undefined ? "an unknown process" : `process ${owner.pid} since ${owner.since}`;
  return new MaestroError("environment", `An engine is already running this session: ${who}`, {
    hint: 'Look at it with "maestro watch", or end it with "maestro stop".',
  });
}

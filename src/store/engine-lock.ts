// One engine per session: the lock that a run holds from start to end, and which process holds it now.

import type { Directory } from "../disk/contained.ts";
import { judge, ownIdentity } from "../disk/identity.ts";
import { claimLock, type LockOwner, readOwner } from "../disk/lock.ts";
import { MaestroError } from "../errors.ts";
import { inOwnState, inState, type StateLocation } from "./location.ts";

const ENGINE_LOCK = ".engine";

/**
 * Takes the lock and returns the function that releases it. A second engine is rejected with the pid of the first. `drives`: this process
 * runs phases, rather than verifying one phase or applying one change.
 */
export function claimEngine(location: StateLocation, about: Pick<LockOwner, "drives"> = {}): () => void {
  const claimed = claim(location, about);
  if (typeof claimed === "function") return claimed;
  throw alreadyRunning(claimed.heldBy);
}

/** Undefined when another process holds the lock. */
export function tryClaimEngine(location: StateLocation): (() => void) | undefined {
  const claimed = claim(location);
  return typeof claimed === "function" ? claimed : undefined;
}

function claim(
  location: StateLocation,
  about: Pick<LockOwner, "drives"> = {},
): (() => void) | { heldBy: LockOwner | undefined } {
  const claimed = inOwnState(location, ["state"], (directory) => claimLock(directory, ENGINE_LOCK, about));
  if (claimed === undefined)
    throw new MaestroError("environment", `The state directory does not exist: ${location.shown}`);
  return "heldBy" in claimed ? claimed : () => void inState(location, ["state"], claimed.release);
}

/** The engine that runs the session now; undefined when no engine is running. */
export function runningEngine(location: StateLocation): LockOwner | undefined {
  const owner = inState(location, ["state"], (directory) => readOwner(directory, ENGINE_LOCK));
  return owner === undefined || judge(owner) === "dead" ? undefined : owner;
}

/** Another process that is running the session's phases; undefined when there is none, or when it is this process. */
export function drivingEngine(state: Directory): LockOwner | undefined {
  const owner = readOwner(state, ENGINE_LOCK);
  if (owner?.drives !== true || judge(owner) === "dead") return undefined;
  const { pid, namespace } = ownIdentity();
  return owner.pid === pid && owner.namespace === namespace ? undefined : owner;
}

function alreadyRunning(owner: LockOwner | undefined): MaestroError {
  const who = owner === undefined ? "an unknown process" : `process ${owner.pid} since ${owner.since}`;
  return new MaestroError("environment", `An engine is already running this session: ${who}`, {
    hint: 'Watch it with "maestro watch", or stop it with "maestro stop".',
  });
}

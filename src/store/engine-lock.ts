// One engine per session: the lock that a run holds from its first step to its last, and who holds it now.

import type { Directory } from "../disk/contained.ts";
import { judge, ownIdentity } from "../disk/identity.ts";
import { claimLock, type LockOwner, readOwner } from "../disk/lock.ts";
import { MaestroError } from "../errors.ts";
import { inOwnState, inState, type StateLocation } from "./location.ts";

const ENGINE_LOCK = ".engine";

/**
 * Takes the lock; returns how to let go. A second engine is refused and told who the first one is. `drives`: phases are run, as opposed to
 * one phase that is verified or one change that is brought in.
 */
export function claimEngine(location: StateLocation, about: Pick<LockOwner, "drives"> = {}): () => void {
  const claimed = claim(location, about);
  if (typeof claimed === "function") return claimed;
  throw alreadyRunning(claimed.heldBy);
}

/** Undefined when somebody else has it. */
export function tryClaimEngine(location: StateLocation): (() => void) | undefined {
  const claimed = claim(location);
  return typeof claimed === "function" ? claimed : undefined;
}

function claim(
  location: StateLocation,
  about: Pick<LockOwner, "drives"> = {},
): (() => void) | { heldBy: LockOwner | undefined } {
  const claimed = inOwnState(location, ["state"], (directory) => claimLock(directory, ENGINE_LOCK, about));
  if (claimed === undefined) throw new MaestroError("environment", `There is no state directory: ${location.shown}`);
  return "heldBy" in claimed ? claimed : () => void inState(location, ["state"], claimed.release);
}

/** The engine that drives the session now; undefined when there is none. */
export function runningEngine(location: StateLocation): LockOwner | undefined {
  const owner = inState(location, ["state"], (directory) => readOwner(directory, ENGINE_LOCK));
  return owner === undefined || judge(owner) === "dead" ? undefined : owner;
}

/** Another process that runs the session's phases now. */
export function drivingEngine(state: Directory): LockOwner | undefined {
  const owner = readOwner(state, ENGINE_LOCK);
  if (owner?.drives !== true || judge(owner) === "dead") return undefined;
  const { pid, namespace } = ownIdentity();
  return owner.pid === pid && owner.namespace === namespace ? undefined : owner;
}

function alreadyRunning(owner: LockOwner | undefined): MaestroError {
  const who = owner === undefined ? "an unknown process" : `process ${owner.pid} since ${owner.since}`;
  return new MaestroError("environment", `An engine is already running this session: ${who}`, {
    hint: 'Look at it with "maestro watch", or end it with "maestro stop".',
  });
}

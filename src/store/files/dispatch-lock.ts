// One dispatch per batch directory: the lock that `maestro dispatch` holds while it runs. A lock whose owner is dead means that the batch
// was interrupted.

import type { Directory } from "../../disk/contained.ts";
import { claimLock } from "../../disk/lock.ts";
import { MaestroError } from "../../errors.ts";

export const DISPATCH_LOCK = ".dispatch";

/** `results`: the directory of the batch's results. Returns the function that releases the lock. */
export function claimDispatch(results: Directory): () => void {
  const claimed = claimLock(results, DISPATCH_LOCK);
  if (!("heldBy" in claimed)) return () => claimed.release(results);
  const { heldBy: owner } = claimed;
  const who = owner === undefined ? "an unknown process" : `process ${owner.pid} since ${owner.since}`;
  throw new MaestroError("environment", `Another dispatch is running this batch: ${who}`, {
    hint: "Wait until it finishes, or dispatch from another directory.",
  });
}

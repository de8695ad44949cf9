// Decides what follows for an attempt that a worker runs, from its state in the queue and in the exchange. Pure.

import { OTHER_KEY, refusalIn } from "../protocol/refusal.ts";
import type { JobState } from "../queue/job-state.ts";

export interface RemoteStanding {
  state: JobState;
  /** Whether the exchange has its delivery; null when that was not looked up. */
  isDelivered: boolean | null;
  /** Whether a worker had it. */
  wasClaimed: boolean;
  /** For how long the queue has not known it, in ms. */
  missingMs: number;
  leaseMs: number;
}

export type Step =
  | { kind: "wait" | "take" | "add" | "look" }
  | { kind: "claimed"; worker: string }
  | { kind: "lost"; message: string }
  | { kind: "refused"; message: string }
  /** A worker with another key had it: nothing was run, and another worker may take it. */
  | { kind: "other_key"; worker: string };

/** The exchange is read before an attempt counts as lost: its result may be there although the queue has no entry for it. */
export function stepOf({ state, isDelivered, wasClaimed, missingMs, leaseMs }: RemoteStanding): Step {
  if (isDelivered) return { kind: "take" };
  if (state.kind === "active") return wasClaimed ? { kind: "wait" } : { kind: "claimed", worker: state.worker };
  if (state.kind === "waiting") return { kind: "wait" };
  if (state.kind === "missing" && !wasClaimed) return isDelivered === null ? { kind: "look" } : { kind: "add" };
  if (isDelivered === null) return { kind: "look" };
  // Its worker may still work, until its own clock stops it.
  if (state.kind === "missing" && missingMs < leaseMs) return { kind: "wait" };
  const refusal = state.kind === "failed" ? refusalIn(state.reason) : undefined;
  if (state.kind === "failed" && refusal === OTHER_KEY) return { kind: "other_key", worker: state.worker };
  if (refusal !== undefined) return { kind: "refused", message: `The worker refused the order: ${refusal}` };
  const why = { completed: "ended without a delivery", failed: "is gone", lost: "is gone", missing: "is gone" };
  return { kind: "lost", message: `The worker of the attempt ${why[state.kind]}` };
}

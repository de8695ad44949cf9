// How long a worker may run without an answer from the queue, and how often it asks. Pure.

export interface LeaseTimes {
  /** How long a claim holds without a renewal. */
  leaseMs: number;
  renewalMs: number;
  /** How often engines look for claims that have ended. */
  sweepMs: number;
}

/** The worker stops before the queue may give up on it: its clock starts when it sent the renewal, and stopping takes time. */
const OWN_SHARE = 0.8;

/** When a worker whose last renewal was sent at `renewedAt` must stop its agent, in its own monotonic time. */
export function deadline({ leaseMs }: LeaseTimes, renewedAt: number): number {
  return renewedAt + OWN_SHARE * leaseMs;
}

// The state of an attempt in the queue, as an engine reads it.

/** `lost`: its worker no longer renews its claim. `missing`: the queue does not know it. */
export type JobState =
  | { kind: "waiting" | "lost" | "missing" | "completed" }
  | { kind: "active"; worker: string }
  | { kind: "failed"; reason: string; worker: string };

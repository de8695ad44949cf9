// How an attempt stands in the queue, as an engine reads it.

/** `lost`: its worker is gone. `missing`: the queue does not know it. */
export type JobState =
  | { kind: "waiting" | "lost" | "missing" | "completed" }
  | { kind: "active"; worker: string }
  | { kind: "failed"; reason: string; worker: string };

// The messages between the engine and the warden about a process that the warden starts.

/** The first line from a warden that runs. */
export const READY = "ready";

/** A process to start, in a group of its own and without standard streams. */
export interface StartRequest {
  /** Identifies the process in the reports about it. */
  id: number;
  /** The program and its arguments. */
  words: readonly string[];
  cwd: string;
  env: Record<string, string>;
}

export type StartReport =
  /** It has started. */
  | { id: number; pid: number }
  /** It could not be started, and why. */
  | { id: number; failure: string }
  /** It has ended. */
  | { id: number; code: number | null; signal: NodeJS.Signals | null };

// What the engine asks of a runtime: how to start an attempt, and what its files amount to. Runtimes are pure; the engine starts processes.

import type { Tier } from "../agents/tiers.ts";
import type { AttemptOutcome, ErrorRecord, Usage } from "../session/events.ts";

/** What an attempt is started with. */
export interface AttemptSpec {
  agent: string;
  tier: Tier;
  model: string | null;
  /** The policy file that holds the tier and the baseline; null only where no agent is started. */
  policyFile: string | null;
  /** The user's own arguments, appended. */
  extraArgs: readonly string[];
}

/** Why we stopped an attempt ourselves; null: it ended by itself. */
export type Killed = "timeout" | "stopped" | "output_too_large" | null;

/** How an attempt ended, and what it left. */
export interface Ending {
  /** As a shell has it: death by signal n is 128 + n. Null when nobody wrote it down. */
  exitCode: number | null;
  killed: Killed;
  stdout: string;
  /** The end of it, when it is long. */
  stderr: string;
}

/** What an attempt came to, before its hand-off is judged. */
export interface Outcome {
  kind: AttemptOutcome;
  /** A word for programs: `no_result`, `output_too_large`, `auth`, ... Absent on success. */
  reason?: string;
  errorType?: ErrorRecord["type"];
  /** One sentence for people, and for the next attempt. Absent on success. */
  message?: string;
  /** What the agent said; empty when nothing could be read. */
  text: string;
  /** Null: nothing is known. */
  usage: Usage[] | null;
  /** The provider's own hint, with `quota`. */
  retryAfterMs?: number;
}

export interface Runtime {
  name: string;
  /** The program that is looked up on PATH. */
  program: string;
  /** Its calls cost money and count against a quota: launches are spaced. */
  callsModel: boolean;
  /** How a person gets it. */
  install: string;
  argv(spec: AttemptSpec): string[];
  /** A prompt in the form in which the agent reads it as it was written. */
  payload(prompt: string): string;
  /** Variables that every attempt gets besides the allowed ones. */
  environment: Readonly<Record<string, string>>;
  /** Where the program looks for env files: in the working directory, in every directory above it, and in the user's home; in its order. */
  envFiles: readonly string[];
  /** Variables that steer the program, for which nothing means the same as unset. */
  pinned: readonly string[];
  /** Variables that keep the program from believing a project's settings: its hooks, its servers, its commands. */
  distrust: Readonly<Record<string, string>>;
  judge(ending: Ending): Outcome;
  /** Whether new lines on stderr tell of quota trouble while the attempt still runs; the hint in ms if there is one. */
  quotaSign(stderr: string): { retryAfterMs: number | null } | null;
}

// What the engine needs from a runtime: how to start an attempt, and what its output means. Runtimes are pure; the engine starts processes.

import type { Tier } from "../agents/tiers.ts";
import type { ErrorClass } from "../handoff/output/error-type.ts";
import type { AttemptOutcome, Usage } from "../session/events.ts";

/** What an attempt starts with. */
export interface AttemptSpec {
  agent: string;
  tier: Tier;
  model: string | null;
  /** The policy file with the tier and the baseline, or the runtime's own `startFile`; null only when no agent starts. */
  policyFile: string | null;
  /** Whether it prints what it does while it runs, instead of one answer at its end. */
  isStreamed: boolean;
  /** The most money that it may spend, for a program that can limit itself; absent without a budget in money. */
  maxUsd?: number | undefined;
  /** The user's own arguments, appended. */
  extraArgs: readonly string[];
}

/** Why Maestro stopped an attempt; null when it ended by itself. */
export type Killed = "timeout" | "stopped" | "output_too_large" | "over_budget" | null;

/** How an attempt ended, and its output. */
export interface Ending {
  /** As in a shell: death by signal n is 128 + n. Null when no exit code was recorded. */
  exitCode: number | null;
  killed: Killed;
  stdout: string;
  /** Only the end of it when it is long. */
  stderr: string;
}

/** The result of an attempt, before its handoff is judged. */
export interface Outcome {
  kind: AttemptOutcome;
  /** A code for programs: `no_result`, `output_too_large`, `auth`, ... Absent on success. */
  reason?: string;
  errorType?: ErrorClass;
  /** One sentence for the user and for the next attempt. Absent on success. */
  message?: string;
  /** The agent's answer; empty when it could not be read. */
  text: string;
  /** Null when unknown. */
  usage: Usage[] | null;
  /** The provider's own hint, with `quota`. */
  retryAfterMs?: number;
}

/** What is known of a running attempt from what it has printed. */
export interface Progress {
  /** What it did last, on one line, not redacted; empty when nothing is known. */
  activity: string;
  /** The end of the message that it is writing. */
  text: string;
  /** The id of its conversation; null until it is known. */
  conversation: string | null;
  /** What it has used so far, when the stream reports it. */
  usage?: Usage[];
}

export const noProgress: Progress = { activity: "", text: "", conversation: null };

/** Output as a person reads it, and whether it ends without a line break. */
export interface Shown {
  text: string;
  isMidLine: boolean;
}

/** What a program can enforce and report. Shown by `docs/runtimes.md`; the engine refuses an agent whose tier it cannot enforce. */
export interface Capabilities {
  /** The tiers that the program itself enforces; any other needs a sandbox or the user's permission. */
  tiers: readonly Tier[];
  /** How it enforces them. */
  heldBy: string;
  /** Its option for the number of turns and for a budget; null without one. */
  turnLimit: string | null;
  budget: string | null;
  /** What it prints while it runs. */
  streams: string;
  /** When and how exactly it reports its tokens. */
  tokens: string;
  /** How many of its processes may run at once, for the sake of memory; null for no limit. */
  atOnce: number | null;
  /** Its known limits, for people. */
  limits: readonly string[];
}

/** A directory or a file that a program keeps in the user's home; a sandbox gives each attempt a copy of its files. */
export interface HomePlace {
  /** Relative to the home; below `.config`, `.local/share` and `.local/state` the variables of XDG count. */
  path: string;
  /** The variable that names another directory instead. */
  variable?: string;
  /** The directories in it that the program reads. The others hold conversations and caches, and a sandbox leaves them out. */
  reads?: readonly string[];
}

export interface Runtime {
  name: string;
  /** The program, looked up on PATH. */
  program: string;
  /** A program of Maestro and its first arguments, which start `program` and speak its protocol. */
  host?: readonly string[];
  /** Whether its calls cost money and count against a quota, so that launches are spaced. */
  callsModel: boolean;
  /** Whether the number of its model requests can be counted, so that a budget may limit them. */
  countsRequests?: boolean;
  /** Variables with a credential, the first that counts first. Without any, the login in the user's home counts. */
  credentials?: readonly string[];
  /** The file of its login, in the user's home. */
  login?: string;
  /** What a sandbox shows of the user's home. Absent: what Gemini CLI needs. */
  home?: readonly HomePlace[];
  /** The runtime whose account it uses, when that is another one. */
  account?: string;
  /** How to install it. */
  install: string;
  /** The option by which it uses tools without asking the user; empty when it never asks. */
  unattended: string;
  /** Whether the hooks of Maestro run in it, so that the guard checks its shell commands. */
  hasHooks?: true;
  argv(spec: AttemptSpec): string[];
  /** A file that the program loads at its start, written in place of the policy file. */
  startFile?: { ending: string; text: string };
  /** The prompt, escaped so that the agent reads it as written. */
  payload(prompt: string): string;
  /** Variables that every attempt gets in addition to the allowed ones. */
  environment: Readonly<Record<string, string>>;
  /** Variables that hold an agent to its tier, for a program that has no option for it. */
  tierEnvironment?(tier: Tier): Readonly<Record<string, string>>;
  /** The exported variables of its vendor: it gets these, and none of another vendor. */
  vendor: RegExp;
  capabilities: Capabilities;
  /** Where the program looks for env files, in its order: in the working directory, in every directory above it, and in the user's home. */
  envFiles: readonly string[];
  /** Variables that steer the program and for which empty means unset. */
  pinned: readonly string[];
  /** Variables that keep the program from trusting a project's settings: its hooks, servers and commands. */
  distrust: Readonly<Record<string, string>>;
  judge(ending: Ending): Outcome;
  /** Adds new whole lines of stdout to what is known of a running attempt. */
  progress(known: Progress, lines: string): Progress;
  /** Whole lines of stdout as a person reads them; null when they are not a stream. `isMidLine`: as the text before them ended. */
  shown(lines: string, isMidLine: boolean): Shown | null;
  /** Whether new lines on stderr report a quota problem while the attempt still runs, with the retry hint in ms if there is one. */
  quotaSign(stderr: string): { retryAfterMs: number | null } | null;
}

// The three blocks of design document S2 that ask the user for a decision, to the letter: labels, order, blank lines, options. escalation.ts
// chooses the block that a session needs.

import { oneLine } from "../text/cell.ts";
import { visible } from "../text/visible.ts";

/** A message longer than a few screens would hide the options below it. */
const MAX_HEAD = 20;
const MAX_TAIL = 40;
const MAX_CONFLICTS = 60;

export interface Timeout {
  agent: string;
  phase: string;
  timeoutMs: number;
  elapsedMs: number;
  partialOutput: string;
  objective: string;
}

export function timeoutBlock({ agent, phase, timeoutMs, elapsedMs, partialOutput, objective }: Timeout): string[] {
  return [
    `Agent Timeout: ${agent}`,
    "",
    `Phase: ${phase}`,
    `Timeout: ${limit(timeoutMs)}`,
    `Elapsed: ${limit(elapsedMs)}`,
    "",
    "Partial Output:",
    ...quoted(partialOutput),
    "",
    "The agent was attempting to:",
    ...quoted(objective),
    "",
    "Options:",
    `1. Retry with increased timeout (suggest: ${limit(2 * timeoutMs)})`,
    "2. Retry with narrower scope (manual scope adjustment)",
    "3. Skip this phase and continue",
    "4. Abort orchestration",
    "",
    "What would you like to do?",
  ];
}

export interface ConflictingFile {
  path: string;
  by: readonly string[] | "external";
}

export interface FileConflicts {
  phase: string;
  agent: string;
  files: readonly ConflictingFile[];
}

export function fileConflictBlock({ phase, agent, files }: FileConflicts): string[] {
  return [
    "File Conflict Detected",
    "",
    `Phase: ${phase}`,
    `Agent: ${agent}`,
    "",
    "Conflicting Files:",
    ...files
      .slice(0, MAX_CONFLICTS)
      .map(
        ({ path, by }) =>
          `- ${oneLine(path)} (modified ${by === "external" ? "externally since phase start" : `by ${listed(by)}`})`,
      ),
    ...(files.length > MAX_CONFLICTS ? [`[${files.length - MAX_CONFLICTS} files left out]`] : []),
    "",
    "Orchestration has been paused to prevent data loss.",
    "",
    "Options:",
    "1. Manually resolve conflicts and retry this phase",
    "2. Skip this phase and continue (may break dependencies)",
    "3. Abort orchestration and review session state",
    "",
    "What would you like to do?",
  ];
}

export interface PhaseFailure {
  phase: string;
  agent: string;
  /** How many retries were made, of how many allowed. */
  attempt: number;
  maxRetries: number;
  errorType: string;
  message: string;
  /** What the agent was trying to do. */
  context: string;
  files: readonly string[];
  /** One line per retry: what was different in it. */
  previousAttempts: readonly string[];
}

export function failureBlock(failure: PhaseFailure): string[] {
  const { phase, agent, attempt, maxRetries, errorType, message, context, files, previousAttempts } = failure;
  return [
    `Phase Execution Failed: ${phase}`,
    "",
    `Agent: ${agent}`,
    `Attempt: ${attempt} of ${maxRetries}`,
    `Error Type: ${errorType}`,
    "",
    "Error Message:",
    ...quoted(message),
    "",
    "Context:",
    ...quoted(context),
    ...(files.length === 0 ? [] : [`Files: ${files.map(oneLine).join(", ")}`]),
    "",
    "Previous Retry Attempts:",
    ...(previousAttempts.length === 0 ? ["(none)"] : previousAttempts),
    "",
    "Options:",
    "1. Manually fix the issue and retry this phase",
    "2. Skip this phase and continue (may break dependencies)",
    "3. Abort orchestration and review session state",
    "4. Adjust delegation parameters and retry (interactive)",
    "",
    "What would you like to do?",
  ];
}

/** "10 minutes", "1.5 minutes"; below a minute "30 seconds". */
function limit(milliseconds: number): string {
  const isShort = milliseconds < 60_000;
  const amount = Math.round(milliseconds / (isShort ? 100 : 6000)) / 10;
  return `${amount} ${isShort ? "second" : "minute"}${amount === 1 ? "" : "s"}`;
}

function quoted(text: string): string[] {
  const lines = visible(text).trim().split("\n");
  const left = lines.length - MAX_HEAD - MAX_TAIL;
  if (left <= 0) return lines;
  return [...lines.slice(0, MAX_HEAD), `[${left} lines left out]`, ...lines.slice(-MAX_TAIL)];
}

/** "a", "a and b", "a, b and c" */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

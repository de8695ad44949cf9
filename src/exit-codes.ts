// Every exit code that the maestro command or an attempt can have. docs/failures.md explains them to users; a test compares the two.

import type { ErrorCode } from "./errors.ts";

const FAILED = 1;
const USAGE = 2;
const ENVIRONMENT = 3;
/** Maestro waits for a person: consent, a failed phase, a review, or files in conflict. */
export const NEEDS_A_PERSON = 4;
/** The provider's quota or the user's budget is used up. */
export const USED_UP = 5;

/** What the command exits with after an error. */
export const exitCodes: Record<ErrorCode, number> = {
  usage: USAGE,
  invalid_plan: USAGE,
  config: ENVIRONMENT,
  environment: ENVIRONMENT,
  path: FAILED,
  not_found: FAILED,
  conflict: FAILED,
  illegal_transition: FAILED,
  no_session: FAILED,
  parse_failed: FAILED,
  locked: FAILED,
  io: FAILED,
};

/** What `run` and `resume` exit with, by how the run ended; an interrupted run exits with the code of its signal. */
export const runExitCodes = {
  completed: 0,
  done: 0,
  chosen: 0,
  unanswered: NEEDS_A_PERSON,
  aborted: FAILED,
  failed: NEEDS_A_PERSON,
  review: NEEDS_A_PERSON,
  quota: USED_UP,
  budget: USED_UP,
} as const;

/**
 * What `dispatch` exits with when it is not the number of failed agents: the codes of shells and of sysexits, which no script takes for a
 * small number of failures.
 */
export const dispatchCodes = { usage: 64, noProgram: 127 } as const;

/** What a command that was interrupted by a signal exits with: 128 plus the number of the signal, as in a shell. */
export const signalCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** The exit code recorded for an attempt that reached its time limit, as the program `timeout` has it. */
export const TIMEOUT_CODE = 124;

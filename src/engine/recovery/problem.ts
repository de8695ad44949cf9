// A failed recovery step that is reported to the user without stopping the command.

import { type ErrorCode, errno, MaestroError, reasonOf } from "../../errors.ts";

export interface Problem {
  /** Absent for an error of the operating system. */
  code?: ErrorCode;
  message: string;
  hint?: string;
}

/** Converts an error that the user can act on; any other error is a bug and is thrown again. */
export function expected(error: unknown): Problem {
  if (error instanceof MaestroError || errno(error) !== undefined) return problemOf(error);
  throw error;
}

export function problemOf(error: unknown): Problem {
  if (!(error instanceof MaestroError)) return { message: reasonOf(error) };
  const { code, message, hint } = error;
  return hint === undefined ? { code, message } : { code, message, hint };
}

/** Runs `work`; when it fails, reports the problem and returns undefined. */
export async function orReport<T>(report: (problem: Problem) => void, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    report(expected(error));
    return undefined;
  }
}

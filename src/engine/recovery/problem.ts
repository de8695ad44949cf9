// A failure of recovery that the user is told about instead of stopping the command.

import { type ErrorCode, errno, MaestroError, reasonOf } from "../../errors.ts";

export interface Problem {
  /** Absent for an error of the operating system. */
  code?: ErrorCode;
  message: string;
  hint?: string;
}

/** The problem for an error that a person can act on; every other error is a defect and is thrown again. */
export function expected(error: unknown): Problem {
  if (error instanceof MaestroError || errno(error) !== undefined) return problemOf(error);
  throw error;
}

export function problemOf(error: unknown): Problem {
  if (!(error instanceof MaestroError)) return { message: reasonOf(error) };
  const { code, message, hint } = error;
  return hint === undefined ? { code, message } : { code, message, hint };
}

/** Undefined, and a problem that is reported, when `work` fails. */
export async function orReport<T>(report: (problem: Problem) => void, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    report(expected(error));
    return undefined;
  }
}

// Crash points for the tests that kill the writer at every step. Inactive unless NODE_ENV=test and MAESTRO_CRASH_AT are set.

const target = process.env.NODE_ENV === "test" ? parse(process.env.MAESTRO_CRASH_AT) : undefined;
let seen = 0;

/**
 * Marks a step of a write. `MAESTRO_CRASH_AT=<step>:<n>` kills the process with SIGKILL the n-th time the named step is
 * reached; the step `any` counts them all, so a test can enumerate n = 1, 2, ... until a run finishes without a crash.
 */
export function crashPoint(step: string): void {
  if (target === undefined || (target.step !== "any" && target.step !== step)) return;
  seen += 1;
  if (seen === target.count) process.kill(process.pid, "SIGKILL");
}

/** True when the named step is the next to crash: the caller then writes half of its bytes before calling `crashPoint`. */
export function isArmed(step: string): boolean {
  if (target === undefined || (target.step !== "any" && target.step !== step)) return false;
  return seen + 1 === target.count;
}

function parse(value: string | undefined): { step: string; count: number } | undefined {
  const match = /^([a-z-]+):(\d+)$/.exec(value ?? "");
  return match ? { step: match[1] as string, count: Number(match[2]) } : undefined;
}

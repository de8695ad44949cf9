// Limits of time in tests that share their cores with others.

/** For a test that compares wall time with a limit: other processes may delay one try on a busy machine, hardly three. */
export const TIMED = { retry: 2 };

/** The processor time of this process so far, in milliseconds: unlike the clock, it hardly grows while other processes keep the cores busy. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

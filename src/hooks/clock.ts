// The clock that measures a hook's remaining time.

/** Milliseconds of a monotonic clock. `performance` would load a dozen modules. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

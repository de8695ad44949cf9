// The time that a hook has left is measured with it.

/** Milliseconds of a clock that never jumps. `performance` would load a dozen modules. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

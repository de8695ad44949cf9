// Lets the engine's loop have its turn during long work on files.

const TURN_MS = 8;

/** Awaited between steps it costs nothing until a turn's time is used up; `onPause` runs before the others do. */
export function turns(onPause?: () => void): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < TURN_MS) return undefined;
    onPause?.();
    return new Promise((resolve) =>
      setImmediate(() => {
        began = performance.now();
        resolve();
      }),
    );
  };
}

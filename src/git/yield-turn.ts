// Yields to the engine's event loop during long work on files.

const TURN_MS = 8;

/** Await the returned function between steps: it yields only when its time slice is used up. `onPause` runs before it yields. */
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

/** Set by `npm run chaos`, which goes through every point and more rounds. */
export const chaosRounds = Number(process.env.MAESTRO_CHAOS_ROUNDS ?? 0);

/** The share of write points that the gate visits: each costs a process or two. */
export const STRIDE = chaosRounds > 0 ? 1 : 3;

/**
 * The write points at which a test kills a process, until a run ends by itself. The gate visits an irregular third of them, so that no kind
 * of point that comes at regular intervals is left out; `npm run chaos` visits all.
 */
export function* crashPoints(most: number): Generator<number> {
  for (let point = 1; point < most; point++) {
    if (STRIDE === 1 || Math.imul(point, 0x9e3779b1) >>> 0 < 2 ** 32 / STRIDE) yield point;
  }
  throw new Error(`No run ended by itself in ${most} points`);
}

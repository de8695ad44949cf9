// The soak: a plan on two workers while workers, engine and Redis are killed at random. MAESTRO_SOAK_ROUNDS raises the number of rounds,
// MAESTRO_SOAK_SEED repeats a run.

import { afterAll, expect, test } from "vitest";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { randomFrom, soakRound } from "../support/soak.ts";

const rounds = Number(process.env.MAESTRO_SOAK_ROUNDS ?? 0);
const seed = Number(process.env.MAESTRO_SOAK_SEED ?? Date.now() % 1_000_000);
const isLong = rounds > 0;
const ROUND_MS = 300_000;

let server: TestRedis | undefined;
afterAll(async () => server?.close());

for (let round = 0; round < Math.max(1, rounds); round++) {
  test(`every phase is completed once whatever is killed (seed ${seed}, round ${round})`, {
    timeout: ROUND_MS,
  }, async (context) => {
    server ??= await startRedis(context);
    const size = isLong ? { phases: 20, kills: 10 } : { phases: 8, kills: 3 };
    const { killed, attempts } = await soakRound(server, { ...size, random: randomFrom(seed + round) });
    if (isLong)
      console.log(`round ${round}: killed ${killed.join(", ")}; ${attempts} attempts of ${size.phases} phases`);
    expect(attempts).toBeGreaterThanOrEqual(size.phases);
  });
}

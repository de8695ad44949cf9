// Runs the soak of workers: node tools/soak.js [rounds]. The name of a failed round has its seed; MAESTRO_SOAK_SEED repeats it.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const rounds = process.argv[2] ?? "100";
const { status } = spawnSync(
  join(root, "node_modules", ".bin", "vitest"),
  ["run", "test/scenarios/workers-soak.test.ts"],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, MAESTRO_SOAK_ROUNDS: rounds },
  },
);
process.exitCode = status ?? 1;

// Runs the fault scenarios with many rounds: node tools/chaos.js [rounds]. The message of a failed round contains its seed.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const rounds = process.argv[2] ?? "500";
const { status } = spawnSync(
  join(root, "node_modules", ".bin", "vitest"),
  [
    "run",
    ...["engine-crash", "isolation-crash", "crash", "concurrency", "workers-kill"].map(
      (name) => `test/scenarios/${name}.test.ts`,
    ),
    ...["git/apply/apply", "engine/integrate/bring-in"].map((name) => `src/${name}.test.ts`),
  ],
  { cwd: root, stdio: "inherit", env: { ...process.env, MAESTRO_CHAOS_ROUNDS: rounds } },
);
process.exitCode = status ?? 1;

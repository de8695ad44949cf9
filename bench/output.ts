// The engine's memory while 20 agents print 100 MB each, on stdout and on stderr: output goes to files, not through the engine.

import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { report } from "./support/measure.ts";
import { makeProject } from "./support/workload.ts";

const AGENTS = 20;
const phases = Array.from({ length: AGENTS }, (_, at) => ({ id: `p${at}`, blocked_by: [], seconds: 1 }));
// Half of them on stderr, which is cut; the others on stdout, which fails them.
const project = makeProject(
  phases,
  `cat >/dev/null\ncase "$MAESTRO_PHASE" in\n*[02468]) head -c 100000000 /dev/zero | tr '\\0' x >&2;;\n*) head -c 100000000 /dev/zero | tr '\\0' x;;\nesac`,
);
const engine = spawn(
  process.execPath,
  [join(process.cwd(), "dist", "maestro.js"), "run", "plan.md", "--mode", "parallel", "--keep-going"],
  {
    cwd: project,
    stdio: "ignore",
    env: {
      HOME: project,
      PATH: [join(project, "bin"), process.env.PATH].join(delimiter),
      MAESTRO_STAGGER_DELAY: "0",
      MAESTRO_MAX_RETRIES: "0",
    },
  },
);
let peak = 0;
const timer = setInterval(() => {
  try {
    const status = readFileSync(`/proc/${engine.pid}/status`, "utf8");
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    // Gone.
  }
}, 20);
const code = await new Promise<number | null>((resolve) => engine.once("exit", resolve));
clearInterval(timer);
rmSync(project, { recursive: true });
// The ten that overflowed stdout have failed, and wait for a decision.
if (code !== 4) throw new Error(`exit code ${code}`);
report("peak memory of the engine (VmHWM)", peak, "MB", 150);

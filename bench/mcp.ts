// Latency of the MCP server for its client: from its start to the first answer, compared with bare node; and of a durable session change,
// from call to answer, with 5 and with 5,000 phases. Interleaved rounds.

import { rmSync } from "node:fs";
import { McpServer, planOf, startBare } from "./support/mcp-server.ts";
import { median, report } from "./support/measure.ts";

const STARTS = 25;
const CALLS = 200;

const starts = { bare: [] as number[], server: [] as number[] };
for (let round = 0; round < STARTS; round++) {
  starts.bare.push(await startBare());
  const began = performance.now();
  const server = new McpServer(process.cwd());
  await server.initialize();
  starts.server.push(performance.now() - began);
  await server.kill();
}
report("node -e 0 (median)", median(starts.bare), "ms");
report("start to the initialize reply (median)", median(starts.server), "ms");
report("ratio", median(starts.server) / median(starts.bare), "x", 4);

const open = async (phases: number) => {
  const project = planOf(phases);
  const server = new McpServer(project);
  await server.initialize();
  await server.call("maestro_session_write", { action: "create", task: "bench", plan_path: "plan.md" });
  return { project, server };
};
const small = await open(5);
const large = await open(5000);

type Call = [what: string, tool: string, args: (round: number) => Record<string, unknown>];
const calls: Call[] = [
  ["progress report", "maestro_progress", (round) => ({ action: "report", phase_id: 1, message: `step ${round}` })],
  [
    "update_phase",
    "maestro_session_write",
    (round) => ({
      action: "update_phase",
      phase_id: 1,
      phase_status: round % 2 === 0 ? "in_progress" : "failed",
      user_decision: true,
    }),
  ],
  [
    "add_files",
    "maestro_session_write",
    (round) => ({ action: "add_files", phase_id: 1, files: { created: [`src/${round}.ts`] } }),
  ],
];
for (const [what, tool, args] of calls) {
  const times = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < CALLS; round++) {
    times.small.push(await small.server.timed(tool, args(round)));
    times.large.push(await large.server.timed(tool, args(round)));
  }
  report(`${what}, 5 phases (median)`, median(times.small), "ms", 5);
  report(`${what}, 5,000 phases (median)`, median(times.large), "ms", 5);
  report(`${what}, ratio`, median(times.large) / median(times.small), "x", 1.5);
}
for (const { project, server } of [small, large]) {
  await server.kill();
  rmSync(project, { recursive: true });
}

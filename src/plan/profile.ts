// The execution profile of a plan: which phases may run in parallel, and what that saves in time and tokens.
import { batchesOf, type Graph, longestPath, minutesOf } from "./graph.ts";
import type { PlanPhase } from "./plan.ts";

export interface PlannedBatch {
  /** Phase ids, in plan order. */
  phases: string[];
  /** `sequential` when no two of them may run in parallel, whatever mode the user chose. */
  mode: "parallel" | "sequential";
}

export interface ExecutionProfile {
  total_phases: number;
  /** Phases in batches with at least two phases that may run in parallel. */
  parallelizable_phases: number;
  batch_count: number;
  /** By dependency depth, like `parallel_batches` of the graph. */
  batches: PlannedBatch[];
  /** `parallel` assumes a free slot for every ready phase. */
  estimated_minutes: { parallel: number; sequential: number };
  /** How many phases have their own estimate; the others count DEFAULT_PHASE_MINUTES. */
  estimate_basis: number;
  /** Null when no phase has a token estimate. */
  estimated_tokens: { input: number; output: number } | null;
  note: string;
}

const note =
  "Parallel dispatch runs agents with --yolo: all their tool calls are approved without asking. " +
  "Review the results at the end of the run.";

/** The graph must not have cycles. */
export function profileOf(phases: readonly PlanPhase[], graph: Graph): ExecutionProfile {
  /** By depth, how many phases may run in parallel. */
  const sideBySide: number[] = [];
  const minutes = { alone: 0, sequential: 0 };
  const tokens = { input: 0, output: 0 };
  let timed = 0;
  let counted = 0;
  for (const [position, phase] of phases.entries()) {
    const depth = graph.depths[position] ?? 0;
    sideBySide[depth] = (sideBySide[depth] ?? 0) + (phase.parallel ? 1 : 0);
    minutes.sequential += minutesOf(phase);
    if (!phase.parallel) minutes.alone += minutesOf(phase);
    const { estimate } = phase;
    if (estimate?.minutes !== undefined) timed++;
    if (estimate?.input_tokens !== undefined || estimate?.output_tokens !== undefined) counted++;
    tokens.input += estimate?.input_tokens ?? 0;
    tokens.output += estimate?.output_tokens ?? 0;
  }
  // A phase that runs alone adds its whole duration; the others take at least as long as their longest chain.
  const together = longestPath(graph, (at) => (phases[at]?.parallel ? minutesOf(phases[at]) : 0)).length;
  return {
    total_phases: phases.length,
    parallelizable_phases: sideBySide.reduce((sum, count) => sum + (modeOf(count) === "parallel" ? count : 0), 0),
    batch_count: sideBySide.length,
    batches: batchesOf(phases, graph).map((ids, depth) => ({ phases: ids, mode: modeOf(sideBySide[depth] ?? 0) })),
    estimated_minutes: { parallel: together + minutes.alone, sequential: minutes.sequential },
    estimate_basis: timed,
    estimated_tokens: counted > 0 ? tokens : null,
    note,
  };
}

/** The mode of a batch with that many phases that may run in parallel. */
function modeOf(count: number): PlannedBatch["mode"] {
  return count > 1 ? "parallel" : "sequential";
}

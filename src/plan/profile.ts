// The execution profile of a plan: what may run side by side, and what that is worth in time and tokens.
import { batchesOf, type Graph, longestPath, minutesOf } from "./graph.ts";
import type { PlanPhase } from "./plan.ts";

export interface PlannedBatch {
  /** Ids, in plan order. */
  phases: string[];
  /** `sequential`: no two of them may run side by side, whatever mode the user chose. */
  mode: "parallel" | "sequential";
}

export interface ExecutionProfile {
  total_phases: number;
  /** Phases of a batch with at least two that may run side by side. */
  parallelizable_phases: number;
  batch_count: number;
  /** By dependency depth, as the graph's `parallel_batches`. */
  batches: PlannedBatch[];
  /** `parallel` supposes a free slot for every ready phase. */
  estimated_minutes: { parallel: number; sequential: number };
  /** How many phases carry an estimate of their own; the others count DEFAULT_PHASE_MINUTES. */
  estimate_basis: number;
  /** Null when no phase has an estimate of tokens. */
  estimated_tokens: { input: number; output: number } | null;
  note: string;
}

const note =
  "Parallel dispatch runs agents with --yolo: all their tool calls are approved without asking. " +
  "Review the results after each batch.";

/** The graph must be free of cycles. */
export function profileOf(phases: readonly PlanPhase[], graph: Graph): ExecutionProfile {
  /** By depth, how many phases may run side by side. */
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
  // A phase that runs alone adds its whole time; the others take at least their longest chain.
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

/** Of a batch with so many phases that may run side by side. */
function modeOf(count: number): PlannedBatch["mode"] {
  return count > 1 ? "parallel" : "sequential";
}

// Checks a recorded plan for contradictions that its shape allows, because a reader must not trust the program that wrote it.

import { graphOf } from "../plan/graph.ts";
import { readOwnedPath } from "../plan/owned-path.ts";
import { fileFields, type PlanPhase } from "../plan/plan.ts";
import type { Fault } from "../shape.ts";

/** Ids must be unique, phases may only depend on other phases of the plan and without cycles, and owned paths must be in the project. */
export function planFault(phases: readonly PlanPhase[]): Fault | undefined {
  return orderFault(phases) ?? pathsFault(phases);
}

export function orderFault(phases: readonly Pick<PlanPhase, "id" | "blocked_by">[]): Fault | undefined {
  const ids = new Set(phases.map(({ id }) => id));
  if (ids.size !== phases.length) return { path: ["phases"], expected: "phases with different ids" };
  for (const { id, blocked_by } of phases) {
    if (!blocked_by.every((other) => ids.has(other))) {
      return { path: ["phases", id, "blocked_by"], expected: "phases of the plan" };
    }
  }
  const stuck = graphOf(phases).depths.indexOf(null);
  if (stuck === -1) return undefined;
  return { path: ["phases", phases[stuck]?.id ?? "", "blocked_by"], expected: "free of cycles" };
}

function pathsFault(phases: readonly PlanPhase[]): Fault | undefined {
  for (const phase of phases) {
    for (const field of fileFields) {
      if (phase[field].some((path) => "problem" in readOwnedPath(path, []))) {
        return { path: ["phases", phase.id, field], expected: "paths inside the project" };
      }
    }
  }
  return undefined;
}

// The script of a rehearsal: how long each phase takes, and the one failure. Pure.

import { graphOf, longestPath, minutesOf } from "../../plan/graph.ts";
import type { Plan, PlanPhase } from "../../plan/plan.ts";

export interface Script {
  phases: (PlanPhase & { ms: number })[];
  validation_ms: number;
  /** One phase fails once, so that the user sees a retry; null when retries are disabled. */
  failing: { phase: string; where: "validation" | "report" } | null;
}

/** A shorter phase would not be visible. */
const LEAST_MS = 250;

/** `stageMs` is how long the longest chain of the plan takes. */
export function scriptOf(plan: Plan, stageMs: number, maxRetries: number): Script {
  const { length } = longestPath(graphOf(plan.phases), (at) => minutesOf(plan.phases[at]));
  const msPerMinute = stageMs / Math.max(length, 0.001);
  const phases = plan.phases.map((phase) => ({
    ...phase,
    ms: Math.max(LEAST_MS, Math.round(minutesOf(phase) * msPerMinute)),
  }));
  return { phases, validation_ms: LEAST_MS, failing: maxRetries === 0 ? null : failingOf(plan.phases) };
}

/** The second phase that has validation, if any, so that the user sees a success first. */
function failingOf(phases: readonly PlanPhase[]): NonNullable<Script["failing"]> {
  const validated = phases.filter((phase) => phase.validation.length > 0);
  const chosen = validated[1] ?? validated[0];
  if (chosen !== undefined) return { phase: chosen.id, where: "validation" };
  return { phase: phases[Math.floor(phases.length / 2)]?.id ?? "", where: "report" };
}

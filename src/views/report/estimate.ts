// What the estimates of a plan amount to in money. A missing estimate makes the result unknown.

import type { PlanPhase } from "../../plan/plan.ts";
import { costOf, type Prices } from "./prices.ts";

type Estimated = Pick<PlanPhase, "id" | "estimate">;

/** Whether every phase has a token estimate. */
export function isEstimated(phases: readonly Estimated[]): boolean {
  return phases.every(({ estimate }) => estimate?.input_tokens !== undefined && estimate.output_tokens !== undefined);
}

/**
 * Dollars; null when a phase lacks an estimate or a model with a price. `models` has the model of each phase; null lets the runtime choose.
 */
export function estimatedCost(
  phases: readonly Estimated[],
  models: ReadonlyMap<string, string | null>,
  prices: Prices,
): number | null {
  let total = 0;
  for (const { id, estimate } of phases) {
    const { input_tokens: input, output_tokens: output } = estimate ?? {};
    if (input === undefined || output === undefined) return null;
    const cost = costOf([{ model: models.get(id) ?? null, input, output, cached: 0, thoughts: 0 }], prices);
    if (cost === null) return null;
    total += cost;
  }
  return total;
}

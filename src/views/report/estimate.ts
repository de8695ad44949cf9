// What the estimates of a plan come to in money. Where one is missing nothing is claimed.

import type { PlanPhase } from "../../plan/plan.ts";
import { costOf, type Prices } from "./prices.ts";

type Estimated = Pick<PlanPhase, "id" | "estimate">;

/** Every phase says how many tokens it may take. */
export function isEstimated(phases: readonly Estimated[]): boolean {
  return phases.every(({ estimate }) => estimate?.input_tokens !== undefined && estimate.output_tokens !== undefined);
}

/** Dollars; null: not every phase has an estimate and a model with a price. `models`: of each phase; null: the runtime chooses. */
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

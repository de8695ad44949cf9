// The budget that a run would have, and what its plan is expected to use of it.

import { type Amounts, parseAmounts } from "../amounts.ts";
import { planCost } from "../engine/plan-cost.ts";
import type { PlanPhase } from "../plan/plan.ts";
import type { ResolvedSettings } from "../settings.ts";
import { isEstimated } from "../views/report/estimate.ts";
import { rosterOf } from "./context.ts";
import type { Io } from "./io.ts";
import { pricesOf } from "./prices.ts";
import { budgetFlag, type EngineFlags } from "./run/engine-options.ts";

/** The budget that a new session gets; undefined without one. */
export function chosenBudget({ values }: ResolvedSettings, flags: EngineFlags): Amounts | undefined {
  return budgetFlag(flags) ?? parseAmounts(values.MAESTRO_BUDGET);
}

/** What a plan is expected to use, in the units that its estimates and the prices tell. */
export function planEstimate(
  io: Io,
  settings: ResolvedSettings,
  phases: readonly PlanPhase[],
  model?: string,
): Amounts {
  if (!isEstimated(phases)) return {};
  const usd = planCost(rosterOf(io).agents, settings.values, pricesOf(io, settings), model)(phases);
  const tok = phases.reduce(
    (sum, { estimate: { input_tokens = 0, output_tokens = 0 } = {} }) => sum + input_tokens + output_tokens,
    0,
  );
  return { tok, ...(usd === null ? {} : { usd }) };
}

// What the phases of a plan cost by their estimates, with the models that a run would use.

import type { Agent } from "../agents/roster.ts";
import type { PlanPhase } from "../plan/plan.ts";
import { type ModelSettings, modelFor } from "../runtimes/models.ts";
import { estimatedCost } from "../views/report/estimate.ts";
import type { Prices } from "../views/report/prices.ts";

/** Returns dollars; null when a phase lacks an estimate or a model with a price. */
export function planCost(
  roster: readonly Agent[],
  settings: ModelSettings,
  prices: Prices,
  flag?: string,
): (phases: readonly PlanPhase[]) => number | null {
  const agents = new Map(roster.map((agent) => [agent.name, agent]));
  return (phases) => {
    const models = phases.map(
      ({ id, agent }) => [id, modelFor(agents.get(agent) ?? { name: agent }, settings, flag)] as const,
    );
    return estimatedCost(phases, new Map(models), prices);
  };
}

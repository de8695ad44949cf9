// maestro_validate_plan: validates a plan and estimates its run. Read-only.

import { loadRoster } from "../../agents/roster.ts";
import type { PlanPhase } from "../../plan/plan.ts";
import type { ValidationReport } from "../../plan/validate.ts";
import { agentsFolder } from "../../program-root.ts";
import { modelFor } from "../../runtimes/models.ts";
import { readPlan } from "../../store/files/plan-file.ts";
import { readPrices } from "../../store/files/prices-file.ts";
import { estimatedCost, isEstimated } from "../../views/report/estimate.ts";
import { flagField, textField } from "../fields.ts";
import { action, type Context, ONLY, type Tool } from "../tool.ts";
import { planReport } from "./session-create.ts";

export const validatePlanTool: Tool = {
  name: "maestro_validate_plan",
  description:
    "Check an implementation plan file: errors, warnings, dependency graph, execution profile, estimate of time, tokens and cost.",
  actions: {
    [ONLY]: action(
      { plan_path: textField(4_096), full: flagField("no limit of 8 KB").optional() },
      (context, input) => {
        const report = planReport(context, readPlan(context.location, input.plan_path).bytes);
        const { valid, errors, warnings, dependency_graph, profile } = report;
        return {
          body: {
            valid,
            errors,
            warnings,
            dependency_graph,
            execution_profile: profile,
            estimate: estimateOf(context, report),
          },
          full: input.full,
        };
      },
    ),
  },
};

/** Null when the phases cannot be ordered. */
function estimateOf(context: Context, { profile, plan }: ValidationReport) {
  if (profile === null) return null;
  const { estimated_minutes: minutes, estimated_tokens: tokens, estimate_basis, total_phases } = profile;
  const cost = plan === undefined ? null : costOf(context, plan.phases);
  const basis = `${estimate_basis} of ${total_phases} phases have a time estimate`;
  return { minutes, tokens, cost_usd: cost, basis, ...(cost === null ? { cost_note: whyNoCost(plan?.phases) } : {}) };
}

function costOf({ env, settings, cwd }: Context, phases: readonly PlanPhase[]): number | null {
  const agents = new Map(loadRoster(agentsFolder(env)).agents.map((agent) => [agent.name, agent]));
  const models = new Map(
    phases.map(({ id, agent }) => [id, modelFor(agents.get(agent) ?? { name: agent }, settings, undefined)]),
  );
  return estimatedCost(phases, models, readPrices(cwd, settings.MAESTRO_PRICES));
}

function whyNoCost(phases: readonly PlanPhase[] | undefined): string {
  if (phases === undefined) return "The plan is not valid.";
  return isEstimated(phases)
    ? "A model has no known price: set MAESTRO_DEFAULT_MODEL, or MAESTRO_PRICES."
    : "Not every phase has an estimate of its tokens.";
}

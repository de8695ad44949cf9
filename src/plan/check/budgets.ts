// Warns of a phase whose budget is more than that of the whole session: its attempts can never reserve it.

import { type Amounts, amountsText, unitsOf } from "../../amounts.ts";
import { addWarning } from "../issue.ts";
import type { Findings, PlanPhase } from "../plan.ts";

/** `session`: the budget that the session would have. */
export function checkBudgets(phases: readonly PlanPhase[], session: Amounts, findings: Findings): void {
  for (const { id, budget } of phases) {
    const over = exceeding(budget ?? {}, session);
    if (unitsOf(over.phase).length === 0) continue;
    const what = `Phase ${id}: its budget of ${amountsText(over.phase)} is more than the session's budget of ${amountsText(over.session)}`;
    const message = `${what}, so its attempts get less or cannot start; lower it, or raise the session's budget (--budget, MAESTRO_BUDGET)`;
    addWarning(findings, "budget_over_session", id, message);
  }
}

export function budgetWarnings(phases: readonly PlanPhase[], session: Amounts): Findings["warnings"] {
  const findings: Findings = { errors: [], warnings: [] };
  checkBudgets(phases, session, findings);
  return findings.warnings;
}

/** The amounts of both in the units in which the phase has more. */
function exceeding(phase: Amounts, session: Amounts): { phase: Amounts; session: Amounts } {
  const over: { phase: Amounts; session: Amounts } = { phase: {}, session: {} };
  for (const unit of unitsOf(phase)) {
    const [own, whole] = [phase[unit], session[unit]];
    if (own === undefined || whole === undefined || own <= whole) continue;
    over.phase[unit] = own;
    over.session[unit] = whole;
  }
  return over;
}

// The block that asks the user for a larger budget, with the command that gives it.

import { amountsText, replaced } from "../../amounts.ts";
import { ledgerOf } from "../../session/budget/ledger.ts";
import { findPhase, type Session } from "../../session/session.ts";
import { budgetText, ledgerText } from "../text/budget.ts";
import { oneLine } from "../text/cell.ts";
import type { EscalationLook } from "./escalation.ts";

export type BudgetSpent = NonNullable<Session["budget_spent"]>;

export interface BudgetOption {
  name: "raise" | "abort";
  command: string;
}

export function budgetTitle({ phase }: BudgetSpent): string {
  return `Budget spent: phase ${phase} cannot start`;
}

/** What is missing, in one sentence. */
export function budgetMessage(session: Session, { phase, wanted }: BudgetSpent): string {
  const ledger = ledgerOf(session);
  const name = oneLine(findPhase(session, phase)?.name ?? "");
  const stands = ledger === null ? "" : `${ledgerText(ledger)}. `;
  return `${stands}Phase ${phase} ${name} needs ${budgetText(wanted)} for its next attempt. Nothing starts until the budget is raised.`;
}

export function budgetOptions({ proposed }: BudgetSpent, { program }: Pick<EscalationLook, "program">): BudgetOption[] {
  return [
    { name: "raise", command: `${program} resume --budget ${amountsText(proposed)}` },
    { name: "abort", command: `${program} abort` },
  ];
}

export function budgetBlock(session: Session, spent: BudgetSpent, look: EscalationLook): string[] {
  const options = budgetOptions(spent, look);
  const whole = amountsText(replaced(session.budget?.cap ?? {}, spent.proposed));
  return [
    budgetTitle(spent),
    "",
    budgetMessage(session, spent),
    "",
    "Options:",
    `1. Raise the budget: ${whole} lets every open phase have one more attempt`,
    "2. Abort orchestration and review session state",
    "",
    "What would you like to do?",
    "",
    "  To answer:",
    ...options.map(({ command }, at) => `    ${at + 1}. ${command}`),
  ];
}

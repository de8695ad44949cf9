// Formats the amounts of a budget for people: "$1.20", "48.2k tokens", "12 requests".

import { type Amounts, type BudgetUnit, unitsOf } from "../../amounts.ts";
import type { Ledger } from "../../session/budget/ledger.ts";
import { compact, dollars, plural } from "./amount.ts";

const words: Record<BudgetUnit, (amount: number) => string> = {
  usd: (amount) => (amount < 0 ? `-${dollars(-amount)}` : dollars(amount)),
  tok: (amount) => (amount < 0 ? `-${compact(-amount)} tokens` : `${compact(amount)} tokens`),
  req: (amount) => plural(amount, "request"),
};

/** "$1.20, 48.2k tokens"; "nothing" for no amount. */
export function budgetText(amounts: Amounts): string {
  return (
    unitsOf(amounts)
      .map((unit) => words[unit](amounts[unit] ?? 0))
      .join(", ") || "nothing"
  );
}

/** "$1.20 of $5.00 spent, $0.80 reserved", for each unit of the budget. */
export function ledgerText({ cap, spent, reserved }: Ledger): string {
  return unitsOf(cap)
    .map((unit) => {
      const held = reserved[unit] ?? 0;
      const taken = held === 0 ? "" : `, ${words[unit](held)} reserved`;
      return `${words[unit](spent[unit] ?? 0)} of ${words[unit](cap[unit] ?? 0)} spent${taken}`;
    })
    .join("; ");
}

/** "$5.00, estimated $1.20 (24 %)" for each unit of a budget; `estimate` lacks the units that cannot be estimated. */
export function budgetForecast(cap: Amounts, estimate: Amounts): string {
  return unitsOf(cap)
    .map((unit) => {
      const [most, expected] = [cap[unit] ?? 0, estimate[unit]];
      if (expected === undefined) return `${words[unit](most)}, no estimate`;
      const warning = expected > most ? ", more than the budget" : "";
      return `${words[unit](most)}, estimated ${words[unit](expected)} (${Math.round((expected / most) * 100)} %${warning})`;
    })
    .join("; ");
}

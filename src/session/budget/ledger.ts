// What a session may spend, has spent and has reserved: one number per unit, from its record alone. Nothing here is kept elsewhere, so a
// resume cannot reset it. Pure.

import { type Amounts, addAmounts, unitsOf, whole } from "../../amounts.ts";
import type { Usage } from "../events.ts";
import type { Attempt, Session } from "../session.ts";

export interface Ledger {
  cap: Amounts;
  spent: Amounts;
  /** What running attempts may still use. */
  reserved: Amounts;
  /** Below zero when the last attempts used more than they had reserved. */
  left: Amounts;
}

/** Null when the session has no budget. */
export function ledgerOf(session: Pick<Session, "budget" | "phases">): Ledger | null {
  const { budget } = session;
  if (budget === null) return null;
  let { before: spent } = budget;
  let reserved: Amounts = {};
  for (const { attempts } of session.phases) {
    for (const attempt of attempts) {
      if (attempt.result !== null) spent = addAmounts(spent, settledBy(attempt));
      else if (attempt.reserved !== undefined) reserved = addAmounts(reserved, attempt.reserved);
    }
  }
  const left: Amounts = {};
  for (const unit of unitsOf(budget.cap)) {
    left[unit] = whole(unit, (budget.cap[unit] ?? 0) - (spent[unit] ?? 0) - (reserved[unit] ?? 0));
  }
  return { cap: budget.cap, spent: only(spent, budget.cap), reserved: only(reserved, budget.cap), left };
}

/** An end that was recorded without an amount settles at its reservation, never at nothing. */
export function settledBy({ result, reserved }: Pick<Attempt, "result" | "reserved">): Amounts {
  return result?.spent ?? reserved ?? {};
}

/** What finished attempts used that were started without a budget, as far as they reported it. */
export function spentBefore(
  { phases }: Pick<Session, "phases">,
  charge: (usage: readonly Usage[]) => Amounts,
): Amounts {
  return phases
    .flatMap(({ attempts }) => attempts)
    .filter(({ result, reserved }) => result?.spent === undefined && reserved === undefined)
    .map(({ result }) => (result?.usage == null ? {} : charge(result.usage)))
    .reduce(addAmounts, {});
}

/** The limited units; zero where nothing is known. */
function only(amounts: Amounts, cap: Amounts): Amounts {
  return Object.fromEntries(unitsOf(cap).map((unit) => [unit, amounts[unit] ?? 0]));
}

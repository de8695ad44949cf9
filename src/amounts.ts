// Amounts of a budget: dollars, tokens and model requests, as people write them: `5usd`, `2Mtok`, `300req`, several separated by commas.
// Absent means not limited, or not known; it never means zero.

export const budgetUnits = ["usd", "tok", "req"] as const;
export type BudgetUnit = (typeof budgetUnits)[number];
export type Amounts = { [Unit in BudgetUnit]?: number | undefined };

export const AMOUNTS_EXPECTED = "amounts such as 5usd, 2Mtok or 300req, separated by commas";

const scales: Readonly<Record<string, number>> = { "": 1, k: 1000, K: 1000, M: 1_000_000 };
/** The largest amount, and the smallest part of a dollar that is counted. */
const MOST = 1e12;
const MICRO = 1_000_000;

/** Undefined when the text is not a list of amounts, names a unit twice, or has an amount of zero. */
export function parseAmounts(text: string): Amounts | undefined {
  const amounts: Amounts = {};
  for (const part of text.split(",")) {
    const [, digits, scale, unit] = /^\s*(\d{1,12}(?:\.\d{1,6})?)([kKM]?)(usd|tok|req)\s*$/.exec(part) ?? [];
    if (digits === undefined) return undefined;
    const named = unit as BudgetUnit;
    const amount = whole(named, Number(digits) * (scales[scale ?? ""] ?? 1));
    if (amount <= 0 || amount > MOST || amounts[named] !== undefined) return undefined;
    amounts[named] = amount;
  }
  return amounts;
}

/** As `parseAmounts` reads it: "5usd,2Mtok". Empty for no amount. */
export function amountsText(amounts: Amounts): string {
  return unitsOf(amounts)
    .map((unit) => `${scaled(unit, amounts[unit] ?? 0)}${unit}`)
    .join(",");
}

function scaled(unit: BudgetUnit, amount: number): string {
  if (unit === "usd") return String(whole(unit, amount));
  if (amount >= MICRO && amount % 10_000 === 0) return `${amount / MICRO}M`;
  return amount >= 1000 && amount % 100 === 0 ? `${amount / 1000}k` : String(amount);
}

/** The units that are limited or known, in a fixed order. */
export function unitsOf(amounts: Amounts): BudgetUnit[] {
  return budgetUnits.filter((unit) => amounts[unit] !== undefined);
}

export function isNothing(amounts: Amounts): boolean {
  return unitsOf(amounts).length === 0;
}

/** Tokens and requests are whole; a millionth of a dollar is the smallest part of money. */
export function whole(unit: BudgetUnit, amount: number): number {
  return unit === "usd" ? Math.round(amount * MICRO) / MICRO : Math.round(amount);
}

/** The sum over all units that one of them has. */
export function addAmounts(one: Amounts, other: Amounts): Amounts {
  return combined(one, other, (a, b) => a + b);
}

/** For each unit the smaller of both: the limits of both hold. */
export function tighter(one: Amounts, other: Amounts): Amounts {
  return combined(one, other, Math.min);
}

/** The amounts of `one`, replaced by those of `other`. */
export function replaced(one: Amounts, other: Amounts): Amounts {
  return combined(one, other, (_, b) => b);
}

function combined(one: Amounts, other: Amounts, both: (a: number, b: number) => number): Amounts {
  const result: Amounts = {};
  for (const unit of budgetUnits) {
    const [a, b] = [one[unit], other[unit]];
    if (a !== undefined && b !== undefined) result[unit] = whole(unit, both(a, b));
    else if (a !== undefined || b !== undefined) result[unit] = a ?? b;
  }
  return result;
}

/** Two amounts of `MAESTRO_BUDGET`: both limits hold. Empty means no limit. */
export function tighterText(one: string, other: string): string {
  return amountsText(tighter(parseAmounts(one) ?? {}, parseAmounts(other) ?? {}));
}

// How much an attempt reserves before it starts, and at what its end settles. The reservation is also the most that the attempt may use. Pure.

import { type Amounts, addAmounts, type BudgetUnit, isNothing, unitsOf, whole } from "../../amounts.ts";
import { isClosed, lastAttempt, type Session, type SessionPhase } from "../session.ts";
import { type Ledger, ledgerOf, settledBy } from "./ledger.ts";

/** The reason of an attempt that was stopped at its reservation. */
export const OVER_BUDGET = "over_budget";

export type Reservation =
  /** Neither the session nor the phase is limited. */
  | { kind: "unlimited" }
  | { kind: "reserved"; amounts: Amounts }
  /** Less than half of what the attempt should have is left. */
  | { kind: "short"; wanted: Amounts };

/** Fewer finished attempts say nothing about the next one. */
const LEAST_SAMPLES = 3;
const QUANTILE = 0.9;
const ESTIMATE_FACTOR = 2;
/** An attempt starts with less than it should have, down to this part of it. */
const LEAST_PART = 0.5;

/** What all reservations of a session depend on, computed once for many phases. */
export interface BudgetStanding {
  ledger: Ledger | null;
  /** What nine of ten finished attempts did not exceed; absent while too few have finished. */
  usual: Amounts;
  /** The phases that still need an attempt. */
  waiting: number;
  phases: number;
}

export function budgetStanding(session: Session): BudgetStanding {
  const ledger = ledgerOf(session);
  const usual: Amounts = {};
  for (const unit of unitsOf(ledger?.cap ?? {})) {
    const amount = usualAmount(session, unit);
    if (amount !== undefined) usual[unit] = amount;
  }
  const waiting = session.phases.filter((phase) => !isClosed(phase) && lastAttempt(phase)?.result !== null).length;
  return { ledger, usual, waiting, phases: session.phases.length };
}

/** `estimate`: what the plan expects of the phase, in the units that can be computed. */
export function reservationFor(standing: BudgetStanding, phase: SessionPhase, estimate: Amounts): Reservation {
  const { ledger } = standing;
  const own = phase.plan?.budget ?? {};
  const units = unitsOf(addAmounts(ledger?.cap ?? {}, own));
  if (units.length === 0) return { kind: "unlimited" };
  const amounts: Amounts = {};
  const wanted: Amounts = {};
  let isShort = false;
  for (const unit of units) {
    const left = ledger?.left[unit] ?? Number.POSITIVE_INFINITY;
    const asked = wantedOf(unit, standing, phase, estimate);
    wanted[unit] = asked;
    amounts[unit] = Math.min(asked, left);
    // An attempt without a single token or request of its own could not do anything.
    isShort ||= left <= 0 || left < asked * LEAST_PART || whole(unit, amounts[unit] ?? 0) <= 0;
  }
  return isShort ? { kind: "short", wanted } : { kind: "reserved", amounts };
}

/** What an attempt of the phase should have, whatever is left. */
function wantedOf(unit: BudgetUnit, standing: BudgetStanding, phase: SessionPhase, estimate: Amounts): number {
  const own = phase.plan?.budget?.[unit];
  if (own !== undefined) return own;
  const expected = estimate[unit];
  const usual =
    expected !== undefined && expected > 0
      ? whole(unit, expected * ESTIMATE_FACTOR)
      : (standing.usual[unit] ?? equalShare(unit, standing));
  return Math.max(usual, twiceTheLast(unit, phase));
}

/** The next attempt after one that was stopped at its reservation gets twice as much. */
function twiceTheLast(unit: BudgetUnit, phase: SessionPhase): number {
  const last = lastAttempt(phase);
  return last?.result?.reason === OVER_BUDGET ? whole(unit, 2 * (last.reserved?.[unit] ?? 0)) : 0;
}

/** What nine of ten finished attempts did not exceed; undefined while too few have finished. */
function usualAmount({ phases }: Session, unit: BudgetUnit): number | undefined {
  const used = phases
    .flatMap(({ attempts }) => attempts)
    .filter(({ result }) => result?.outcome === "success" || result?.outcome === "failure")
    .map((attempt) => settledBy(attempt)[unit] ?? 0)
    .filter((amount) => amount > 0)
    .sort((a, b) => a - b);
  return used.length < LEAST_SAMPLES ? undefined : used[Math.ceil(used.length * QUANTILE) - 1];
}

/** What is left, divided among the phases that still need an attempt. When nothing is left, as if nothing had been spent. */
function equalShare(unit: BudgetUnit, { ledger, waiting, phases }: BudgetStanding): number {
  const left = ledger?.left[unit] ?? 0;
  const [amount, parts] = left > 0 ? [left, waiting] : [ledger?.cap[unit] ?? 0, phases];
  const share = amount / Math.max(1, parts);
  return unit === "usd" ? whole(unit, share) : Math.max(1, Math.floor(share));
}

export interface Ended {
  reserved: Amounts;
  /** What the runtime reported at the end; null when it reported nothing. */
  reported: Amounts | null;
  /** What was counted while it ran; null when nothing could be. */
  metered: Amounts | null;
  /** No request of it was answered: its process did not start, or the provider rejected its first request. */
  isUnbilled: boolean;
}

/** A unit that neither the report nor the meter has settles at its reservation. */
export function settle({ reserved, reported, metered, isUnbilled }: Ended): Amounts {
  const spent: Amounts = {};
  for (const unit of unitsOf(reserved)) {
    const known = reported?.[unit] ?? metered?.[unit];
    spent[unit] = whole(unit, known ?? (isUnbilled ? 0 : (reserved[unit] ?? 0)));
  }
  return spent;
}

/** The first unit in which an attempt has used more than it may; undefined when it is within its limits. */
export function exceeded(used: Amounts, cap: Amounts): BudgetUnit | undefined {
  return unitsOf(cap).find((unit) => (used[unit] ?? 0) > (cap[unit] ?? 0));
}

/** A budget with which every open phase can have one attempt more, in round numbers. Empty when no unit is short. */
export function proposedBudget(
  session: Session,
  { ledger }: BudgetStanding,
  wanted: (phase: SessionPhase) => Amounts,
): Amounts {
  if (ledger === null) return {};
  const open = session.phases.filter((phase) => !isClosed(phase) && phase.status !== "aborted");
  const needed = open.map(wanted).reduce(addAmounts, {});
  const proposed: Amounts = {};
  for (const unit of unitsOf(ledger.cap)) {
    const [left, need] = [ledger.left[unit] ?? 0, needed[unit] ?? 0];
    if (left < need) proposed[unit] = roundUp(unit, (ledger.cap[unit] ?? 0) - left + need);
  }
  return isNothing(proposed) ? {} : proposed;
}

/** Two significant digits. */
function roundUp(unit: BudgetUnit, amount: number): number {
  const step = 10 ** (Math.floor(Math.log10(Math.max(amount, 1e-6))) - 1);
  const least = unit === "usd" ? Math.max(step, 0.01) : Math.max(step, 1);
  return whole(unit, Math.ceil(whole("usd", amount / least)) * least);
}

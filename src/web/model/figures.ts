// The figures at the head of the page: progress, times, tokens, cost and changes. Unknown values are shown as unknown, never as 0. Pure.

import { unitsOf } from "../../amounts.ts";
import { ledgerOf } from "../../session/budget/ledger.ts";
import { isClosed, type Session } from "../../session/session.ts";
import type { Prices } from "../../views/report/prices.ts";
import { spendingJson, spendingOf } from "../../views/report/spending.ts";
import { wallTime, workedMs } from "../../views/report/times.ts";
import { compact, dollars, plural } from "../../views/text/amount.ts";
import { budgetText } from "../../views/text/budget.ts";
import { durationText } from "../../views/text/duration.ts";
import { amountText, sessionAmount } from "../../views/work.ts";

export interface Figure {
  label: string;
  value: string;
  detail: string;
}

const UNKNOWN = "unknown";
/** Agents report when they end: until then 0 would be a lie. */
const NONE_YET = { value: "–", detail: "none reported yet" };

export function figuresOf(session: Session, prices: Prices, now: Date, criticalMs: number): Figure[] {
  const done = session.phases.filter(isClosed).length;
  const wall = wallTime(session, now);
  const work = session.phases.reduce((sum, phase) => sum + (workedMs(session, phase, now) ?? 0), 0);
  const wallMs = wall === null ? 0 : wall.end - wall.start;
  const spending = spendingJson(spendingOf(session, prices));
  const { input, output, cost } = spending;
  const tokens = input === null || output === null ? null : input + output;
  const silent = spending.unreported;
  const missing = silent === 0 ? "" : `${plural(silent, "attempt")} reported none`;
  const used = (): Figure[] => [
    {
      label: "Tokens",
      value: tokens === null ? UNKNOWN : `${silent > 0 ? "≥ " : ""}${compact(tokens)}`,
      detail: tokens === null ? "none reported" : missing || `${compact(input ?? 0)} in, ${compact(output ?? 0)} out`,
    },
    {
      label: "Cost",
      value: costText(cost, silent),
      detail: cost === null ? "a price is unknown" : silent > 0 ? missing : "list prices",
    },
  ];
  return [
    { label: "Phases", value: `${done} / ${session.phases.length}`, detail: "done" },
    {
      label: "Wall time",
      value: wall === null ? "–" : durationText(wallMs),
      detail: wallMs > 0 ? `${(work / wallMs).toFixed(1)} agents on average` : "nothing has run",
    },
    {
      label: "Critical path",
      value: durationText(criticalMs),
      detail: done < session.phases.length ? "with estimates" : "longest chain of phases",
    },
    ...(tokens === 0
      ? [
          { label: "Tokens", ...NONE_YET },
          { label: "Cost", ...NONE_YET },
        ]
      : used()),
    ...budgetFigures(session),
    { label: "Changes", ...changes(session) },
  ];
}

/** One for each unit that is limited. */
function budgetFigures(session: Session): Figure[] {
  const ledger = ledgerOf(session);
  return unitsOf(ledger?.cap ?? {}).map((unit) => {
    const [cap, spent, reserved] = [ledger?.cap, ledger?.spent, ledger?.reserved].map((one) => one?.[unit] ?? 0);
    const text = (amount = 0) => budgetText({ [unit]: amount });
    const detail = reserved === 0 ? `of ${text(cap)}` : `of ${text(cap)}, ${text(reserved)} reserved`;
    return { label: "Budget", value: text(spent), detail };
  });
}

function costText(cost: number | null, silent: number): string {
  if (cost === null) return UNKNOWN;
  return silent > 0 ? `≥ ${dollars(cost)}` : dollars(cost);
}

function changes(session: Session): { value: string; detail: string } {
  const ended = session.phases.flatMap(({ attempts }) => attempts.filter(({ result }) => result !== null));
  if (ended.every((attempt) => attempt.changes === undefined)) {
    return ended.length === 0 ? { value: "–", detail: "none yet" } : { value: UNKNOWN, detail: "not recorded" };
  }
  const amount = sessionAmount(session);
  const [files = "", lines = ""] = amountText(amount).split(" (");
  return { value: files, detail: lines === "" ? "in the project" : lines.replace(")", "") };
}

// The lines below the live table: slots, problems, progress and forecast.

import { ledgerOf } from "../../session/budget/ledger.ts";
import { openReview, reviewSubject } from "../../session/review/review.ts";
import { lastAttempt, type Session, type Warning } from "../../session/session.ts";
import { compact, plural } from "../text/amount.ts";
import { ledgerText } from "../text/budget.ts";
import { clip, cut } from "../text/cell.ts";
import { clockTime, roughly, stopwatch } from "../text/duration.ts";
import { headline } from "../text/headline.ts";
import type { Paint } from "../text/paint.ts";
import { displayWidth } from "../text/width.ts";
import { type Forecast, forecast } from "./forecast.ts";
import { type Live, standingOf } from "./row.ts";

const MAX_BAR = 40;
const MIN_BAR = 8;

/** The progress line comes last. */
export function footLines(session: Session, live: Live, paint: Paint, width: number): string[] {
  const ahead = forecast(session, live.now, live.slots);
  return [
    clip(factsOf(session, live, ahead).join(" · "), width),
    ...warningLine(session, paint, width),
    ...decisionLine(session, paint, width),
    ...reviewLine(session, paint, width),
    ...quotaLine(session, live, paint, width),
    progressBar(session, live, ahead, paint, width),
  ];
}

function factsOf(session: Session, live: Live, { criticalPathLeftMs }: Forecast): string[] {
  const used = session.phases.filter((phase) =>
    ["running", "checking"].includes(standingOf(session, phase, live).word),
  ).length;
  const { total_input, total_output } = session.token_usage;
  const warnings = session.phases.reduce((sum, phase) => sum + phase.warnings.length, 0);
  const isOver = session.status !== "in_progress" || criticalPathLeftMs < 1000;
  return [
    live.slots === null ? `${used} running` : `${used} of ${plural(live.slots, "slot")} in use`,
    ...(isOver ? [] : [`critical path ${roughly(criticalPathLeftMs)} left`]),
    ...(total_input + total_output === 0 ? [] : [`${compact(total_input + total_output)} tokens`]),
    ...budgetFacts(session),
    ...(warnings === 0 ? [] : [plural(warnings, "warning")]),
  ];
}

function budgetFacts(session: Session): string[] {
  const ledger = ledgerOf(session);
  return ledger === null ? [] : [`budget ${ledgerText(ledger)}`];
}

/** The latest warning, unless another attempt of its phase has started since; the others are in the report. */
function warningLine(session: Session, paint: Paint, width: number): string[] {
  let latest: { phase: string; warning: Warning } | undefined;
  for (const phase of session.phases) {
    const warning = phase.warnings.at(-1);
    if (warning === undefined) continue;
    const since = lastAttempt(phase)?.started ?? phase.started ?? "";
    if (warning.ts >= since && warning.ts >= (latest?.warning.ts ?? "")) latest = { phase: phase.id, warning };
  }
  if (latest === undefined) return [];
  return [paint.yellow(cut(`WARNING, phase ${latest.phase}: ${headline(latest.warning.message)}`, width))];
}

function decisionLine(session: Session, paint: Paint, width: number): string[] {
  const failed = session.phases.filter((phase) => phase.status === "failed").map((phase) => phase.id);
  if (failed.length === 0 || session.aborted) return [];
  const ids = `${failed.slice(0, 8).join(", ")}${failed.length > 8 ? ", ..." : ""}`;
  return [paint.red(clip(`Needs a decision: phase ${ids} (retry, skip or abort)`, width))];
}

function reviewLine(session: Session, paint: Paint, width: number): string[] {
  const review = openReview(session);
  if (review === null) return [];
  return [paint.yellow(clip(`Needs a review: ${reviewSubject(review)} (approve or reject)`, width))];
}

function quotaLine({ quota }: Session, { now }: Live, paint: Paint, width: number): string[] {
  const left = quota === null ? 0 : Date.parse(quota.until) - now.getTime();
  if (quota === null || left <= 0) return [];
  const then = quota.slots === null ? "" : `, then ${plural(quota.slots, "slot")}`;
  // Rounded up, so that it does not show 0:00 before the wait is over.
  return [paint.yellow(clip(`Waiting for quota: ${stopwatch(left + 999)} left${then}`, width))];
}

function progressBar(session: Session, live: Live, ahead: Forecast, paint: Paint, width: number): string {
  // Never shows 100 before the end.
  const done = Math.max(ahead.done, live.shownDone ?? 0);
  const percent = ahead.done === 1 ? 100 : Math.min(99, Math.floor(done * 100));
  const text = `${String(percent).padStart(3)}%  ${outlook(session, live, ahead)}`;
  const columns = Math.min(MAX_BAR, width - 1 - displayWidth(text));
  if (columns < MIN_BAR) return clip(text.trimStart(), width);
  const halves = Math.floor(done * 2 * columns);
  const full = "━".repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? "╸" : "");
  const empty = "─".repeat(columns - Math.ceil(halves / 2));
  return `${paint.green(full)}${paint.dim(empty)} ${text}`;
}

function outlook(session: Session, { now }: Live, { done, remainingMs }: Forecast): string {
  if (session.aborted) return "aborted";
  if (session.status !== "in_progress") return session.status;
  if (done === 1) return "done";
  if (remainingMs < 1000) return "finishing";
  const left = `about ${roughly(remainingMs)} left`;
  if (remainingMs < 60_000) return left;
  return `${left}, ends at ${clockTime(new Date(now.getTime() + remainingMs)).slice(0, 5)}`;
}

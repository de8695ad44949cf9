// The final summary of a session for people: the phases, when they ran, what they used and cost, and what needs attention.

import type { Session } from "../../session/session.ts";
import { decisionLines } from "../decision/open-decisions.ts";
import { dollars, grouped, plural } from "../text/amount.ts";
import { ledgerText } from "../text/budget.ts";
import { cell, cellRight, cut, oneLine, shareOut, widest } from "../text/cell.ts";
import { exactDuration, stopwatch } from "../text/duration.ts";
import type { Paint } from "../text/paint.ts";
import { symbols } from "../text/symbols.ts";
import { ganttLines } from "./gantt.ts";
import { type Report, type ReportedPhase, type ReportInput, reportJson } from "./report-json.ts";
import { requirementLines } from "./report-requirements.ts";
import { runtimeLines } from "./report-runtimes.ts";
import {
  changeLines,
  claimLines,
  evidenceLines,
  grantedLines,
  reopenedLines,
  warningLines,
  workerLines,
} from "./report-work.ts";
import type { Spending, Variance } from "./spending.ts";

const MAX_ROWS = 100;
const MAX_LISTED = 50;

export interface ReportLook extends ReportInput {
  paint: Paint;
  width: number;
}

export function reportLines(session: Session, look: ReportLook): string[] {
  const report = reportJson(session, look);
  const { paint, width } = look;
  const sections = [
    headLines(report, paint, width),
    phaseTable(report, paint, width),
    requirementLines(report, paint, width),
    ganttLines(report, paint, width),
    runtimeLines(report.phases, width),
    changeLines(report, paint, width),
    evidenceLines(report, paint, width),
    claimLines(report, width),
    workerLines(report, width),
    reopenedLines(report, width),
    tokenLines(report.tokens),
    agentLines(report.tokens),
    report.budget === null ? [] : [`Budget: ${ledgerText(report.budget)}`],
    varianceLines(report),
    grantedLines(report, width),
    warningLines(report, paint, width),
    missingLines(report),
    errorLines(report, paint, width),
    look.decisions === undefined ? [] : decisionLines(session, look.decisions),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, at) => (at === 0 ? lines : ["", ...lines]));
}

function headLines(report: Report, paint: Paint, width: number): string[] {
  const color = report.status === "completed" ? "green" : report.status === "failed" ? "red" : "yellow";
  const status = paint[color](report.aborted ? "aborted" : report.status.replace("_", " "));
  const mode = report.execution_mode === null ? "" : `, ${report.execution_mode} mode`;
  return [
    paint.bold(cut(report.title, width)),
    `${report.session_id}: ${status}, ${report.done} of ${plural(report.total_phases, "phase")} done${mode}`,
    ...timeLine(report),
    ...(report.summary === null ? [] : [oneLine(report.summary)]),
  ];
}

function timeLine({ wall_ms: wall, work_ms: work, phases }: Report): string[] {
  if (wall === null) return ["Nothing has run yet"];
  const attempts = phases.flatMap((phase) => phase.attempts);
  const cut = attempts.filter(({ attempt, outcome }) => attempt !== null && outcome === "unseen").length;
  const unseen =
    cut === 0
      ? []
      : [`${plural(cut, "attempt")} ${cut === 1 ? "has" : "have"} no recorded end (the engine stopped first)`];
  if (wall === 0) return cut > 0 ? unseen : ["Duration unknown"];
  const side = `${(work / wall).toFixed(1)} at a time on average`;
  return [`Wall time ${exactDuration(wall)}, ${exactDuration(work)} total phase time (${side})`, ...unseen];
}

function phaseTable({ phases, status: sessionStatus }: Report, paint: Paint, width: number): string[] {
  const shown = phases.slice(0, MAX_ROWS);
  const isStopped = sessionStatus !== "in_progress";
  const statusOf = ({ status, in_review: isReviewed }: ReportedPhase) => {
    if (isReviewed) return "in review";
    return isStopped && status === "in_progress" ? "interrupted" : status.replace("_", " ");
  };
  const columns = (of: (phase: ReportedPhase) => string, least: number, limit: number) =>
    Math.max(least, widest(shown.map(of), limit));
  const id = columns((phase) => phase.id, 2, 20);
  const status = columns(statusOf, 6, 11);
  const time = columns(timeOf, 4, 9);
  const tokens = columns(tokensOf, 6, 14);
  const fixed = 4 + id + 2 + 2 + status + 2 + 3 + 2 + time + 2 + tokens;
  const [name = 0, agent = 0] = shareOut(width - fixed - 2, [
    { least: 10, most: columns((phase) => phase.name, 5, 44) },
    { least: 8, most: columns((phase) => phase.agent ?? "", 5, 24) },
  ]);
  const line = (cells: readonly string[]) => cells.join("  ").trimEnd();
  const head = [cellRight("ID", id), cell("PHASE", name), cell("AGENT", agent), cell("STATUS", status), "TRY"];
  const rows = shown.map((phase) => {
    const [symbol, color] = symbols[phase.status];
    const cells = [
      cellRight(phase.id, id),
      cell(phase.name, name),
      cell(phase.agent ?? "", agent),
      cell(statusOf(phase), status),
      cellRight(phase.attempts.length === 0 ? "" : String(phase.attempts.length), 3),
      cellRight(timeOf(phase), time),
      cellRight(tokensOf(phase), tokens),
    ];
    return `  ${paint[color](symbol)} ${line(cells)}`;
  });
  const more = phases.length - shown.length;
  return [
    paint.dim(`    ${line([...head, cellRight("TIME", time), cellRight("TOKENS", tokens)])}`),
    ...rows,
    ...(more > 0 ? [`  ... and ${more} more (--json has them all)`] : []),
  ];
}

function timeOf({ worked_ms: worked }: ReportedPhase): string {
  if (worked === null) return "";
  return worked > 0 && worked < 1000 ? exactDuration(worked) : stopwatch(worked);
}

function tokensOf({ tokens, attempts }: ReportedPhase): string {
  if (tokens !== null) return grouped(tokens);
  return attempts.some((attempt) => attempt.attempt !== null && attempt.outcome !== "running") ? "?" : "";
}

function tokenLines(tokens: Spending): string[] {
  const { input, output, cached, thoughts, attempts, unreported } = tokens;
  const unknown =
    unreported === 0 ? [] : [`- Not Reported: by ${unreported} of ${plural(attempts, "attempt")}, not in these totals`];
  if (input + output === 0)
    return unreported === 0 ? [] : ["Token Usage:", `- Unknown: none of ${plural(attempts, "attempt")} reported any`];
  return [
    "Token Usage:",
    `- Total Input: ${grouped(input)} tokens`,
    `- Total Output: ${grouped(output)} tokens`,
    `- Total Cached: ${grouped(cached)} tokens`,
    ...(thoughts === 0 ? [] : [`- Total Thoughts: ${grouped(thoughts)} tokens`]),
    `- Estimated Cost: ${costText(tokens)}`,
    ...unknown,
  ];
}

function costText({ cost, unpriced }: Spending): string {
  if (cost !== null) return dollars(cost);
  return `unknown (no price for ${unpriced.map((model) => model ?? "an unnamed model").join(", ")})`;
}

function agentLines({ by_agent: agents }: Spending): string[] {
  const used = agents.filter(({ tokens }) => tokens > 0);
  if (used.length === 0) return [];
  const lines = used.map(({ agent, tokens, cost }, at) => {
    const price = cost === null ? "" : ` (${dollars(cost)})`;
    return `${at + 1}. ${agent}: ${grouped(tokens)} tokens${price}`;
  });
  return ["By Agent:", ...lines];
}

function varianceLines({ tokens: { variance }, total_phases: total }: Report): string[] {
  if (variance === null) return [];
  const { percent, estimated, actual, unit, phases } = variance;
  const shown = unit === "usd" ? dollars : (amount: number) => `${grouped(amount)} tokens`;
  const sign = percent === null ? "unknown" : `${percent > 0 ? "+" : ""}${percent}%`;
  const line = `Variance from Estimate: ${sign} (estimated ${shown(estimated)}, actual ${shown(actual)})`;
  return phases === total ? [line] : [line, partial(variance, total)];
}

function partial({ phases }: Variance, total: number): string {
  return `Compared: the ${phases} of ${plural(total, "phase")} that are completed, estimated and reported in full`;
}

function missingLines({ missing_files: missing }: Report): string[] {
  if (missing.length === 0) return [];
  return ["Declared but missing:", ...listed(missing.map(({ phase, file }) => `- phase ${phase}: ${oneLine(file)}`))];
}

function errorLines({ unresolved_errors: errors }: Report, paint: Paint, width: number): string[] {
  if (errors.length === 0) return [];
  const lines = errors.map(
    ({ phase, agent, type, message }) => `- phase ${phase} (${agent}), ${type.replace("_", " ")}: ${message}`,
  );
  return ["Unresolved errors:", ...listed(lines.map((line) => paint.red(cut(line, width))))];
}

function listed(lines: readonly string[]): string[] {
  const more = lines.length - MAX_LISTED;
  return more > 0 ? [...lines.slice(0, MAX_LISTED), `  ... and ${more} more (--json has them all)`] : [...lines];
}

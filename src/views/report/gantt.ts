// When each phase ran, as bars on one time axis. Retries start with their number; waits for quota are marked.

import { cell, cellRight, widest } from "../text/cell.ts";
import { clockTime, exactDuration } from "../text/duration.ts";
import type { Paint } from "../text/paint.ts";
import type { Report, ReportedPhase } from "./report-json.ts";

const MAX_ROWS = 40;
const MAX_NAME = 28;
const MIN_BAR = 10;
const SECOND = 1000;

type Outcome = ReportedPhase["attempts"][number]["outcome"] | "waiting" | "unaccepted";

const marks: Record<Outcome, [mark: string, color: keyof Paint, meaning: string]> = {
  success: ["█", "green", "succeeded"],
  running: ["▓", "cyan", "running"],
  failure: ["▒", "red", "failed"],
  timeout: ["▒", "red", "failed"],
  unaccepted: ["▚", "red", "done, not accepted"],
  interrupted: ["░", "yellow", "stopped or rejected"],
  quota: ["░", "yellow", "stopped or rejected"],
  unseen: ["?", "yellow", "end not recorded"],
  queued: ["·", "dim", "waits for a worker"],
  waiting: ["~", "yellow", "waited for quota"],
};

interface Bar {
  outcome: Outcome;
  attempt: number | null;
  from: number;
  to: number;
}

/** Empty before anything has run. */
export function ganttLines({ started, ended, wall_ms: wall, phases }: Report, paint: Paint, width: number): string[] {
  if (started === null || ended === null || !wall) return [];
  const ran = phases.filter((phase) => phase.attempts.length > 0);
  const shown = worthShowing(ran);
  const ids = widest(
    shown.map((phase) => phase.id),
    MAX_NAME,
  );
  const room = Math.max(MIN_BAR, width - ids - 6);
  const names = widest(
    shown.map((phase) => phase.name),
    Math.min(MAX_NAME, Math.floor(room / 3)),
  );
  const axis = { start: Date.parse(started), wall: Math.max(1, wall), columns: room - names };
  const used = new Set<Outcome>();
  const rows = shown.map((phase) => {
    const bars = barsOf(phase, axis);
    for (const { outcome } of bars) used.add(outcome);
    return `  ${cellRight(phase.id, ids)}  ${cell(phase.name, names)}  ${drawn(bars, axis.columns, paint)}`.trimEnd();
  });
  const left = ran.length - shown.length;
  return [
    `Timeline: ${scaleText({ started, ended, wall }, axis.columns)}`,
    ...rows,
    ...(left > 0 ? [`  ... and ${left} shorter phases`] : []),
    `  ${paint.dim(legend(used, shown))}`,
  ];
}

/** Sorted by start, then in plan order. If there are too many, the longest ones. */
function worthShowing(ran: readonly ReportedPhase[]): ReportedPhase[] {
  const longest = [...ran].sort((one, other) => (other.worked_ms ?? 0) - (one.worked_ms ?? 0)).slice(0, MAX_ROWS);
  const kept = new Set(longest);
  const start = (phase: ReportedPhase) => Date.parse(phase.attempts[0]?.start ?? "");
  return ran.filter((phase) => kept.has(phase)).sort((one, other) => start(one) - start(other));
}

function barsOf(phase: ReportedPhase, axis: { start: number; wall: number; columns: number }): Bar[] {
  const column = (time: number) => Math.floor(((time - axis.start) / axis.wall) * axis.columns);
  return phase.attempts.flatMap((attempt, at): Bar[] => {
    const from = Math.min(axis.columns - 1, column(Date.parse(attempt.start)));
    const to = Math.max(from + 1, column(Date.parse(attempt.end ?? attempt.start)));
    const next = phase.attempts[at + 1];
    // Its work was rejected because of the handoff, the validation or a conflict.
    const isUnaccepted = attempt.outcome === "success" && (next !== undefined || phase.status === "failed");
    const outcome = isUnaccepted ? ("unaccepted" as const) : attempt.outcome;
    const bar = { outcome, attempt: attempt.attempt, from, to };
    if (attempt.outcome !== "quota" || next === undefined) return [bar];
    return [bar, { outcome: "waiting", attempt: null, from: to, to: column(Date.parse(next.start)) }];
  });
}

/** Draws later bars over earlier ones, so that a short retry is never hidden. */
function drawn(bars: readonly Bar[], columns: number, paint: Paint): string {
  const cells: { mark: string; color: keyof Paint | null }[] = Array.from({ length: columns }, () => ({
    mark: " ",
    color: null,
  }));
  for (const { outcome, attempt, from, to } of bars) {
    const [mark, color] = marks[outcome];
    for (let at = from; at < Math.min(to, columns); at++) cells[at] = { mark, color };
    if (attempt !== null && attempt > 1 && from < columns)
      cells[from] = { mark: attempt < 10 ? String(attempt) : "+", color };
  }
  let line = "";
  for (let at = 0; at < cells.length; ) {
    const color = cells[at]?.color ?? null;
    let run = "";
    for (; at < cells.length && (cells[at]?.color ?? null) === color; at++) run += cells[at]?.mark ?? " ";
    line += color === null ? run : paint[color](run);
  }
  return line;
}

function legend(used: ReadonlySet<Outcome>, shown: readonly ReportedPhase[]): string {
  const order = Object.keys(marks) as Outcome[];
  const entries = order
    .filter((outcome) => used.has(outcome))
    .map((outcome) => `${marks[outcome][0]} ${marks[outcome][2]}`);
  const most = Math.max(0, ...shown.map((phase) => phase.attempts.length));
  const numbers = [...(most > 1 ? ["2 second attempt"] : []), ...(most > 9 ? ["+ tenth or later attempt"] : [])];
  return [...new Set(entries), ...numbers].join("   ");
}

/** Below a second the clock times are equal, and a column is too short to distinguish anything. */
function scaleText(
  { started, ended, wall }: { started: string; ended: string; wall: number },
  columns: number,
): string {
  const from = clockTime(new Date(started));
  if (wall < SECOND) return `${exactDuration(wall)} from ${from}`;
  return `${from} to ${clockTime(new Date(ended))}, one column is ${precise(wall / columns)}`;
}

function precise(milliseconds: number): string {
  if (milliseconds < SECOND || milliseconds >= 10 * SECOND) return exactDuration(milliseconds);
  return `${Number((milliseconds / SECOND).toPrecision(2))} s`;
}

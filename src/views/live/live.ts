// Draws one frame of the live table, fitted to the terminal. Widths depend on the plan and the terminal alone, so that only changed content
// moves between frames.

import type { Session, SessionPhase } from "../../session/session.ts";
import { cell, clip, cut, oneLine } from "../text/cell.ts";
import { stopwatch } from "../text/duration.ts";
import type { Paint } from "../text/paint.ts";
import { columnsOf, headings, joined } from "./columns.ts";
import { footLines } from "./foot.ts";
import { activityOf, type Live, liveRow, type Standing, standingOf } from "./row.ts";

export type { Live };

export interface Size {
  columns: number;
  rows: number;
}

/** With fewer rows than this for phases, the frame drops its decoration. */
const FEW_ROWS = 4;
const MIN_HEIGHT = 7;
const MARGIN = 1;

export function liveFrame(session: Session, live: Live, paint: Paint, size: Size): string[] {
  // The last line of the terminal stays free, because writing it would scroll.
  const height = Math.max(1, size.rows - 1);
  const width = size.columns - MARGIN;
  if (width < 1) return [];
  const head = headLines(session, live, paint, width);
  const foot = footLines(session, live, paint, width);
  const isTight = height - head.length - foot.length - 3 < Math.min(FEW_ROWS, session.phases.length);
  const top = isTight ? head.slice(0, 1) : [...head, ""];
  // Shows what the session waits for as long as a few phases still fit.
  const bottom = isTight ? foot.slice(height < MIN_HEIGHT ? -1 : 1) : ["", ...foot];
  const room = height - top.length - bottom.length;
  const frame = [...top, ...tableLines(session, live, paint, width, { isTight, room }), ...bottom];
  // A very low terminal shows only the end: the progress.
  return frame.slice(-height).map((line) => (line === "" ? "" : `${" ".repeat(MARGIN)}${line}`));
}

function headLines(session: Session, live: Live, paint: Paint, width: number): string[] {
  const elapsed = stopwatch(elapsedMs(session, live.now));
  const room = width - elapsed.length - 2;
  const status = session.aborted ? "aborted" : session.status;
  const facts = [
    session.session_id,
    session.execution_mode ?? "mode not chosen",
    ...(status === "in_progress" ? [] : [status]),
    ...(live.engine === undefined ? [] : [`engine ${live.engine.pid}`]),
  ];
  return [
    room < 10 ? paint.bold(cut(session.title, width)) : `${paint.bold(cell(session.title, room))}  ${elapsed}`,
    paint.dim(clip(facts.join(" · "), width)),
  ];
}

/** Since the first attempt of the current engine; before that, since the session was created. */
function elapsedMs(session: Session, now: Date): number {
  let latest: { run: string; started: string } | undefined;
  const attempts = session.phases.flatMap((phase) => phase.attempts);
  for (const attempt of attempts) if (latest === undefined || attempt.started > latest.started) latest = attempt;
  let since = latest?.started ?? session.created;
  for (const { run, started } of attempts) if (run === latest?.run && started < since) since = started;
  return now.getTime() - Date.parse(since);
}

function tableLines(
  session: Session,
  live: Live,
  paint: Paint,
  width: number,
  { isTight, room }: { isTight: boolean; room: number },
): string[] {
  // The symbol takes two columns.
  const columns = columnsOf(session, live.now, width - 2);
  const header = isTight ? [] : [paint.dim(clip(`  ${joined(headings, columns)}`, width))];
  const space = Math.max(0, room - header.length);
  const rows = session.phases.map((phase) => ({ phase, standing: standingOf(session, phase, live), height: 1 }));
  if (columns.activity === 0) heighten(rows, space, (phase) => activityOf(session, phase, live) !== "");
  const { shown, rest } = chosen(rows, space);
  const lines = shown.flatMap(({ phase, height }) => {
    const { symbol, color, tone, cells } = liveRow(session, phase, live);
    const line = clip(joined(cells, columns), width - 2);
    const row = width < 3 ? symbol : `${paint[color](symbol)} ${tone === null ? line : paint[tone](line)}`;
    return height === 1
      ? [row]
      : [row, paint.dim(clip(`${" ".repeat(columns.id + 4)}${oneLine(cells.activity)}`, width))];
  });
  return [...header, ...lines, ...(rest === "" || space === 0 ? [] : [paint.dim(clip(`  ${rest}`, width))])];
}

interface Row {
  phase: SessionPhase;
  standing: Standing;
  height: number;
}

/** Adds a second line with the activity of busy phases, unless that would push one of them out. */
function heighten(rows: Row[], space: number, hasNews: (phase: SessionPhase) => boolean): void {
  const busy = rows.filter((row) => row.standing.isBusy);
  const tall = busy.filter((row) => hasNews(row.phase));
  if (busy.length + tall.length < space) for (const row of tall) row.height = 2;
}

/** All rows in plan order; if there are too many, running and failed phases first, then the next ones. */
function chosen(rows: readonly Row[], space: number): { shown: readonly Row[]; rest: string } {
  if (rows.reduce((sum, row) => sum + row.height, 0) <= space) return { shown: rows, rest: "" };
  const ranked = [...rows].sort((one, other) => one.standing.rank - other.standing.rank);
  // The summary of the rest takes one line.
  let left = space - 1;
  const fits = ranked.findIndex((row) => {
    left -= row.height;
    return left < 0;
  });
  const shown = ranked.slice(0, Math.max(0, fits));
  const counts = new Map<string, number>();
  for (const { standing } of ranked.slice(shown.length))
    counts.set(standing.word, (counts.get(standing.word) ?? 0) + 1);
  return { shown, rest: `… ${[...counts].map(([word, count]) => `${count} ${word}`).join(", ")}` };
}

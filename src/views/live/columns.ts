// The columns of the live table: their widths, and which of them a narrow terminal drops.

import type { Session } from "../../session/session.ts";
import { cell, cellRight, oneLine, shareOut, widest } from "../text/cell.ts";
import type { LiveRow } from "./row.ts";

type Cells = LiveRow["cells"];
type Column = keyof Cells;
/** Width 0 hides the column. */
export type Widths = Record<Column, number>;

export const headings: Cells = {
  id: "ID",
  name: "PHASE",
  agent: "AGENT",
  state: "STATE",
  time: "TIME",
  attempt: "TRY",
  tokens: "TOKENS",
  activity: "LAST ACTIVITY",
};

const leading = ["id", "name", "agent", "state"] as const;
const figures = ["time", "attempt", "tokens"] as const;
const numbers = new Set<Column>(["id", "time", "attempt", "tokens"]);
/** The columns that a narrow terminal drops, in this order. Activity goes first, because it moves to its own line. */
const dispensable = ["activity", "tokens", "attempt", "agent", "time", "id"] as const;
const GAP = 2;
const HOUR = 3_600_000;
/** A narrower activity column would say too little. */
const MIN_ACTIVITY = 24;

export function columnsOf(session: Session, now: Date, room: number): Widths {
  const ids = session.phases.map((phase) => phase.id);
  const names = session.phases.map((phase) => phase.name);
  const agents = session.phases.map((phase) => phase.agents[0] ?? "");
  const name = { least: 16, most: Math.max(5, widest(names, 40)) };
  const agent = { least: 8, most: Math.max(5, widest(agents, 24)) };
  const time = now.getTime() - Date.parse(session.created) < HOUR ? 5 : 7;
  const id = Math.max(2, widest(ids, 12));
  const widths: Widths = { id, name: 0, agent: 0, state: 8, time, attempt: 3, tokens: 6, activity: 0 };
  const shown = new Set<Column>([...leading, ...figures, "activity"]);
  const left = () => room - GAP * (shown.size - 1) - [...shown].reduce((sum, column) => sum + widths[column], 0);
  const needed = () => {
    if (shown.has("activity")) return name.most + agent.most + MIN_ACTIVITY;
    return Math.min(name.least, name.most) + (shown.has("agent") ? Math.min(agent.least, agent.most) : 0);
  };
  for (const column of dispensable) {
    if (left() >= needed()) break;
    shown.delete(column);
    widths[column] = 0;
  }
  const [forName = 0, forAgent = 0] = shareOut(left(), shown.has("agent") ? [name, agent] : [name]);
  Object.assign(widths, { name: forName, agent: forAgent });
  if (shown.has("activity")) widths.activity = left();
  return widths;
}

export function joined(cells: Cells, widths: Widths): string {
  const shown = (columns: readonly Column[]) =>
    columns
      .filter((column) => widths[column] > 0)
      .map((column) => (numbers.has(column) ? cellRight : cell)(cells[column], widths[column]));
  // The phases it waits for may use the space of its figures, which are still empty.
  const isBlank = widths.activity === 0 && figures.every((column) => cells[column] === "");
  const rest = isBlank ? [oneLine(cells.activity)] : shown([...figures, "activity"]);
  return [...shown(leading), ...rest].join(" ".repeat(GAP)).trimEnd();
}

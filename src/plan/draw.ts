// Draws a plan for people, as plain text of 100 columns: batches from top to bottom, the dependencies of each phase, the critical path, the
// execution profile. The caller adds colour.
import { minutesOf } from "./graph.ts";
import type { Plan, PlanPhase } from "./plan.ts";
import type { ExecutionProfile } from "./profile.ts";
import type { ValidationReport } from "./validate.ts";

const WIDTH = 100;
/** Maximum widths of the columns; the title gets the rest. */
const MAX_ID = 12;
const MAX_AGENT = 20;
const MAX_WAITS = 26;
const MINUTES = 8;

export function drawPlan(plan: Plan, report: ValidationReport): string[] {
  const { critical_path: path, parallel_batches: batches } = report.dependency_graph;
  const critical = new Set(path);
  const phases = new Map(plan.phases.map((phase) => [phase.id, phase]));
  const columns = columnsOf(plan.phases, batches.length);
  const rows = batches.flatMap((batch, depth) =>
    batch.map((id, at) => ({ phase: phases.get(id), batch: at === 0 ? String(depth + 1) : "" })),
  );
  const lines = [cell(plan.title, WIDTH), ""];
  for (const [at, { phase, batch }] of rows.entries()) {
    if (phase === undefined) continue;
    if (batch !== "" && at > 0) lines.push(`${" ".repeat(columns.batch)} │`);
    const rail = rows.length === 1 ? "─" : at === 0 ? "┬" : at === rows.length - 1 ? "└" : "├";
    const mark = critical.has(phase.id) ? "●" : "○";
    lines.push(`${batch.padStart(columns.batch)} ${rail}─ ${mark} ${phaseCells(phase, columns)}`);
  }
  const minutes = path.reduce((sum, id) => sum + minutesOf(phases.get(id)), 0);
  lines.push("", ...wrapped("● critical path  ", `${path.join(" → ")}, ${rounded(minutes)} min`));
  if (report.profile !== null) lines.push("", ...profileLines(report.profile));
  return lines.map((line) => line.trimEnd());
}

interface Columns {
  batch: number;
  id: number;
  title: number;
  agent: number;
}

function columnsOf(phases: readonly PlanPhase[], batches: number): Columns {
  const widest = (textOf: (phase: PlanPhase) => string, limit: number) =>
    phases.reduce((width, phase) => Math.min(limit, Math.max(width, [...textOf(phase)].length)), 0);
  const batch = String(batches).length + 1;
  const id = widest((phase) => phase.id, MAX_ID);
  const agent = widest((phase) => phase.agent, MAX_AGENT);
  // The rail, the mark and the spaces between columns take fifteen.
  const room = WIDTH - batch - id - agent - MINUTES - widest(waitsOf, MAX_WAITS) - 15;
  return { batch, id, agent, title: widest((phase) => phase.title, room) };
}

function phaseCells(phase: PlanPhase, columns: Columns): string {
  const about = phase.estimate?.minutes === undefined ? "~" : "";
  return [
    cell(phase.id, columns.id),
    cell(phase.title, columns.title),
    cell(phase.agent, columns.agent),
    `${about}${rounded(minutesOf(phase))} min`.padStart(MINUTES),
    ` ${cell(waitsOf(phase), MAX_WAITS)}`,
  ].join("  ");
}

function waitsOf(phase: PlanPhase): string {
  const after = phase.blocked_by.length === 0 ? [] : [`after ${phase.blocked_by.join(", ")}`];
  return [...after, ...(phase.parallel ? [] : ["alone"])].join(", ");
}

function profileLines(profile: ExecutionProfile): string[] {
  const { estimated_minutes: minutes, estimated_tokens: tokens, total_phases: total } = profile;
  const batches = profile.batch_count === 1 ? "1 batch" : `${profile.batch_count} batches`;
  const phases = `${total} in ${batches}; ${profile.parallelizable_phases} can run side by side`;
  const basis = `${profile.estimate_basis} of ${total} phases have an estimate`;
  const time = `${rounded(minutes.parallel)} min in parallel, ${rounded(minutes.sequential)} min one by one; ${basis}`;
  return [
    ...wrapped("phases  ", phases),
    ...wrapped("time    ", time),
    ...(tokens === null ? [] : wrapped("tokens  ", `${grouped(tokens.input)} in, ${grouped(tokens.output)} out`)),
    ...wrapped("note    ", profile.note),
  ];
}

function rounded(minutes: number): string {
  return grouped(Math.round(minutes * 10) / 10);
}

/** "12,345.6". The first call of toLocaleString would load the data of all languages. */
function grouped(amount: number): string {
  return String(amount).replace(/\B(?=(?:\d{3})+(?:\.|$))/g, ",");
}

function cell(text: string, width: number): string {
  const characters = [...text];
  if (characters.length > width) return `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
  return text + " ".repeat(width - characters.length);
}

/** Breaks at spaces and indents later lines by the width of the label. */
function wrapped(label: string, text: string): string[] {
  const lines: string[] = [];
  let line = label;
  for (const word of text.split(" ")) {
    const isFull = line.length > label.length && line.length + 1 + word.length > WIDTH;
    if (isFull) lines.push(line);
    if (isFull || line === label) line = (isFull ? " ".repeat(label.length) : label) + word;
    else line += ` ${word}`;
  }
  return [...lines, line];
}

// The status of a session for people: one line per phase, what comes next, what is blocked. Pure.

import type { Conflict, Position } from "../session/position.ts";
import {
  awaitsIntegration,
  awaitsValidation,
  findPhase,
  isClosed,
  isVerified,
  type Session,
  type SessionPhase,
} from "../session/session.ts";
import { conflictLines } from "./decision/conflict-lines.ts";
import { plural } from "./text/amount.ts";
import { cell, cellRight, cut, widest } from "./text/cell.ts";
import { ago, clockTime, durationText } from "./text/duration.ts";
import { headline } from "./text/headline.ts";
import type { Paint } from "./text/paint.ts";
import { symbols } from "./text/symbols.ts";

const MAX_PHASES_SHOWN = 60;
const MAX_COLUMN = 64;
const MAX_MESSAGE = 60;

export function statusLines(
  session: Session,
  position: Position,
  conflicts: readonly Conflict[] | null,
  now: Date,
  paint: Paint,
  /** Whether an engine is running the session. */
  isDriven = false,
): string[] {
  const { counts } = position;
  const done = counts.completed + counts.skipped;
  const mode = session.execution_mode === null ? "mode not chosen yet" : `${session.execution_mode} mode`;
  return [
    `${paint.bold(session.title)}  ${session.session_id}`,
    `${session.status}, ${done} of ${session.total_phases} phases done, ${mode}, updated ${ago(session.updated, now)}`,
    "",
    ...phaseLines(session, isDriven, paint),
    ...tokenLines(session),
    "",
    ...nextLines(session, position, now, isDriven, paint),
    ...(conflicts === null ? [] : conflictLines(session, conflicts, paint)),
  ];
}

function phaseLines(session: Session, isDriven: boolean, paint: Paint): string[] {
  const shown = visible(session.phases);
  const agentOf = (phase: SessionPhase) => phase.agents[0] ?? "";
  const idWidth = widest(
    shown.map((phase) => phase.id),
    MAX_COLUMN,
  );
  const nameWidth = widest(
    shown.map((phase) => phase.name),
    44,
  );
  const agentWidth = widest(shown.map(agentOf), MAX_COLUMN);
  const lines = shown.map((phase) => {
    const [symbol, color] = symbols[phase.status];
    const cells = [cellRight(phase.id, idWidth), cell(phase.name, nameWidth), cell(agentOf(phase), agentWidth)];
    return `  ${paint[color](symbol)} ${cells.join("  ")}  ${detail(session, phase, isDriven)}${warned(phase)}`.trimEnd();
  });
  const hidden = session.phases.length - shown.length;
  return hidden === 0 ? lines : [...lines, `  ... and ${hidden} more (--json has them all)`];
}

/** For a long session, the phases around the current work. */
function visible(phases: readonly SessionPhase[]): readonly SessionPhase[] {
  if (phases.length <= MAX_PHASES_SHOWN) return phases;
  const first = phases.findIndex((phase) => phase.status !== "completed" && phase.status !== "skipped");
  const start = Math.max(0, Math.min(first - 5, phases.length - MAX_PHASES_SHOWN));
  return phases.slice(start, start + MAX_PHASES_SHOWN);
}

function detail(session: Session, phase: SessionPhase, isDriven: boolean): string {
  const retries = phase.retry_count === 0 ? "" : `, retry ${phase.retry_count}`;
  switch (phase.status) {
    case "pending": {
      if (session.aborted) return "not started";
      const waiting = phase.blocked_by.filter((id) => !isClosed(findPhase(session, id) ?? { status: "missing" }));
      return waiting.length === 0
        ? "ready"
        : `waits for ${waiting.slice(0, 6).join(", ")}${waiting.length > 6 ? ", ..." : ""}`;
    }
    case "completed":
      return `completed${took(phase)}${retries}${isVerified(phase) ? "" : ", unverified"}`;
    case "failed":
      return `failed: ${cut(headline(phase.errors.at(-1)?.message ?? "no error recorded"), MAX_MESSAGE)}${retries}`;
    case "in_progress":
      if (!isDriven && awaitsIntegration(phase)) return `agent done, to be integrated${retries}`;
      if (!isDriven && awaitsValidation(phase)) return `reported, to be verified${retries}`;
      return `${isInterrupted(phase, isDriven) ? "interrupted" : "in progress"}${retries}`;
    default:
      return `${phase.status}${retries}`;
  }
}

/** Shows the latest warning while something can be done about it. */
function warned({ warnings, status }: SessionPhase): string {
  const last = warnings.at(-1);
  if (last === undefined) return "";
  const words = status === "in_progress" ? `: ${cut(headline(last.message), MAX_MESSAGE)}` : "";
  return `, ${plural(warnings.length, "warning")}${words}`;
}

function tokenLines(session: Session): string[] {
  const { total_input, total_output, total_cached } = session.token_usage;
  if (total_input + total_output === 0) return [];
  const [input, output, cached] = [total_input, total_output, total_cached].map((count) =>
    count.toLocaleString("en-US"),
  );
  return ["", `  Tokens: ${input} input (${cached} cached), ${output} output`];
}

function nextLines(session: Session, position: Position, now: Date, isDriven: boolean, paint: Paint): string[] {
  const { counts, unresolved, ready } = position;
  if (session.aborted) return [paint.red('The session was aborted: "maestro archive" archives it')];
  if (counts.completed + counts.skipped === session.total_phases) {
    return ['All phases are done: "maestro archive" archives the session'];
  }
  const some = (ids: readonly string[]) => `phase ${ids.slice(0, 10).join(", ")}${ids.length > 10 ? ", ..." : ""}`;
  const idle = session.phases.filter((phase) => !isDriven && phase.status === "in_progress");
  const apart = idle.filter(awaitsIntegration).map((phase) => phase.id);
  const reported = idle
    .filter((phase) => awaitsValidation(phase) && !awaitsIntegration(phase))
    .map((phase) => phase.id);
  const said = new Set([...apart, ...reported]);
  const begun = session.phases.filter((phase) => phase.status === "in_progress" && !said.has(phase.id));
  const stopped = begun.filter((phase) => isInterrupted(phase, isDriven)).map((phase) => phase.id);
  const running = begun.filter((phase) => !isInterrupted(phase, isDriven)).map((phase) => phase.id);
  const isWaiting = isDriven && session.quota !== null && Date.parse(session.quota.until) > now.getTime();
  const lines = [
    ...(running.length === 0 ? [] : [`Running: ${some(running)}`]),
    ...(reported.length === 0 ? [] : [`Reported: ${some(reported)}; "maestro verify" runs their validation commands`]),
    ...(apart.length === 0 ? [] : [`Done:    ${some(apart)}; "maestro resume" integrates their work into the project`]),
    ...(stopped.length === 0 ? [] : [`Stopped: ${some(stopped)}; "maestro resume" starts them again`]),
    ...(!isWaiting || session.quota === null
      ? []
      : [
          paint.yellow(
            `Quota:   the provider rejected a request; waiting until ${clockTime(new Date(session.quota.until))}`,
          ),
        ]),
    ...(unresolved.length === 0 ? [] : [paint.red(`Failed:  ${some(unresolved)}; retry, skip or abort`)]),
    ...(ready.length === 0 ? [] : [`Ready:   ${some(ready)}`]),
  ];
  return lines.length === 0 ? ["Nothing is ready to start"] : lines;
}

/** Whether an engine worked on it and none does now. */
function isInterrupted(phase: SessionPhase, isDriven: boolean): boolean {
  return !isDriven && phase.status === "in_progress" && phase.attempts.length > 0;
}

function took(phase: SessionPhase): string {
  if (phase.started === null || phase.completed === null) return "";
  return ` in ${durationText(Date.parse(phase.completed) - Date.parse(phase.started))}`;
}

// The status of a session for people: one line per phase, what comes next, what is blocked. Pure.

import { ledgerOf } from "../session/budget/ledger.ts";
import { type PhaseState, phaseState, waitsFor } from "../session/phase/phase-state.ts";
import type { Conflict, Position } from "../session/position.ts";
import { unmetRequirements, unmetText } from "../session/requirements.ts";
import { batchInReview, openReview, reviewSubject } from "../session/review/review.ts";
import { isVerified, lastAttempt, type Session, type SessionPhase } from "../session/session.ts";
import { claimLine, claimOf } from "./claim.ts";
import { budgetOptions } from "./decision/budget-block.ts";
import { conflictLines } from "./decision/conflict-lines.ts";
import { reportingOf } from "./report/reporting.ts";
import { reopenedText } from "./retry.ts";
import { grouped, plural } from "./text/amount.ts";
import { ledgerText } from "./text/budget.ts";
import { cell, cellRight, cut, widest } from "./text/cell.ts";
import { ago, clockTime, durationText } from "./text/duration.ts";
import { clause, headline } from "./text/headline.ts";
import type { Paint } from "./text/paint.ts";
import { placeText, QUEUED } from "./text/place.ts";
import { symbols } from "./text/symbols.ts";

const MAX_PHASES_SHOWN = 60;
const MAX_COLUMN = 64;
const MAX_MESSAGE = 60;
const MAX_CLAIM = 100;

/** A running agent: what it did last, and its tokens so far, null when they are not known. */
export interface RunningNow {
  last: string;
  tokens: number | null;
}

export function statusLines(
  session: Session,
  position: Position,
  conflicts: readonly Conflict[] | null,
  now: Date,
  paint: Paint,
  /** Whether an engine is running the session. */
  isDriven = false,
  /** The running agents, by phase. */
  running: ReadonlyMap<string, RunningNow> = new Map(),
): string[] {
  const { counts } = position;
  const done = counts.completed + counts.skipped;
  const reviewed = session.review === "end" ? "" : `, review of each ${session.review}`;
  const chosen = session.execution_mode === null ? "mode not chosen yet" : `${session.execution_mode} mode`;
  const mode = `${chosen}${reviewed}`;
  return [
    `${paint.bold(session.title)}  ${session.session_id}`,
    `${session.status}, ${done} of ${session.total_phases} phases done, ${mode}, updated ${ago(session.updated, now)}`,
    "",
    ...phaseLines(session, isDriven, paint, running),
    ...tokenLines(session),
    ...budgetLines(session),
    "",
    ...nextLines(session, position, now, isDriven, paint),
    ...(conflicts === null ? [] : conflictLines(session, conflicts, paint)),
  ];
}

function phaseLines(
  session: Session,
  isDriven: boolean,
  paint: Paint,
  running: ReadonlyMap<string, RunningNow>,
): string[] {
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
  const lines = shown.flatMap((phase) => {
    const [symbol, color] = symbols[phase.status];
    const cells = [cellRight(phase.id, idWidth), cell(phase.name, nameWidth), cell(agentOf(phase), agentWidth)];
    const said = `${detail(session, phase, isDriven)}${warned(phase)}`;
    const claim = claimOf(phase);
    const claimed = claim === undefined ? [] : [paint.dim(`      ${cut(claimLine(claim), MAX_CLAIM)}`)];
    const now = running.get(phase.id);
    const doing = now === undefined ? [] : [paint.dim(`      ${runningText(now)}`)];
    return [`  ${paint[color](symbol)} ${cells.join("  ")}  ${said}`.trimEnd(), ...doing, ...claimed];
  });
  const hidden = session.phases.length - shown.length;
  return hidden === 0 ? lines : [...lines, `  ... and ${hidden} more (--json has them all)`];
}

function runningText({ last, tokens }: RunningNow): string {
  const sofar = tokens === null ? "" : ` (${grouped(tokens)} tokens so far)`;
  return `last activity: ${cut(headline(last), MAX_CLAIM)}${sofar}`;
}

/** For a long session, the phases around the current work. */
function visible(phases: readonly SessionPhase[]): readonly SessionPhase[] {
  if (phases.length <= MAX_PHASES_SHOWN) return phases;
  const first = phases.findIndex((phase) => phase.status !== "completed" && phase.status !== "skipped");
  const start = Math.max(0, Math.min(first - 5, phases.length - MAX_PHASES_SHOWN));
  return phases.slice(start, start + MAX_PHASES_SHOWN);
}

function detail(session: Session, phase: SessionPhase, isDriven: boolean): string {
  const reopened = reopenedText(phase);
  const again = reopened === "" ? "" : `, ${reopened}`;
  const retries = `${phase.retry_count === 0 ? "" : `, retry ${phase.retry_count}`}${again}`;
  const state = phaseState(session, phase, isDriven);
  switch (state) {
    case "held":
      return `waits for the review of ${batchInReview(session)}`;
    case "in_review":
      return `agent done, waits for your review${again}`;
    case "waiting": {
      const waiting = waitsFor(session, phase);
      return `waits for ${waiting.slice(0, 6).join(", ")}${waiting.length > 6 ? ", ..." : ""}`;
    }
    case "ready":
      return "ready";
    case "not_started":
      return "not started";
    case "completed":
      return `completed${took(phase)}${place(phase)}${retries}${isVerified(phase) ? "" : ", unverified"}`;
    case "failed":
      return `failed: ${cut(clause(phase.errors.at(-1)?.message ?? "no error recorded"), MAX_MESSAGE)}${retries}`;
    case "running": {
      const where = placeText(lastAttempt(phase));
      return `${where === QUEUED ? QUEUED : `in progress${place(phase)}`}${retries}`;
    }
    default:
      return `${stateWords[state] ?? state}${retries}`;
  }
}

/** " on worker NAME", for the last attempt. */
function place(phase: SessionPhase): string {
  const where = placeText(lastAttempt(phase));
  return where === "" ? "" : ` ${where}`;
}

const stateWords: Partial<Record<PhaseState, string>> = {
  to_integrate: "agent done, to be integrated",
  to_verify: "reported, to be verified",
  to_retry: "to be retried",
};

/** Shows the latest warning while something can be done about it. */
function warned({ warnings, status }: SessionPhase): string {
  const last = warnings.at(-1);
  if (last === undefined) return "";
  const words = status === "in_progress" ? `: ${cut(headline(last.message), MAX_MESSAGE)}` : "";
  return `, ${plural(warnings.length, "warning")}${words}`;
}

function tokenLines(session: Session): string[] {
  const { total_input, total_output, total_cached } = session.token_usage;
  const { attempts, unreported } = reportingOf(session);
  if (total_input + total_output === 0) return unreported === 0 ? [] : ["", "  Tokens: unknown"];
  const [input, output, cached] = [total_input, total_output, total_cached].map(grouped);
  const rest = unreported === 0 ? "" : `; unknown for ${unreported} of ${plural(attempts, "attempt")}`;
  return ["", `  Tokens: ${input} input (${cached} cached), ${output} output${rest}`];
}

function budgetLines(session: Session): string[] {
  const ledger = ledgerOf(session);
  return ledger === null ? [] : [`  Budget: ${ledgerText(ledger)}`];
}

function nextLines(session: Session, position: Position, now: Date, isDriven: boolean, paint: Paint): string[] {
  const { counts, unresolved, ready } = position;
  if (session.aborted) return [paint.red('The session was aborted: "maestro archive" archives it')];
  if (counts.completed + counts.skipped === session.total_phases) {
    const unmet = session.status === "completed" ? [] : unmetRequirements(session);
    if (unmet.length === 0) return ['All phases are done: "maestro archive" archives the session'];
    return [
      `All phases are done. Requirements not met: ${unmetText(unmet)}; "maestro session requirement" answers them`,
    ];
  }
  const some = (ids: readonly string[]) => `phase ${ids.slice(0, 10).join(", ")}${ids.length > 10 ? ", ..." : ""}`;
  const inState = (state: PhaseState) =>
    session.phases.filter((phase) => phaseState(session, phase, isDriven) === state).map((phase) => phase.id);
  const [running, reported, apart, stopped, again] = [
    inState("running"),
    inState("to_verify"),
    inState("to_integrate"),
    inState("interrupted"),
    inState("to_retry"),
  ];
  const review = openReview(session);
  const isWaiting = isDriven && session.quota !== null && Date.parse(session.quota.until) > now.getTime();
  const lines = [
    ...(running.length === 0 ? [] : [`Running: ${some(running)}`]),
    ...(reported.length === 0 ? [] : [`Reported: ${some(reported)}; "maestro verify" runs their validation commands`]),
    ...(apart.length === 0 ? [] : [`Done:    ${some(apart)}; "maestro resume" integrates their work into the project`]),
    ...(stopped.length === 0 ? [] : [`Stopped: ${some(stopped)}; "maestro resume" starts them again`]),
    ...(again.length === 0 ? [] : [`Retry:   ${some(again)}; "maestro resume" starts them`]),
    ...(!isWaiting || session.quota === null
      ? []
      : [
          paint.yellow(
            `Quota:   the provider rejected a request; waiting until ${clockTime(new Date(session.quota.until))}`,
          ),
        ]),
    ...(review === null ? [] : [paint.yellow(`Review:  ${reviewSubject(review)}; approve or reject`)]),
    ...(session.budget_spent === null
      ? []
      : [paint.yellow(`Budget:  spent; ${budgetOptions(session.budget_spent, { program: "maestro" })[0]?.command}`)]),
    ...(unresolved.length === 0 ? [] : [paint.red(`Failed:  ${some(unresolved)}; retry, skip or abort`)]),
    ...(ready.length === 0 ? [] : [`Ready:   ${some(ready)}`]),
  ];
  return lines.length === 0 ? ["Nothing is ready to start"] : lines;
}

function took(phase: SessionPhase): string {
  if (phase.started === null || phase.completed === null) return "";
  return ` in ${durationText(Date.parse(phase.completed) - Date.parse(phase.started))}`;
}

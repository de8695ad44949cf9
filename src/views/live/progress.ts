// One plain line per event, for logs and for output that is not a terminal. An event that another line covers has no line.

import { amountsText } from "../../amounts.ts";
import type { TimedEvent } from "../../session/fold.ts";
import { reviewSubject } from "../../session/review/review.ts";
import { type Attempt, findPhase, type Session, type SessionPhase } from "../../session/session.ts";
import { phaseTokens } from "../report/spending.ts";
import { workedMs } from "../report/times.ts";
import { changesText } from "../retry.ts";
import { grouped, plural } from "../text/amount.ts";
import { budgetText } from "../text/budget.ts";
import { cut, oneLine } from "../text/cell.ts";
import { clockTime, durationText } from "../text/duration.ts";
import { clause, headline } from "../text/headline.ts";
import { amountOf, someOf, wasTakenOver } from "../work.ts";

const MAX_TEXT = 160;
const MAX_PATHS = 3;

/** `session` is the state after the event, and may include later events, because events are written in batches. */
export function progressLine(event: TimedEvent, session: Session): string | null {
  const said = sentence(event, session);
  if (said === null) return null;
  return `${clockTime(new Date(event.ts))}  ${subject(event, session)}  ${said}`;
}

function subject(event: TimedEvent, session: Session): string {
  const id = "phase" in event ? event.phase : undefined;
  // Quota affects all phases.
  if (id === undefined || event.type === "quota.hit" || event.type === "session.budget_spent") return "session";
  const agent = findPhase(session, id)?.agents[0];
  return agent === undefined ? `phase ${id}` : `phase ${id} ${agent}`;
}

function sentence(event: TimedEvent, session: Session): string | null {
  switch (event.type) {
    case "session.created":
      return `${event.session_id} created: ${plural(event.plan.phases.length, "phase")} of ${brief(event.plan.title)}`;
    case "session.imported":
      return `${event.session.session_id} imported from active-session.md`;
    case "session.mode_set":
      return `${event.execution_mode} mode`;
    case "session.review_set":
      return `review: ${event.review}`;
    case "session.budget_set":
      return `budget: ${amountsText(event.budget)}`;
    case "session.budget_spent":
      return `budget spent: ${budgetText(event.spent)} used, ${budgetText(event.wanted)} wanted for phase ${event.phase}`;
    case "session.status_set":
      return `${event.aborted ? "aborted" : event.status.replace("_", " ")}${colon(event.summary)}${failedPhases(event.status, session)}`;
    case "session.noted":
      return `note: ${brief(event.text)}`;
    case "session.baseline_taken":
      return `baseline of ${plural(event.baseline.length, "command")} taken`;
    case "requirement.answered":
      return `requirement ${event.requirement} ${event.verdict.replace("_", " ")}: ${brief(event.evidence)}`;
    case "phase.moved":
      return moveSentence(event, session);
    case "phase.reopened":
      return `${event.rejected === undefined ? "reopened" : "rejected in review"} by user decision${withChanges(event)}${colon(event.reason)}`;
    case "review.opened":
      return `${reviewSubject(event)} waits for your review`;
    case "review.approved":
      return `${reviewSubject(event)} approved by user decision${colon(event.reason)}`;
    case "phase.validated":
      return validationSentence(event);
    case "phase.warned":
      return `WARNING: ${brief(event.message)}`;
    case "phase.scope_requested":
      return scopeSentence(event);
    case "phase.integrated":
      return integrationSentence(event, session);
    case "phase.reverted":
      return "its changes were reverted by user decision";
    case "attempt.started":
      return `${event.remote ? "waits for a worker" : "started"}${takenOver(event)} (attempt ${event.attempt}${longerLimit(event, session)})`;
    case "attempt.claimed":
      return `runs on worker ${event.worker} (attempt ${event.attempt})`;
    case "attempt.changed":
      return changeSentence(event);
    case "attempt.finished":
      return endSentence(event, session);
    case "quota.hit":
      return `waits ${durationText(event.wait_ms)} for quota, until ${clockTime(new Date(event.until))}${event.slots === null ? "" : `, then ${plural(event.slots, "slot")}`} (the provider rejected phase ${event.phase})`;
    case "plan.revised":
      return `plan revised: ${plural(event.plan.phases.length, "phase")}`;
    case "view.adopted":
      return "adopted the edits in active-session.md";
    case "archive.started":
      return `archived as ${event.session_to}`;
    case "phase.files_added":
    case "phase.handed_off":
    case "handoff.malformed":
    case "phase.error_added":
    case "attempt.placed":
    case "tokens.used":
      return null;
  }
}

function moveSentence(event: TimedEvent & { type: "phase.moved" }, session: Session): string | null {
  const phase = findPhase(session, event.phase);
  const why = colon(event.reason);
  switch (event.to) {
    case "completed":
      return `completed${facts(session, phase, new Date(event.ts))}`;
    case "failed":
      return `failed: ${cut(clause(event.reason ?? errorAt(phase, event.ts)), MAX_TEXT)}${attemptAt(phase, event.ts)}`;
    case "skipped":
      return `skipped${event.user_decision ? " by user decision" : ""}${why}`;
    case "aborted":
      return `aborted${why}`;
    case "in_progress":
      // Otherwise the start of the attempt reports it.
      return event.from === "failed" ? `to be retried${withChanges(event)}${why}` : null;
    case "pending":
      return null;
  }
}

function withChanges(event: TimedEvent & { type: "phase.moved" | "phase.reopened" }): string {
  const changes = changesText(event);
  return changes === "" ? "" : ` with ${changes}`;
}

function validationSentence({ result, detail }: { result: "pass" | "fail" | "skipped"; detail: string }): string {
  const what = { pass: "validation passed", fail: "validation failed", skipped: "validation skipped" }[result];
  return result === "pass" ? what : `${what}${colon(detail)}`;
}

const handsOver: ReadonlySet<string> = new Set(["auth", "not_found"]);

function takenOver({ runtime, instead_of }: TimedEvent & { type: "attempt.started" }): string {
  return instead_of === undefined ? "" : ` with ${oneLine(runtime)} instead of ${oneLine(instead_of)}`;
}

/** A failure is reported when the phase fails, a rejection by the provider when the session waits. */
function endSentence(event: TimedEvent & { type: "attempt.finished" }, session: Session): string | null {
  const took = durationText(event.duration_ms);
  if (event.adopted && event.outcome !== "interrupted")
    return `result of attempt ${event.attempt} found and recorded (${event.outcome})`;
  if (event.outcome === "interrupted") {
    // Another runtime takes over, which must not happen silently.
    const why = handsOver.has(event.reason ?? "") ? colon(event.message) : "";
    return `interrupted after ${took} (attempt ${event.attempt})${why}`;
  }
  if (event.outcome !== "success") return null;
  const next = whatFollows(findPhase(session, event.phase), attemptOf(session, event));
  return next === null ? null : `agent done after ${took}, ${next}`;
}

/** Null when no slow step follows. */
function whatFollows(phase: SessionPhase | undefined, attempt: Attempt | undefined): string | null {
  if ((phase?.plan?.validation.length ?? 0) > 0) return "validating";
  if (phase === undefined || attempt === undefined || (attempt.placed?.worktree ?? null) === null) return null;
  return attempt.changes?.total !== 0 && wasTakenOver(phase, attempt) ? "integrating" : null;
}

/** The time limit, when it is not that of the attempt before. */
function longerLimit(event: TimedEvent & { type: "attempt.started" }, session: Session): string {
  const before = findPhase(session, event.phase)?.attempts.findLast(({ attempt }) => attempt < event.attempt);
  const isSame = before === undefined || before.timeout_ms === event.timeout_ms;
  return isSame ? "" : `, time limit ${durationText(event.timeout_ms)}`;
}

function changeSentence(event: TimedEvent & { type: "attempt.changed" }): string | null {
  const { total, outside } = event;
  if (total === 0) return null;
  const beyond = outside.length === 0 ? "" : `; ${outside.length} outside its files: ${paths(outside)}`;
  return `changed ${amountOf(event)}${beyond}`;
}

function scopeSentence(event: TimedEvent & { type: "phase.scope_requested" }): string {
  const why = colon(event.reason);
  if (event.granted) return `was granted ${paths(event.paths)}${why}`;
  const refused = event.owner === null ? " and was denied" : `, which phase ${event.owner} owns`;
  return `asked for ${paths(event.paths)}${refused}${why}`;
}

/** Null when there was nothing to integrate, or a warning says why it was not integrated. */
function integrationSentence(event: TimedEvent & { type: "phase.integrated" }, session: Session): string | null {
  const attempt = attemptOf(session, event);
  const phase = findPhase(session, event.phase);
  const files = attempt?.changes?.total;
  if (files === 0 || phase === undefined || attempt === undefined) return null;
  if (event.from === event.to && !wasTakenOver(phase, attempt)) return null;
  return `integrated${files === undefined ? "" : ` ${plural(files, "file")}`}${event.user_decision ? " by user decision" : ""}`;
}

function attemptOf(session: Session, { phase, attempt }: { phase: string; attempt: number }): Attempt | undefined {
  return findPhase(session, phase)?.attempts.findLast((one) => one.attempt === attempt);
}

function facts(session: Session, phase: SessionPhase | undefined, now: Date): string {
  if (phase === undefined) return "";
  const worked = workedMs(session, phase, now);
  const tokens = phaseTokens(phase);
  const known = [
    ...(worked === null ? [] : [`in ${durationText(worked)}`]),
    ...(tokens === null ? [] : [`${grouped(tokens)} tokens`]),
  ];
  return known.length === 0 ? "" : ` ${known.join(", ")}`;
}

function errorAt(phase: SessionPhase | undefined, ts: string): string {
  const error = phase?.errors.findLast((one) => one.timestamp <= ts) ?? phase?.errors.at(-1);
  return error?.message ?? "no error recorded";
}

function attemptAt(phase: SessionPhase | undefined, ts: string): string {
  const attempt = phase?.attempts.findLast((one) => one.finished !== null && one.finished <= ts);
  if (attempt?.result == null) return "";
  return ` (attempt ${attempt.attempt}, ${durationText(attempt.result.duration_ms)})`;
}

function failedPhases(status: string, session: Session): string {
  const failed = session.phases.filter((phase) => phase.status === "failed").map((phase) => phase.id);
  if (status !== "failed" || failed.length === 0) return "";
  return ` (failed: phase ${failed.slice(0, 10).join(", ")}${failed.length > 10 ? ", ..." : ""})`;
}

function colon(text: string | undefined): string {
  return text === undefined || text.trim() === "" ? "" : `: ${brief(text)}`;
}

function brief(text: string): string {
  return cut(headline(text), MAX_TEXT);
}

function paths(all: readonly string[]): string {
  return cut(someOf(all, MAX_PATHS), MAX_TEXT);
}

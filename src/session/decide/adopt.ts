// Turns a manual edit of active-session.md into an event, or rejects it with reasons. Pure.
// The edit is the difference from the state that the editor saw (`base`); whether it is legal is judged against the current session.

import { emptyContext } from "../../handoff/downstream-context.ts";
import type { ErrorRecord, EventOf, SessionRecord } from "../events.ts";
import { unmetRequirements, unmetText } from "../requirements.ts";
import { findPhase, isClosed, type Session, type SessionPhase } from "../session.ts";
import { judgeMove, judgeStatus } from "../transitions.ts";

type Adopted = EventOf<"view.adopted">;
type PhaseRecord = SessionRecord["phases"][number];
type Usage = SessionRecord["token_usage"];

/** `event` is null when the view does not differ from what its editor saw. */
export type Judgement = { event: Adopted | null } | { refused: string[] };

/** For a view without a journal, which is then the only record of the session. */
export function importedSession(title: string, session: SessionRecord): EventOf<"session.imported"> {
  return { type: "session.imported", title, session };
}

interface Rules {
  maxRetries: number;
  /** Includes the phases that the edit itself closes, so that one edit may close a phase and start the next. */
  closed: ReadonlySet<string>;
}

export function judgeView(session: Session, base: Session, view: SessionRecord, maxRetries: number): Judgement {
  const refused: string[] = [];
  const event: Adopted = { type: "view.adopted", phases: [] };
  for (const key of ["session_id", "created", "design_document", "implementation_plan", "total_phases"] as const) {
    if (view[key] !== base[key]) refused.push(`${key} cannot be changed (${show(base[key])} to ${show(view[key])})`);
  }
  if (view.phases.length !== base.phases.length) refused.push("phases cannot be added or removed");
  const closing = view.phases.filter((phase) => isClosed(phase) && phase.status !== findPhase(base, phase.id)?.status);
  const closed = new Set([...session.phases.filter(isClosed), ...closing].map((phase) => phase.id));
  for (const [position, phase] of view.phases.entries()) {
    const before = findPhase(base, phase.id);
    const now = findPhase(session, phase.id);
    if (before === undefined || now === undefined || base.phases[position] !== before) {
      refused.push(`phase ${phase.id} is not phase number ${position + 1} of the plan`);
      continue;
    }
    const change = judgePhase(session, { before, now, view: phase }, { maxRetries, closed }, refused);
    if (Object.keys(change).length > 1) event.phases.push(change);
  }
  judgeSession(session, base, view, closed, event, refused);
  if (refused.length > 0) return { refused };
  const unchanged = event.phases.length === 0 && Object.keys(event).length === 2;
  return { event: unchanged ? null : event };
}

function judgeSession(
  session: Session,
  base: Session,
  view: SessionRecord,
  closed: ReadonlySet<string>,
  event: Adopted,
  refused: string[],
): void {
  if (view.status !== base.status && view.status !== session.status) {
    const verdict = judgeStatus(session, view.status, closed);
    const unmet = view.status === "completed" ? unmetRequirements(session) : [];
    if (!verdict.legal) refused.push(verdict.reason);
    else if (unmet.length > 0) refused.push(`the session cannot be completed here: not met: ${unmetText(unmet)}`);
    else event.status = view.status;
  }
  if (view.execution_mode !== base.execution_mode && view.execution_mode !== session.execution_mode) {
    if (session.execution_mode === null && view.execution_mode !== null) event.execution_mode = view.execution_mode;
    else refused.push("execution_mode cannot change once it is set");
  }
  if (!same(view.token_usage, base.token_usage)) {
    if (grows(session.token_usage, view.token_usage)) event.token_usage = view.token_usage;
    else refused.push("token_usage cannot shrink");
  }
}

interface PhaseStates {
  before: SessionPhase;
  now: SessionPhase;
  view: PhaseRecord;
}

function judgePhase(session: Session, states: PhaseStates, rules: Rules, refused: string[]): Adopted["phases"][number] {
  const { before, now, view } = states;
  const change: Adopted["phases"][number] = { id: now.id };
  for (const key of ["name", "agents", "parallel", "blocked_by"] as const) {
    if (!same(view[key], before[key])) refused.push(`phase ${now.id}: ${key} belongs to the plan`);
  }
  if (view.status !== before.status && view.status !== now.status) {
    const verdict = judgeMove(session, now, { to: view.status, userDecision: false, ...rules });
    if (verdict.legal) change.status = view.status;
    else refused.push(verdict.reason);
  }
  // A user who retries a phase by editing the view may also increase its retry count.
  const counted =
    view.status === "in_progress" && before.status === "failed" ? before.retry_count + 1 : before.retry_count;
  if (view.retry_count !== before.retry_count && view.retry_count !== counted) {
    refused.push(`phase ${now.id}: retry_count cannot be edited`);
  }
  const files = {
    created: added("files_created", states, refused),
    modified: added("files_modified", states, refused),
    deleted: added("files_deleted", states, refused),
  };
  if (files.created.length + files.modified.length + files.deleted.length > 0) change.files = files;
  if (!same(view.downstream_context, before.downstream_context)) {
    change.downstream_context = { ...emptyContext(), ...view.downstream_context };
  }
  if (!same(view.errors, before.errors.map(shownError))) {
    const kept = now.errors.every((error, at) => isSameError(error, view.errors[at]));
    if (kept) change.errors = view.errors;
    else refused.push(`phase ${now.id}: errors can be added and resolved, not changed or removed`);
  }
  return change;
}

function added(
  key: "files_created" | "files_modified" | "files_deleted",
  states: PhaseStates,
  refused: string[],
): string[] {
  const { before, now, view } = states;
  const seen = new Set(before[key]);
  const left = new Set(view[key]);
  if (before[key].some((path) => !left.has(path))) refused.push(`phase ${now.id}: entries of ${key} cannot be removed`);
  return view[key].filter((path) => !seen.has(path));
}

/** Whether two errors differ only in their resolution. */
function isSameError(error: ErrorRecord, view: ErrorRecord | undefined): boolean {
  return (
    view !== undefined &&
    same({ ...shownError(error), resolution: "", resolved: true }, { ...view, resolution: "", resolved: true })
  );
}

/** The fields of an error that the view shows; the journal also records a code and conflicts. */
function shownError({ agent, timestamp, type, message, resolution, resolved }: ErrorRecord): ErrorRecord {
  return { agent, timestamp, type, message, resolution, resolved };
}

function grows(before: Usage, after: Usage): boolean {
  const totals = ["total_input", "total_output", "total_cached"] as const;
  if (totals.some((key) => after[key] < before[key])) return false;
  return Object.entries(before.by_agent).every(([agent, used]) => {
    const now = Object.hasOwn(after.by_agent, agent) ? after.by_agent[agent] : undefined;
    return now !== undefined && now.input >= used.input && now.output >= used.output && now.cached >= used.cached;
  });
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function show(value: unknown): string {
  return typeof value === "string" ? `"${value}"` : String(value);
}

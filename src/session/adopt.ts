// What a hand edit of active-session.md means: the event it amounts to, or why it is refused. Pure.

import { emptyContext } from "../handoff/keys.ts";
import type { EventOf, SessionRecord } from "./events.ts";
import { findPhase, isClosed, type Session, type SessionPhase } from "./session.ts";
import { judgeMove, judgeStatus } from "./transitions.ts";

type Adopted = EventOf<"view.adopted">;
type PhaseRecord = SessionRecord["phases"][number];

export type Judgement = { event: Adopted | null } | { refused: string[] };

/** Compares an edited view with the session. `null`: it says what the session says. */
export function judgeView(session: Session, view: SessionRecord, maxRetries: number): Judgement {
  const refused: string[] = [];
  const event: Adopted = { type: "view.adopted", phases: [] };
  const fixed = ["session_id", "created", "design_document", "implementation_plan", "total_phases"] as const;
  for (const key of fixed) {
    if (view[key] !== session[key])
      refused.push(`${key} cannot be changed (${show(session[key])} to ${show(view[key])})`);
  }
  if (view.phases.length !== session.phases.length) refused.push("phases cannot be added or removed");
  // An edit may close one phase and start the next: what the edit itself closes counts as closed.
  const closed = new Set(view.phases.filter(isClosed).map((phase) => phase.id));
  for (const [position, phase] of view.phases.entries()) {
    const known = findPhase(session, phase.id);
    if (known === undefined || session.phases[position] !== known) {
      refused.push(`phase ${phase.id} is not phase number ${position + 1} of the plan`);
      continue;
    }
    judgePhase(session, known, phase, { maxRetries, closed }, event, refused);
  }
  judgeSession(session, view, event, refused);
  if (refused.length > 0) return { refused };
  const unchanged = event.phases.length === 0 && Object.keys(event).length === 2;
  return { event: unchanged ? null : event };
}

function judgeSession(session: Session, view: SessionRecord, event: Adopted, refused: string[]): void {
  if (view.status !== session.status) {
    const verdict = judgeStatus(session, view.status);
    if (verdict.legal) event.status = view.status;
    else refused.push(verdict.reason);
  }
  if (view.execution_mode !== session.execution_mode) {
    if (session.execution_mode === null && view.execution_mode !== null) event.execution_mode = view.execution_mode;
    else refused.push("execution_mode holds for the whole session once it is set");
  }
  if (!same(view.token_usage, session.token_usage)) {
    if (grows(session.token_usage, view.token_usage)) event.token_usage = view.token_usage;
    else refused.push("token_usage cannot shrink");
  }
}

function judgePhase(
  session: Session,
  known: SessionPhase,
  view: PhaseRecord,
  rules: { maxRetries: number; closed: ReadonlySet<string> },
  event: Adopted,
  refused: string[],
): void {
  const change: Adopted["phases"][number] = { id: known.id };
  for (const key of ["name", "agents", "parallel", "blocked_by"] as const) {
    if (!same(view[key], known[key])) refused.push(`phase ${known.id}: ${key} belongs to the plan`);
  }
  if (view.status !== known.status) {
    const verdict = judgeMove(session, known, { to: view.status, userDecision: false, ...rules });
    if (verdict.legal) change.status = view.status;
    else refused.push(verdict.reason);
  }
  const files = {
    created: added("files_created", known, view, refused),
    modified: added("files_modified", known, view, refused),
    deleted: added("files_deleted", known, view, refused),
  };
  if (files.created.length + files.modified.length + files.deleted.length > 0) change.files = files;
  if (!same(view.downstream_context, known.downstream_context)) {
    change.downstream_context = { ...emptyContext(), ...view.downstream_context };
  }
  if (!same(view.errors, known.errors)) {
    if (view.errors.length >= known.errors.length) change.errors = view.errors;
    else refused.push(`phase ${known.id}: errors can be resolved, not removed`);
  }
  if (Object.keys(change).length > 1) event.phases.push(change);
}

function added(
  key: "files_created" | "files_modified" | "files_deleted",
  known: SessionPhase,
  view: PhaseRecord,
  refused: string[],
): string[] {
  const before = new Set(known[key]);
  const now = new Set(view[key]);
  if (known[key].some((path) => !now.has(path))) refused.push(`phase ${known.id}: ${key} is appended to, never cut`);
  return view[key].filter((path) => !before.has(path));
}

function grows(before: SessionRecord["token_usage"], after: SessionRecord["token_usage"]): boolean {
  const totals = ["total_input", "total_output", "total_cached"] as const;
  return (
    totals.every((key) => after[key] >= before[key]) &&
    Object.keys(before.by_agent).every((agent) => Object.hasOwn(after.by_agent, agent))
  );
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function show(value: unknown): string {
  return typeof value === "string" ? `"${value}"` : String(value);
}

// Folds journal events into a Session. It only changes the session that it is given, so that an event costs the same in a session with
// 5,000 phases as with 5. It trusts the events: whether a move is legal is judged before it is written.

import { MaestroError } from "../errors.ts";
import { recordedType } from "../handoff/output/error-type.ts";
import { quoted } from "../shape.ts";
import type { EventOf, EventType, FrozenPlan, SessionEvent } from "./events.ts";
import { asRecorded, createdSession, importedFromView, pendingPhase, positionsOf } from "./new-session.ts";
import { answerRequirement, revisedRequirements } from "./requirements.ts";
import { adjust, noteRetry } from "./retry.ts";
import { endReview, reviewApproved, reviewOpened } from "./review/review-events.ts";
import { type Attempt, type AttemptResult, findPhase, isClosed, type Session, type SessionPhase } from "./session.ts";

export type TimedEvent = SessionEvent & { seq: number; ts: string };

type Timed<Type extends EventType> = EventOf<Type> & { seq: number; ts: string };
/** Every event type that may follow the first event. */
type Change = Exclude<EventType, "session.created" | "session.imported">;

/** Applies one event: changes the given session and returns it. `session` is undefined before the first event. */
export function applyEvent(session: Session | undefined, event: TimedEvent): Session {
  if (event.type === "session.created") return createdSession(event);
  if (event.type === "session.imported") return importedFromView(event);
  if (session === undefined) throw unusable(event, "comes before the session was created");
  const change = changeOf.get(event.type);
  if (change === undefined) throw unusable(event, "is not known to this version of Maestro");
  session.updated = event.ts;
  session.seq = event.seq;
  change(session, event);
  return session;
}

export function fold(events: Iterable<TimedEvent>): Session | undefined {
  let session: Session | undefined;
  for (const event of events) session = applyEvent(session, event);
  return session;
}

/**
 * One function per event. A table, because a process that reads a long journal once would spend more time compiling one large function,
 * repeatedly and as a whole, than running it.
 */
const changes: { [Type in Change]: (session: Session, event: Timed<Type>) => void } = {
  "session.mode_set": (session, { execution_mode }) => {
    session.execution_mode = execution_mode;
  },
  "session.review_set": (session, { review }) => {
    session.review = review;
    session.open_review = null;
  },
  "session.budget_set": (session, { budget, before }) => {
    session.budget = { cap: budget, before };
    session.budget_spent = null;
  },
  "session.budget_spent": (session, { phase, wanted, spent, proposed }) => {
    session.budget_spent = { phase, wanted, spent, proposed };
  },
  "session.status_set": (session, { status, summary, aborted, accept_open }) => {
    session.status = status;
    session.summary = summary ?? session.summary;
    session.accept_open = accept_open ?? session.accept_open;
    session.aborted ||= aborted === true;
  },
  "session.noted": (session, { ts, text, phase, agent }) => {
    session.notes.push({
      ts,
      text,
      ...(phase === undefined ? {} : { phase }),
      ...(agent === undefined ? {} : { agent }),
    });
  },
  "session.baseline_taken": (session, { baseline }) => void session.baseline.push(...baseline),
  "requirement.answered": (session, event) => {
    if (!answerRequirement(session, event)) throw unusable(event, "names an unknown requirement");
  },
  "phase.moved": (session, event) => {
    const phase = phaseOf(session, event);
    const isRetry = phase.status === "failed" && event.to === "in_progress";
    move(session, phase, event.to, event.ts);
    if (event.user_decision) phase.attempts_at_decision = phase.attempts.length;
    if (event.hashes !== undefined) phase.hashes_at_start = event.hashes;
    adjust(phase, event);
    if (event.user_decision && isRetry) noteRetry(phase, event);
  },
  "phase.reopened": (session, event) => {
    const phase = phaseOf(session, event);
    move(session, phase, "in_progress", event.ts);
    if (session.status === "completed") session.status = "in_progress";
    phase.attempts_at_decision = phase.attempts.length;
    phase.hashes_at_start = event.hashes;
    phase.reopened = (phase.reopened ?? 0) + 1;
    noteRetry(phase, event);
  },
  "review.opened": reviewOpened,
  "review.approved": reviewApproved,
  "phase.files_added": (session, event) => {
    const phase = phaseOf(session, event);
    addFiles(phase, event);
    for (const path in event.hashes) {
      session.file_hashes.set(path, { hash: event.hashes[path] ?? null, phase: phase.id });
    }
  },
  "phase.handed_off": (session, event) => {
    const phase = phaseOf(session, event);
    phase.handoff = event.handoff;
    phase.downstream_context = event.handoff.downstream_context;
  },
  // The user sees the error that is recorded with this event.
  "handoff.malformed": (session, event) => void phaseOf(session, event),
  "phase.validated": (session, event) => {
    const phase = phaseOf(session, event);
    const { result, detail, evidence } = event;
    phase.validation = evidence === undefined ? { result, detail } : { result, detail, evidence };
    const attempt = phase.attempts.at(-1);
    if (attempt !== undefined) attempt.validated = { at: event.ts, result };
  },
  "phase.warned": (session, event) => {
    phaseOf(session, event).warnings.push({ ts: event.ts, code: event.code, message: event.message });
  },
  "phase.scope_requested": (session, event) => {
    if (event.granted) append(phaseOf(session, event).granted, event.paths);
  },
  "phase.integrated": (session, event) => {
    const attempt = attemptOf(session, event);
    attempt.integrated = { from: event.from, to: event.to, seq: event.seq };
    delete attempt.reverted;
  },
  "phase.reverted": (session, event) => {
    const attempt = attemptOf(session, event);
    delete attempt.integrated;
    attempt.reverted = true;
  },
  "phase.error_added": (session, event) => {
    phaseOf(session, event).errors.push(asRecorded(event.error));
  },
  "attempt.started": (session, event) => {
    const { attempt, agent, run, runtime, model, batch, name, prompt_bytes, timeout_ms, ts: started, seq } = event;
    const made = { attempt, agent, run, runtime, model, batch, name, prompt_bytes, timeout_ms, started, seq };
    const stands = event.instead_of === undefined ? {} : { instead_of: event.instead_of };
    const kept = event.reserved === undefined ? {} : { reserved: event.reserved };
    const queued = event.remote === undefined ? {} : { remote: event.remote };
    phaseOf(session, event).attempts.push({ ...made, ...stands, ...kept, ...queued, finished: null, result: null });
    session.budget_spent = null;
  },
  "attempt.claimed": (session, event) => {
    const attempt = attemptOf(session, event);
    attempt.worker = event.worker;
    attempt.claimed = event.ts;
  },
  "attempt.placed": (session, event) => {
    attemptOf(session, event).placed = { worktree: event.worktree, base: event.base };
  },
  "attempt.changed": (session, event) => {
    const { base, commit, files, total, added, removed, outside, unkept } = event;
    const kept = unkept === undefined ? {} : { unkept };
    attemptOf(session, event).changes = { base, commit, files, total, added, removed, outside, ...kept };
  },
  "attempt.finished": (session, event) => {
    const attempt = attemptOf(session, event);
    attempt.finished = event.ts;
    attempt.result = resultOf(event);
    for (const usage of event.usage ?? []) addTokens(session, attempt.agent, usage);
  },
  "quota.hit": (session, { ts, until, slots }) => {
    session.quota = { since: ts, until, slots };
  },
  "tokens.used": (session, event) => addTokens(session, event.agent, event),
  "plan.revised": (session, { plan, text, superseded, earlier, taken }) => {
    revise(session, plan);
    const inPlace = { ...(earlier === undefined ? {} : { earlier }), ...(taken === undefined ? {} : { taken }) };
    session.revised = { path: plan.path ?? "", text, superseded, ...inPlace };
  },
  "view.adopted": adopt,
  "archive.started": (session, event) => {
    session.status = event.status;
    session.accept_open = event.accept_open ?? session.accept_open;
    session.archiving = event;
    relocate(session, event.moves);
  },
};

const changeOf = new Map(Object.entries(changes)) as ReadonlyMap<string, (session: Session, event: TimedEvent) => void>;

function resultOf(event: Timed<"attempt.finished">): AttemptResult {
  const { outcome, exit_code, signal, duration_ms, usage } = event;
  const result: AttemptResult = { outcome, exit_code, signal, duration_ms, usage };
  if (event.reason !== undefined) result.reason = event.reason;
  if (event.error_type !== undefined) result.error_type = recordedType(event.error_type);
  if (event.message !== undefined) result.message = event.message;
  if (event.partial_output !== undefined) result.partial_output = event.partial_output;
  if (event.spent !== undefined) result.spent = event.spent;
  if (event.adopted !== undefined) result.adopted = event.adopted;
  return result;
}

function phaseOf(session: Session, event: { seq: number; type: string; phase: string }): SessionPhase {
  const phase = findPhase(session, event.phase);
  if (phase === undefined) throw unusable(event, `names unknown phase ${quoted(event.phase)}`);
  return phase;
}

function attemptOf(session: Session, event: { seq: number; type: string; phase: string; attempt: number }): Attempt {
  const attempt = phaseOf(session, event).attempts.findLast((one) => one.attempt === event.attempt);
  if (attempt === undefined)
    throw unusable(event, `names unknown attempt ${event.attempt} of phase ${quoted(event.phase)}`);
  return attempt;
}

function unusable(event: { seq: number; type: string }, why: string): MaestroError {
  return new MaestroError("parse_failed", `event ${event.seq} (${event.type}) ${why}`);
}

function move(session: Session, phase: SessionPhase, to: SessionPhase["status"], ts: string): void {
  if (phase.status === "failed" && to === "in_progress") phase.retry_count += 1;
  phase.status = to;
  session.running.delete(phase.id);
  endReview(session, phase.id);
  // Starting or skipping a phase is a decision to continue an interrupted or failed session.
  const continues = (to === "in_progress" || to === "skipped") && !session.aborted;
  if (continues && (session.status === "interrupted" || session.status === "failed")) session.status = "in_progress";
  if (to === "in_progress") {
    session.running.add(phase.id);
    session.current_phase = phase.id;
    phase.started = ts;
    phase.completed = null;
    phase.attempts_at_start = phase.attempts.length;
    // Earlier reports and validations prove nothing about the new attempt. Deleting an absent field is slow too.
    if (phase.handoff !== undefined) delete phase.handoff;
    if (phase.validation !== undefined) delete phase.validation;
    if (phase.reviewed !== undefined) delete phase.reviewed;
    return;
  }
  if (to === "completed") {
    phase.completed = ts;
    resolveErrors(phase);
  }
  if (to === "aborted") {
    session.aborted = true;
    session.status = "failed";
  }
  if (session.current_phase === phase.id) for (const running of session.running) session.current_phase = running;
}

/** Completing a phase resolves its earlier errors. */
function resolveErrors(phase: SessionPhase): void {
  const resolution = phase.retry_count === 0 ? "The phase completed" : `Resolved by retry ${phase.retry_count}`;
  phase.errors = phase.errors.map((error) => (error.resolved ? error : { ...error, resolved: true, resolution }));
}

/** Most lists are empty: without a call for those, V8 compiles `append` into this function once instead of three times. */
function addFiles(phase: SessionPhase, files: { created: string[]; modified: string[]; deleted: string[] }): void {
  if (files.created.length > 0) append(phase.files_created, files.created);
  if (files.modified.length > 0) append(phase.files_modified, files.modified);
  if (files.deleted.length > 0) append(phase.files_deleted, files.deleted);
}

/** The contents of long lists as sets, so that appending to a long list costs the same as to a short one. */
const contents = new WeakMap<string[], Set<string>>();
const LONG_LIST = 64;

function append(list: string[], added: readonly string[]): void {
  for (let at = 0; at < added.length; at++) {
    const path = added[at] as string;
    if (list.length < LONG_LIST ? list.includes(path) : setOf(list).has(path)) continue;
    list.push(path);
    if (list.length > LONG_LIST) setOf(list).add(path);
  }
}

function setOf(list: string[]): Set<string> {
  let known = contents.get(list);
  if (known === undefined) {
    known = new Set(list);
    contents.set(list, known);
  }
  return known;
}

function addTokens(session: Session, agent: string, used: { input: number; output: number; cached: number }): void {
  const total = session.token_usage;
  total.total_input += used.input;
  total.total_output += used.output;
  total.total_cached += used.cached;
  const before = (Object.hasOwn(total.by_agent, agent) && total.by_agent[agent]) || { input: 0, output: 0, cached: 0 };
  total.by_agent[agent] = {
    input: before.input + used.input,
    output: before.output + used.output,
    cached: before.cached + used.cached,
  };
}

/** Switches to the new plan's phases; a phase that was in the old plan keeps its recorded state. */
function revise(session: Session, plan: FrozenPlan): void {
  const phases = plan.phases.map((next): SessionPhase => {
    const { name, agents, parallel, blocked_by, plan: frozen, ...fresh } = pendingPhase(next);
    const before = findPhase(session, next.id);
    const revised = { name, agents, parallel, blocked_by, ...(frozen === undefined ? {} : { plan: frozen }) };
    if (before === undefined) return { ...fresh, ...revised };
    // What the user changed for a retry stays, unless the revision says something else about it.
    const kept = before.plan?.agent === next.agent ? { agents: before.agents } : {};
    const known = { ...before, ...revised, ...kept };
    if (!isSameList(before.plan?.validation_criteria ?? [], next.validation_criteria)) delete known.criteria;
    // What passed are other commands; a finished phase keeps its proof.
    if (!isClosed(before) && !isSameList(commandsIn(before.plan), commandsIn(frozen))) delete known.validation;
    return known;
  });
  session.requirements = revisedRequirements(session.requirements, plan.requirements);
  session.title = plan.title;
  session.design_document = plan.design_document ?? session.design_document;
  session.implementation_plan = plan.path;
  session.plan_hash = plan.hash;
  session.phases = phases;
  session.open_review = null;
  session.total_phases = phases.length;
  session.index = positionsOf(phases);
  session.revision += 1;
  const open = phases.find((phase) => phase.status !== "completed" && phase.status !== "skipped");
  if (session.running.size === 0) session.current_phase = open?.id ?? session.current_phase;
}

/** The validation commands of a phase, with what is expected of them. */
function commandsIn(plan: SessionPhase["plan"]): string[] {
  return [...(plan?.validation ?? []), "", ...(plan?.not_worse ?? [])];
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at]);
}

function adopt(session: Session, event: Timed<"view.adopted">): void {
  session.execution_mode = event.execution_mode ?? session.execution_mode;
  if (event.token_usage !== undefined) session.token_usage = structuredClone(event.token_usage);
  for (const change of event.phases) {
    const phase = findPhase(session, change.id);
    if (phase === undefined) throw unusable(event, `names unknown phase ${quoted(change.id)}`);
    if (change.files !== undefined) addFiles(phase, change.files);
    phase.downstream_context = change.downstream_context ?? phase.downstream_context;
    if (change.errors !== undefined)
      phase.errors = change.errors.map((error, at) => ({ ...phase.errors[at], ...asRecorded(error) }));
    if (change.status !== undefined) move(session, phase, change.status, event.ts);
  }
  // Set last, because one edit may close both the last phase and the session.
  session.status = event.status ?? session.status;
}

function relocate(session: Session, moves: readonly { from: string; to: string }[]): void {
  for (const { from, to } of moves) {
    if (session.implementation_plan === from) session.implementation_plan = to;
    if (session.design_document === from) session.design_document = to;
  }
}

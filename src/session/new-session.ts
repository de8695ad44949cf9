// The session after its first event, and a phase that has not started. Part of the fold: it trusts the events.

import { emptyContext } from "../handoff/downstream-context.ts";
import { recordedType } from "../handoff/output/error-type.ts";
import type { ErrorRecord, EventOf, FrozenPlan } from "./events.ts";
import { revisedRequirements } from "./requirements.ts";
import type { Session, SessionPhase } from "./session.ts";

export function createdSession(event: EventOf<"session.created"> & { seq: number; ts: string }): Session {
  const { session_id, task, execution_mode, review = "end", plan, approved, seq, ts } = event;
  const phases = plan.phases.map(pendingPhase);
  const record = {
    session_id,
    created: ts,
    updated: ts,
    status: "in_progress" as const,
    design_document: plan.design_document,
    implementation_plan: plan.path,
    execution_mode,
    current_phase: phases[0]?.id ?? null,
    total_phases: phases.length,
    token_usage: { total_input: 0, total_output: 0, total_cached: 0, by_agent: {} },
  };
  const approval = approved === undefined ? {} : { approval: { at: ts, hash: plan.hash } };
  const told = { review, title: plan.title, task, plan_hash: plan.hash };
  return { ...begin(phases, seq, event), ...record, ...told, ...approval };
}

export function importedFromView(event: EventOf<"session.imported"> & { seq: number }): Session {
  // A copy, because later events must not change this one.
  const session = structuredClone(event.session);
  const phases = session.phases.map((phase) => ({
    ...phase,
    errors: phase.errors.map(asRecorded),
    attempts: [],
    granted: [],
    warnings: [],
  }));
  return { ...session, ...begin(phases, event.seq), title: event.title, task: null, plan_hash: null };
}

/** The fields that every session has after its first event. */
function begin(
  phases: SessionPhase[],
  seq: number,
  { plan, baseline, budget }: Partial<EventOf<"session.created">> = {},
) {
  return {
    phases,
    review: "end" as const,
    open_review: null,
    file_hashes: new Map(),
    notes: [],
    requirements: revisedRequirements([], plan?.requirements),
    baseline: [...(baseline ?? [])],
    accept_open: null,
    summary: null,
    revision: 1,
    revised: null,
    aborted: phases.some((phase) => phase.status === "aborted"),
    quota: null,
    budget: budget === undefined ? null : { cap: budget, before: {} },
    budget_spent: null,
    archiving: null,
    seq,
    index: positionsOf(phases),
    running: new Set(phases.filter((phase) => phase.status === "in_progress").map((phase) => phase.id)),
  };
}

export function pendingPhase(plan: FrozenPlan["phases"][number]): SessionPhase {
  return {
    id: plan.id,
    name: plan.title,
    status: "pending",
    agents: [plan.agent],
    parallel: plan.parallel,
    started: null,
    completed: null,
    blocked_by: plan.blocked_by,
    files_created: [],
    files_modified: [],
    files_deleted: [],
    downstream_context: emptyContext(),
    errors: [],
    retry_count: 0,
    attempts: [],
    granted: [],
    warnings: [],
    plan,
  };
}

/** Journals of earlier versions have one more type of errors. */
export function asRecorded<Recorded extends ErrorRecord>(error: Recorded): Recorded {
  return { ...error, type: recordedType(error.type) };
}

export function positionsOf(phases: readonly SessionPhase[]): Session["index"] {
  return new Map(phases.map((phase, position) => [phase.id, position]));
}

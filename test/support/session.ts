// Sessions in memory, for the tests of pure parts.

import type { FrozenPlan, SessionEvent } from "../../src/session/events.ts";
import { applyEvent } from "../../src/session/fold.ts";
import type { Session } from "../../src/session/session.ts";

export const startTime = "2026-02-14T22:58:00.000Z";

export function frozenPhase(
  id: string,
  over: Partial<FrozenPlan["phases"][number]> = {},
): FrozenPlan["phases"][number] {
  return {
    id,
    title: `Phase ${id}`,
    agent: "coder",
    description: `Work on ${id}.`,
    validation_criteria: ["it works"],
    validation: [],
    parallel: true,
    blocked_by: [],
    files_created: [],
    files_modified: [],
    files_deleted: [],
    ...over,
  };
}

export function frozenPlan(phases: FrozenPlan["phases"]): FrozenPlan {
  return {
    title: "Task API",
    path: ".gemini/plans/2026-02-14-task-api-impl-plan.md",
    hash: "0".repeat(64),
    design_document: null,
    phases,
  };
}

function created(phases: FrozenPlan["phases"]): SessionEvent {
  return {
    type: "session.created",
    session_id: "2026-02-14-task-api",
    task: null,
    execution_mode: null,
    plan: frozenPlan(phases),
  };
}

/** A session after `events`, a second apart. */
export function sessionAfter(phases: FrozenPlan["phases"], ...events: SessionEvent[]): Session {
  const all = [created(phases), ...events];
  let session: Session | undefined;
  for (const [index, event] of all.entries()) {
    const ts = new Date(Date.parse(startTime) + index * 1000).toISOString();
    session = applyEvent(session, { ...structuredClone(event), seq: index + 1, ts });
  }
  return session as Session;
}

export const moved = (
  phase: string,
  from: "pending" | "in_progress" | "failed",
  to: "in_progress" | "completed" | "failed" | "skipped" | "aborted",
): SessionEvent => ({
  type: "phase.moved",
  phase,
  from,
  to,
});

// What a plan file says now that the frozen plan of the session does not. Pure.

import type { PlanPhase } from "../plan/plan.ts";
import type { Session } from "./session.ts";

const fields = [
  "title",
  "agent",
  "description",
  "validation_criteria",
  "validation",
  "parallel",
  "blocked_by",
  "files_created",
  "files_modified",
  "files_deleted",
  "estimate",
] as const;

/** One line a phase that was added, removed or changed; empty when only the text around the phases differs. */
export function planChanges(session: Session, phases: readonly PlanPhase[]): string[] {
  const lines: string[] = [];
  const now = new Map(phases.map((phase) => [phase.id, phase]));
  for (const { id, name, plan } of session.phases) {
    const next = now.get(id);
    now.delete(id);
    if (next === undefined) lines.push(`- phase ${id}: ${name}`);
    else if (plan !== undefined) {
      const changed = fields.filter((field) => JSON.stringify(plan[field]) !== JSON.stringify(next[field]));
      if (changed.length > 0) lines.push(`~ phase ${id}: ${changed.join(", ")}`);
    }
  }
  for (const phase of now.values()) lines.push(`+ phase ${phase.id}: ${phase.title}`);
  return lines;
}

// Compares the current plan file with the plan that the session recorded. Pure.

import type { PlanPhase } from "../plan/plan.ts";
import type { Session } from "./session.ts";

const fields = [
  "title",
  "agent",
  "description",
  "validation_criteria",
  "validation",
  "not_worse",
  "meant_to_pass",
  "requirements",
  "parallel",
  "blocked_by",
  "files_created",
  "files_modified",
  "files_deleted",
  "estimate",
  "budget",
] as const;

/** One line per added, removed or changed phase; empty when only the text around the phases differs. */
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

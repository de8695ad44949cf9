// The requirements of a session: their answers, which phases work on them, and which of them keep the session from being completed.

import type { PhaseId } from "../ids.ts";
import type { Requirement } from "../plan/plan.ts";
import type { EventOf } from "./events.ts";
import type { Session, SessionRequirement } from "./session.ts";

export type RequirementStanding = "open" | "met" | "not_met" | "dropped";

export function requirementStanding({ answer }: SessionRequirement): RequirementStanding {
  return answer?.verdict ?? "open";
}

/** Everything but met: only the user may complete a session with these. */
export function unmetRequirements({ requirements }: Pick<Session, "requirements">): SessionRequirement[] {
  return requirements.filter((one) => requirementStanding(one) !== "met");
}

export function phasesFor({ phases }: Pick<Session, "phases">, id: string): PhaseId[] {
  return phases.filter(({ plan }) => plan?.requirements?.includes(id)).map((phase) => phase.id);
}

/** "R1 (open), R3 (dropped)" */
export function unmetText(unmet: readonly SessionRequirement[]): string {
  const shown = unmet.slice(0, 5).map((one) => `${one.id} (${requirementStanding(one).replace("_", " ")})`);
  return `${shown.join(", ")}${unmet.length > 5 ? ", ..." : ""}`;
}

/**
 * An answer is valid only for the text that it was given for. A requirement that a revision leaves out is kept, so that it is not lost silently.
 */
export function revisedRequirements(
  before: readonly SessionRequirement[],
  next: readonly Requirement[] = [],
): SessionRequirement[] {
  const kept = before.filter(({ id }) => !next.some((one) => one.id === id));
  return [
    ...next.map((one) => before.find(({ id, text }) => id === one.id && text === one.text) ?? { ...one }),
    ...kept,
  ];
}

/** For the fold; false when the session has no such requirement. */
export function answerRequirement(
  { requirements }: Session,
  { requirement, verdict, evidence, ts }: EventOf<"requirement.answered"> & { ts: string },
): boolean {
  const found = requirements.find(({ id }) => id === requirement);
  if (found !== undefined) found.answer = { verdict, evidence, ts };
  return found !== undefined;
}

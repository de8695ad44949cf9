// Answers a requirement of the design, and judges whether the session may be completed or archived with those that are not met. Pure.

import { MaestroError } from "../../errors.ts";
import type { RequirementVerdict, SessionEvent } from "../events.ts";
import { unmetRequirements, unmetText } from "../requirements.ts";
import type { Session } from "../session.ts";

export interface RequirementAnswer {
  id: string;
  verdict: RequirementVerdict;
  evidence: string;
}

export function decideAnswer(session: Session, { id, verdict, evidence }: RequirementAnswer): SessionEvent[] {
  if (session.status === "completed" || session.archiving !== null) {
    throw new MaestroError("illegal_transition", `Cannot answer requirement ${id}: the session is completed`);
  }
  const known = session.requirements.map((one) => one.id);
  if (!known.includes(id)) {
    const message = `Session ${session.session_id} has no requirement ${JSON.stringify(id)}`;
    const hint = known.length === 0 ? "Its design names no requirements." : `It has ${known.join(", ")}.`;
    throw new MaestroError("not_found", message, { hint });
  }
  if (evidence.trim() === "") {
    throw new MaestroError("usage", `Cannot answer requirement ${id}: the evidence is empty`, {
      hint: "Name what shows it: a test, a command and its result, a file, or the reason why it was dropped.",
    });
  }
  return [{ type: "requirement.answered", requirement: id, verdict, evidence }];
}

/** Throws when a requirement is not met and the user has not accepted that; returns the reason to record, if one is needed. */
export function acceptedOpen(session: Session, given: string | undefined, what: string): { accept_open?: string } {
  const unmet = unmetRequirements(session);
  if (unmet.length === 0) return {};
  const reason = given?.trim() ?? "";
  if (reason !== "") return { accept_open: reason };
  const count = unmet.length === 1 ? "1 requirement is" : `${unmet.length} requirements are`;
  throw new MaestroError("illegal_transition", `Cannot ${what}: ${count} not met: ${unmetText(unmet)}`, {
    hint: 'Answer each with "maestro session requirement <id> met --evidence <text>". If the user accepts it as it is, give their reason: --accept-open "reason" (accept_open in the tool).',
  });
}

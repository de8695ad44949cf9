// The entry of a session in the list: enough to find it by title, phase, agent or error. Pure.

import type { Session } from "../session/session.ts";
import type { SessionSummary } from "../web/model/found.ts";

const MAX_ERRORS = 20;
const MAX_ERROR_CHARS = 300;

export function summaryOf(session: Session, isActive: boolean): SessionSummary {
  return {
    id: session.session_id,
    title: session.title,
    status: session.aborted ? "failed" : session.status,
    isActive,
    created: session.created,
    updated: session.updated,
    phases: session.phases.map(({ id, name, agents, status }) => ({ id, name, agent: agents[0] ?? "", status })),
    errors: session.phases
      .flatMap(({ errors }) => errors.map(({ message }) => message.slice(0, MAX_ERROR_CHARS)))
      .slice(0, MAX_ERRORS),
  };
}

// One phase for the TechLead: what it has to do, what its agent handed over, how it was validated, and its last error. Pure.

import { clipText } from "../../prompt/data.ts";
import { ownedFiles } from "../../session/decide/attempt.ts";
import { phaseState } from "../../session/phase/phase-state.ts";
import { criteriaOf, isVerified, type Session, type SessionPhase } from "../../session/session.ts";

const MAX_TEXT = 300;
const MAX_LISTED = 6;

/** `full`: nothing is shortened. */
export function phaseFacts(session: Session, phase: SessionPhase, isDriven: boolean, full: boolean) {
  const { plan, handoff, validation, errors, attempts } = phase;
  const text = (given: string) => (full ? given : clipText(given, MAX_TEXT));
  const some = (list: readonly string[]) => (full || list.length <= MAX_LISTED ? list : shortList(list));
  const error = errors.at(-1);
  return {
    id: phase.id,
    name: phase.name,
    agent: phase.agents[0] ?? null,
    status: phase.status,
    state: phaseState(session, phase, isDriven),
    ...(phase.status === "completed" ? { verified: isVerified(phase) } : {}),
    blocked_by: phase.blocked_by,
    attempts: attempts.length,
    // Null while it waits in the queue.
    ...(attempts.at(-1)?.remote === true ? { worker: attempts.at(-1)?.worker ?? null } : {}),
    retries: phase.retry_count,
    text: text(plan?.description ?? ""),
    criteria: some(criteriaOf(phase)),
    validation: {
      commands: some(plan?.validation ?? []),
      ...(validation === undefined ? {} : resultOf(validation, text)),
    },
    files: { owned: some(ownedFiles(phase)), ...changed(phase, some) },
    ...(handoff === undefined ? {} : { handoff: handed(handoff, full, text) }),
    ...(error === undefined
      ? {}
      : { last_error: { type: error.type, resolved: error.resolved, message: text(error.message) } }),
  };
}

function shortList(list: readonly string[]): string[] {
  return [...list.slice(0, MAX_LISTED), `and ${list.length - MAX_LISTED} more`];
}

function resultOf({ result, detail }: NonNullable<SessionPhase["validation"]>, text: (given: string) => string) {
  return { result, detail: text(detail) };
}

function changed({ files_created, files_modified, files_deleted }: SessionPhase, some: (list: string[]) => unknown) {
  const lists = { created: files_created, modified: files_modified, deleted: files_deleted };
  return Object.fromEntries(
    Object.entries(lists).flatMap(([kind, list]) => (list.length === 0 ? [] : [[kind, some(list)]])),
  );
}

/** A short answer has only the agent's summary; the next phases get the rest in their prompts. */
function handed(handoff: NonNullable<SessionPhase["handoff"]>, full: boolean, text: (given: string) => string) {
  const { status, missing, summary } = handoff;
  return full ? handoff : { status, ...(missing.length === 0 ? {} : { missing }), summary: text(summary) };
}

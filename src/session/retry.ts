// What the user changes and says when a failed phase is retried. Pure.

import type { Adjustments, EventOf } from "./events.ts";
import type { SessionPhase } from "./session.ts";

/** The longest guidance, reason or criterion that a command or a tool accepts. */
export const MAX_TOLD_CHARS = 10_000;

const names = ["guidance", "agent", "model", "timeout_ms", "criteria"] as const;

/** Only the adjustments that were given: a record has no empty fields. */
export function adjustmentsIn(source: Adjustments): Adjustments {
  return Object.fromEntries(names.filter((name) => source[name] !== undefined).map((name) => [name, source[name]]));
}

/** Reasons that Maestro records itself when the user answers a question without a reason of their own. */
export const answered = {
  yes: "resume --yes",
  resume: "decided at resume",
  terminal: "decided at the terminal",
} as const;

/** The user's words for the next attempts: the last guidance, and the reason of the last decision. */
export function toldByUser({ retry_decisions: decisions = [] }: SessionPhase): { guidance?: string; reason?: string } {
  const guidance = decisions.findLast((decision) => decision.guidance !== undefined)?.guidance;
  const reason = decisions.at(-1)?.reason?.trim() ?? "";
  const isOwn = reason !== "" && !Object.values<string>(answered).includes(reason);
  return { ...(guidance === undefined ? {} : { guidance }), ...(isOwn ? { reason } : {}) };
}

/** What the user changes holds for every attempt from now on. */
export function adjust(phase: SessionPhase, { agent, model, timeout_ms, criteria }: EventOf<"phase.moved">): void {
  if (agent !== undefined) phase.agents = [agent];
  if (model !== undefined) phase.model = model;
  if (timeout_ms !== undefined) phase.timeout_ms = timeout_ms;
  if (criteria !== undefined) phase.criteria = criteria;
}

/** Keeps what the user said about the next attempts. */
export function noteRetry(phase: SessionPhase, event: EventOf<"phase.moved" | "phase.reopened">): void {
  const why = event.reason === undefined ? {} : { reason: event.reason };
  const again = event.type === "phase.reopened" ? { reopened: true as const } : {};
  phase.retry_decisions ??= [];
  phase.retry_decisions.push({ retry: phase.retry_count, ...again, ...why, ...adjustmentsIn(event) });
}

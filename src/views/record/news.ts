// What happened in a run, one line per event that matters to a user who waits for it. Pure.

import type { EventOf } from "../../session/events.ts";
import type { TimedEvent } from "../../session/fold.ts";
import { reviewSubject } from "../../session/review/review.ts";
import { findPhase, isVerified, type Session, type SessionPhase } from "../../session/session.ts";
import { clockTime, durationText } from "../text/duration.ts";
import { short } from "./brief.ts";

const MAX_LINE = 200;

export interface NewsItem {
  /** The event that the line is about. */
  seq: number;
  line: string;
  /** The phase that ended with it, and how; absent when no phase ended. */
  ended?: { phase: string; as: SessionPhase["status"] };
}

/** `session` is the session after the event. Undefined for an event that is not worth telling. */
export function newsOf(event: TimedEvent, session: Session): NewsItem | undefined {
  const told = lineOf(event, session);
  if (told === undefined) return undefined;
  const hasEnded = event.type === "phase.moved" && event.to !== "in_progress" && event.to !== "pending";
  const item = { seq: event.seq, line: short(told, MAX_LINE) };
  return hasEnded ? { ...item, ended: { phase: event.phase, as: event.to } } : item;
}

function lineOf(event: TimedEvent, session: Session): string | undefined {
  switch (event.type) {
    case "attempt.claimed":
      return `phase ${event.phase} runs on worker ${event.worker}`;
    case "attempt.started":
      if (event.remote) return `phase ${event.phase}: attempt ${event.attempt} waits for a worker (${event.agent})`;
      return event.attempt === 1
        ? `phase ${event.phase} started (${event.agent})`
        : `phase ${event.phase}: attempt ${event.attempt} started (${event.agent})`;
    case "phase.moved":
      return moved(event, findPhase(session, event.phase));
    case "phase.reopened":
      return `phase ${event.phase} is reopened${event.rejected === undefined ? "" : ": its work was rejected"}`;
    case "review.opened":
      return `${reviewSubject(event)} waits for the user's review`;
    case "review.approved":
      return `${reviewSubject(event)} is approved`;
    case "phase.warned":
      // Without worktrees nearly every attempt has it.
      if (event.code === "unjudged") return undefined;
      return `phase ${event.phase}, warning: ${event.message}`;
    case "quota.hit":
      return `the provider rejects requests; the run waits until ${clockTime(new Date(event.until))}`;
    case "session.status_set":
      if (event.aborted) return "the session is aborted";
      return event.status === "completed" || event.status === "interrupted"
        ? `the session is ${event.status}`
        : undefined;
    case "archive.started":
      return "the session is archived";
    default:
      return undefined;
  }
}

function moved({ to, from, user_decision }: EventOf<"phase.moved">, phase: SessionPhase | undefined) {
  if (phase === undefined) return undefined;
  const what = `phase ${phase.id} ${short(phase.name, 40)}`;
  switch (to) {
    case "completed": {
      const doubt = isVerified(phase) ? "" : ", unverified";
      const summary = phase.handoff?.summary ?? "";
      return `${what} completed${took(phase)}${doubt}${summary === "" ? "" : `: ${summary}`}`;
    }
    case "failed":
      return `${what} failed: ${phase.errors.at(-1)?.message ?? "no error recorded"}`;
    case "in_progress":
      return from === "pending"
        ? undefined
        : `${what} is retried${user_decision === true ? ", as the user decided" : ""}`;
    case "pending":
      return undefined;
    default:
      return `${what} was ${to}`;
  }
}

function took({ started, completed }: SessionPhase): string {
  if (started === null || completed === null) return "";
  return ` in ${durationText(Date.parse(completed) - Date.parse(started))}`;
}

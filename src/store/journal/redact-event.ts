// Redacts secrets in events before they are written: all texts, but not identifiers and paths, which are looked up later.

import { MaestroError } from "../../errors.ts";
import { projectRedactor } from "../../secrets/redact.ts";
import { eventFault, type SessionEvent } from "../../session/events.ts";

/** Redacts the secrets of the environment and of the project's .env; built when the first text is recorded. */
export function lateRedactor(projectRoot: string): (text: string) => string {
  let redact: ((text: string) => string) | undefined;
  return (text) => {
    redact ??= projectRedactor(projectRoot, process.env);
    return redact(text);
  };
}

/** Fields that hold identifiers: ids, paths, object ids, times and enum values. Every other field is text. */
const names = new Set(
  [
    "type status from to result outcome error_type code execution_mode signal granted",
    "session_id id phase agent agents blocked_by current_phase owner run runtime model batch by_agent",
    "worktree base commit tree hash hashes",
    "path paths files files_created files_modified files_deleted created modified deleted outside unkept",
    "moves superseded session_to journal_to implementation_plan design_document",
    "started completed updated timestamp until",
  ].flatMap((line) => line.split(" ")),
);

/** The events as they are written; throws when one does not match its schema. */
export function recordable(events: readonly SessionEvent[], redact: (text: string) => string): SessionEvent[] {
  const clean = events.map((event) => redactedEvent(event, redact));
  for (const event of clean) {
    const fault = eventFault(event);
    if (fault !== undefined) throw new MaestroError("usage", `Cannot record the event: ${fault}`);
  }
  return clean;
}

export function redactedEvent(event: SessionEvent, redact: (text: string) => string): SessionEvent {
  // This event holds only identifiers and locations.
  return event.type === "attempt.started" ? event : redacted(event, redact);
}

function redacted<Value>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === "string") return redact(value) as Value;
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact)) as Value;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, names.has(key) ? item : redacted(item, redact)]);
  return Object.fromEntries(entries) as Value;
}

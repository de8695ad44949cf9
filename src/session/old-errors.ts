// Reads the code and the conflicts of an error from its message, for old journals that record neither. No other file parses messages.

import type { FailureCode, RecordedError } from "./events.ts";
import { OUTSIDE_SCOPE, SENSITIVE_CHANGE } from "./scope.ts";

export function failureCodeOf({
  code,
  type,
  message,
}: Pick<RecordedError, "code" | "type" | "message">): FailureCode | undefined {
  if (code !== undefined) return code;
  if (type === "file_conflict") return "file_conflict";
  if (type !== "validation" || !message.startsWith(OUTSIDE_SCOPE)) return undefined;
  return message.startsWith(SENSITIVE_CHANGE) ? "sensitive_change" : "outside_scope";
}

/** `by` has the names of all agents in one text, as the message does. */
export interface OldConflict {
  path: string;
  by: string[] | "external";
}

const MODIFIED = " (modified ";

/** Parses lines such as "src/a.ts (modified by coder and tester)". */
export function oldConflicts(message: string): OldConflict[] {
  return message.split("\n").flatMap((line): OldConflict[] => {
    const at = line.lastIndexOf(MODIFIED);
    const path = line.slice(0, Math.max(0, at)).trim().replace(/^- /, "");
    const how = line.slice(at + MODIFIED.length).trimEnd();
    if (path === "" || !how.endsWith(")")) return [];
    if (how === "externally since phase start)") return [{ path, by: "external" }];
    return how.startsWith("by ") ? [{ path, by: [how.slice(3, -1)] }] : [];
  });
}

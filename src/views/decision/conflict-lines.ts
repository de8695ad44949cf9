// The conflicts that block a resume, worded the same wherever they are shown.

import type { Conflict } from "../../session/position.ts";
import type { Session } from "../../session/session.ts";
import { oneLine } from "../text/cell.ts";
import type { Paint } from "../text/paint.ts";

export function conflictLines(session: Session, conflicts: readonly Conflict[], paint: Paint): string[] {
  const unknown =
    session.plan_hash === null
      ? ["Cannot tell whether the plan has changed: the session was imported from active-session.md"]
      : [];
  if (conflicts.length === 0)
    return [...unknown, "No changes from outside: all recorded files are as the session left them"];
  const found = conflicts.map((conflict) => {
    if (conflict.kind === "plan_changed")
      return paint.yellow(`The plan has changed since the session began: ${oneLine(conflict.file)}`);
    const what =
      conflict.kind === "partially_modified"
        ? "was started but not finished, and its file has changed since:"
        : "recorded a file that has changed since:";
    return paint.yellow(`Phase ${conflict.phase} ${what} ${oneLine(conflict.file)}`);
  });
  return [...unknown, ...found];
}

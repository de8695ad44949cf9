// What stands in the way of going on, in the same words wherever it is shown.

import type { Conflict } from "../../session/position.ts";
import type { Session } from "../../session/session.ts";
import { oneLine } from "../text/cell.ts";
import type { Paint } from "../text/paint.ts";

export function conflictLines(session: Session, conflicts: readonly Conflict[], paint: Paint): string[] {
  const unknown =
    session.plan_hash === null
      ? ["Whether the plan has changed is not known: the session was taken over from its view"]
      : [];
  if (conflicts.length === 0) return [...unknown, "No conflicts: what was recorded is as the session left it"];
  const found = conflicts.map((conflict) => {
    if (conflict.kind === "plan_changed")
      return paint.yellow(`The plan has changed since the session began: ${oneLine(conflict.file)}`);
    const what =
      conflict.kind === "partially_modified"
        ? "was begun and not finished, and changed"
        : "recorded a file that has changed since:";
    return paint.yellow(`Phase ${conflict.phase} ${what} ${oneLine(conflict.file)}`);
  });
  return [...unknown, ...found];
}

// Finds the phases that changed the same file as an attempt, and formats them for the File Conflict block. Pure.

import type { FileConflict } from "./events.ts";
import { lastAttempt, type Session, type SessionPhase } from "./session.ts";

/** `by`: the phases whose work on the file was integrated while this phase ran, and this phase; empty for an external change. */
export function conflictOn(session: Session, phase: SessionPhase, path: string): FileConflict {
  // Counted from the start of the attempt, because work that is integrated while the worktree is created is not in it.
  const since = lastAttempt(phase)?.seq ?? 0;
  const others = session.phases.filter((other) => other !== phase && broughtIn(other, path, since));
  return { path, by: others.length === 0 ? [] : [...others, phase].map(writer) };
}

export function writer({ id, agents }: SessionPhase): FileConflict["by"][number] {
  return { phase: id, agent: agents[0] ?? "unknown" };
}

/** "src/a.ts (modified by coder and tester)", or "(modified externally since phase start)". */
export function conflictLine({ path, by }: FileConflict): string {
  return `${path} (modified ${by.length === 0 ? "externally since phase start" : `by ${writersText(by)}`})`;
}

/** One line per file. */
export function conflictMessage(conflicts: readonly FileConflict[]): string {
  return conflicts.map(conflictLine).join("\n");
}

/** "coder and tester"; phases are added only when agents have the same name: "coder and coder, phases 1 and 2". */
export function writersText(by: FileConflict["by"]): string {
  const agents = by.map(({ agent }) => agent);
  const isPlain = new Set(agents).size === agents.length;
  return `${listed(agents)}${isPlain ? "" : `, phases ${listed(by.map(({ phase }) => phase))}`}`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** Whether the phase's work on the file was integrated after event `since`. */
function broughtIn({ attempts }: SessionPhase, path: string, since: number): boolean {
  return attempts.some(
    ({ integrated, changes }) =>
      integrated !== undefined &&
      integrated.seq > since &&
      changes?.files.some((change) => change.path === path || change.from === path) === true,
  );
}

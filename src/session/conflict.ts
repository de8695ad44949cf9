// Which phases changed a file that an attempt changed too, and the words of the File Conflict block for it. Pure.

import type { FileConflict } from "./events.ts";
import { lastAttempt, type Session, type SessionPhase } from "./session.ts";

/** The phases whose work on the file came in while the phase ran, and the phase itself; none when the change came from outside. */
export function conflictOn(session: Session, phase: SessionPhase, path: string): FileConflict {
  // The start of the attempt counts, not of its worktree: work that came in while the worktree was made is not in it.
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

/** One line for each file. */
export function conflictMessage(conflicts: readonly FileConflict[]): string {
  return conflicts.map(conflictLine).join("\n");
}

/** "coder and tester"; phases are named only where their agents are the same: "coder and coder, phases 1 and 2". */
export function writersText(by: FileConflict["by"]): string {
  const agents = by.map(({ agent }) => agent);
  const isPlain = new Set(agents).size === agents.length;
  return `${listed(agents)}${isPlain ? "" : `, phases ${listed(by.map(({ phase }) => phase))}`}`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** Whether work on the file came into the project from that phase after `since`. */
function broughtIn({ attempts }: SessionPhase, path: string, since: number): boolean {
  return attempts.some(
    ({ integrated, changes }) =>
      integrated !== undefined &&
      integrated.seq > since &&
      changes?.files.some((change) => change.path === path || change.from === path) === true,
  );
}

// Who changed a file that an attempt changed too, in the words of the File Conflict block. Pure.

import { lastAttempt, type Session, type SessionPhase } from "./session.ts";

/** "src/a.ts (modified by coder and tester)", or "(modified externally since phase start)". */
export function conflictLine(session: Session, phase: SessionPhase, path: string): string {
  // Not since its worktree was there: what came in while that was being made is not in it.
  const since = lastAttempt(phase)?.seq ?? 0;
  const others = session.phases.filter((other) => other !== phase && broughtIn(other, path, since));
  if (others.length === 0) return `${path} (modified externally since phase start)`;
  const both = [...others, phase];
  const agents = both.map(({ agents: [agent] }) => agent ?? "unknown");
  const isPlain = new Set(agents).size === agents.length;
  const whose = isPlain ? "" : `, phases ${listed(both.map(({ id }) => id))}`;
  return `${path} (modified by ${listed(agents)}${whose})`;
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
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

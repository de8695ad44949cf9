// What the user sees before Maestro runs a session that was not started on this machine: everything in it that would run.

import type { Session } from "../../session/session.ts";

const MAX_PHASES = 50;

/** `setup` is the user's own command for new worktrees; empty when not set. */
export function foreignSessionLines(session: Session, setup: string): string[] {
  const { session_id, created, title, phases } = session;
  const listed = phases
    .slice(0, MAX_PHASES)
    .flatMap(({ id, name, agents, plan }) => [
      `  ${id} ${oneLine(name)} (${agents.join(", ")})`,
      ...(plan?.validation ?? []).map((command) => `      runs: ${oneLine(command)}`),
    ]);
  const more = phases.length > MAX_PHASES ? [`  ... and ${phases.length - MAX_PHASES} more phases`] : [];
  return [
    `You did not start session ${session_id} on this machine: its record came with the project.`,
    `Its record says that it was created at ${created} with the title ${JSON.stringify(oneLine(title))}.`,
    "Its phases, and the commands that Maestro itself would run to validate them:",
    ...listed,
    ...more,
    ...(setup === "" ? [] : [`Each worktree is prepared with: ${oneLine(setup)}`]),
    "Agents run with all tool calls approved, and read what the record says about earlier phases.",
  ];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

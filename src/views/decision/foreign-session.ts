// What a person is shown before a session runs that they did not start on this machine: everything of it that would be carried out.

import type { Session } from "../../session/session.ts";

const MAX_PHASES = 50;

/** `setup` is the user's own command for new worktrees; empty: there is none. */
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
    `It says that it was created at ${created} and is called ${JSON.stringify(oneLine(title))}.`,
    "Its phases, and the commands that Maestro itself would run to validate them:",
    ...listed,
    ...more,
    ...(setup === "" ? [] : [`Each worktree is prepared with: ${oneLine(setup)}`]),
    "Agents run with all tool calls approved, and read what the record tells of earlier phases.",
  ];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

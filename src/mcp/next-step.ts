// Describes the session's next steps in terms of the tools, so that a TechLead without any other context knows what to do. Pure.

import type { Position } from "../session/position.ts";
import { awaitsIntegration, awaitsValidation, findPhase, type Session, type SessionPhase } from "../session/session.ts";

const MAX_NAMED = 8;

/** `engine`: the process that runs the session now; null when none does. */
export function nextStep(session: Session, position: Position, engine: { pid: number } | null): string {
  if (session.aborted) return 'The session was aborted. "maestro archive" archives it.';
  if (session.status === "completed") return 'The session is completed. "maestro archive" archives it.';
  const { counts, unresolved, ready } = position;
  if (counts.completed + counts.skipped === session.total_phases) {
    return 'All phases are done. Complete the session: maestro_session_write {"action":"complete"}.';
  }
  const isDriven = engine !== null;
  const started = session.phases.filter((phase) => phase.status === "in_progress");
  const reported = started.filter((phase) => !isDriven && awaitsValidation(phase) && !awaitsIntegration(phase));
  const stopped = started.filter((phase) => !isDriven && phase.attempts.length > 0 && !reported.includes(phase));
  const running = started.filter((phase) => !stopped.includes(phase) && !reported.includes(phase));
  const sentences = [
    ...(isDriven ? [`An engine (process ${engine.pid}) runs the plan.`] : []),
    ...(session.execution_mode === null ? [modeQuestion] : []),
    ...tell(running, "is", "are", "in progress."),
    ...tell(reported, "has", "have", 'reported and must be verified: "maestro verify <id>".'),
    ...tell(stopped, "was", "were", 'interrupted: run "maestro resume".'),
    ...tell(
      phasesOf(session, unresolved),
      "has",
      "have",
      "failed: delegate again with what to change while retries are left; then ask the user, and maestro_decide retry, skip or abort.",
    ),
    ...tell(phasesOf(session, ready), "is", "are", "ready to start."),
  ];
  return sentences.length === 0 ? "Nothing is ready to start." : sentences.join(" ");
}

const modeQuestion =
  'The execution mode is not chosen: ask the user, then maestro_session_write {"action":"set_mode"}.';

function phasesOf(session: Session, ids: readonly string[]): SessionPhase[] {
  return ids.flatMap((id) => findPhase(session, id) ?? []);
}

/** "Phase 2 (coder) is ready to start.", "Phases 2 (coder), 3 (tester) are ready to start."; empty without phases. */
function tell(phases: readonly SessionPhase[], one: string, many: string, what: string): string[] {
  if (phases.length === 0) return [];
  const named = phases.slice(0, MAX_NAMED).map(({ id, agents }) => `${id} (${agents.join(", ")})`);
  const more = phases.length > MAX_NAMED ? ` and ${phases.length - MAX_NAMED} more` : "";
  const [noun, verb] = phases.length === 1 ? ["Phase", one] : ["Phases", many];
  return [`${noun} ${named.join(", ")}${more} ${verb} ${what}`];
}

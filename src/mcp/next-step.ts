// Describes the session's next steps in terms of the tools, so that a TechLead without any other context knows what to do. Pure.

import { type PhaseState, phaseState } from "../session/phase/phase-state.ts";
import type { Position } from "../session/position.ts";
import { unmetRequirements, unmetText } from "../session/requirements.ts";
import { openReview, reviewSubject } from "../session/review/review.ts";
import { findPhase, type Session, type SessionPhase } from "../session/session.ts";

const MAX_NAMED = 8;

/** `engine`: the process that runs the session now; null when none does. */
export function nextStep(session: Session, position: Position, engine: { pid: number } | null): string {
  if (session.aborted) return 'The session was aborted. "maestro archive" archives it.';
  if (session.status === "completed") return 'The session is completed. "maestro archive" archives it.';
  const { counts, unresolved, ready } = position;
  if (counts.completed + counts.skipped === session.total_phases) {
    const unmet = unmetRequirements(session);
    if (unmet.length === 0)
      return 'All phases are done. Complete the session: maestro_session_write {"action":"complete"}.';
    return `All phases are done. Answer each requirement with maestro_session_write {"action":"answer_requirement"}: ${unmetText(unmet)}. To complete with one that is not met, ask the user and pass accept_open.`;
  }
  const isDriven = engine !== null;
  const review = openReview(session);
  const inState = (...states: PhaseState[]) =>
    session.phases.filter((phase) => states.includes(phaseState(session, phase, isDriven)));
  const sentences = [
    ...(isDriven ? [`An engine (process ${engine.pid}) runs the plan.`] : []),
    ...(session.execution_mode === null ? [modeQuestion] : []),
    ...tell(inState("running"), "is", "are", "in progress."),
    ...tell(inState("to_verify"), "has", "have", 'reported and must be verified: "maestro verify <id>".'),
    ...tell(inState("interrupted", "to_integrate"), "was", "were", "interrupted: maestro_run resumes."),
    ...tell(inState("to_retry"), "is", "are", "to be retried: maestro_run, or delegate again."),
    ...tell(
      phasesOf(session, unresolved),
      "has",
      "have",
      "failed: delegate again with what to change while retries are left; then ask the user, and maestro_decide retry, skip or abort.",
    ),
    ...(review === null
      ? []
      : [`The review of ${reviewSubject(review)} is open: ask the user, and maestro_decide approve or reject.`]),
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

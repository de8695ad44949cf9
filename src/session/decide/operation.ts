// Turns an operation on a session into the events to record, or throws if it is not allowed. Pure; the store records the events.

import { MaestroError } from "../../errors.ts";
import { type DeliveryVerdict, undeliveredText, untouchedWarnings } from "../deliverables.ts";
import type {
  Adjustments,
  ErrorRecord,
  EventOf,
  ExecutionMode,
  FileHashes,
  HandoffRecord,
  PhaseStatus,
  SessionEvent,
  SessionStatus,
} from "../events.ts";
import { adjustmentsIn } from "../retry.ts";
import { awaitsIntegration, findPhase, isValidated, type Session, type SessionPhase } from "../session.ts";
import { judgeMove, judgeStatus, type MoveVerdict } from "../transitions.ts";
import { acceptedOpen } from "./requirement.ts";

export function requireSession(session: Session | undefined): Session {
  if (session === undefined) throw noSession();
  return session;
}

export function noSession(): MaestroError {
  return new MaestroError("no_session", "No session is active", {
    hint: 'Start one with "maestro run <plan>", or create one with "maestro session create <plan>".',
  });
}

export function requirePhase(session: Session, id: string): SessionPhase {
  const phase = findPhase(session, id);
  if (phase !== undefined) return phase;
  const known = session.phases.slice(0, 20).map((other) => other.id);
  const more = session.phases.length > known.length ? ", ..." : "";
  throw new MaestroError("not_found", `Session ${session.session_id} has no phase ${JSON.stringify(id)}`, {
    hint: `Its phases are ${known.join(", ")}${more}.`,
  });
}

export interface MoveRequest {
  phase: string;
  to: PhaseStatus;
  userDecision: boolean;
  reason?: string | undefined;
  /** The error to record when the phase fails. */
  failure?: { type: ErrorRecord["type"]; message: string } | undefined;
  /** What the user changes for a retry. */
  adjustments?: Adjustments | undefined;
  /** Whether the declared files are in the project; absent unless the phase is to be completed. */
  delivery?: DeliveryVerdict | undefined;
  /** Whether a person who completes a phase without its declared files has to say why. */
  needsReason?: boolean | undefined;
  maxRetries: number;
  now: Date;
}

/** `hashes` is called only when the phase starts; it hashes the files that the phase owns. */
export function decideMove(session: Session, request: MoveRequest, hashes: () => FileHashes): SessionEvent[] {
  const phase = requirePhase(session, request.phase);
  enforce(judgeMove(session, phase, request));
  if (request.to === "completed" && !request.userDecision) requireProof(phase);
  const lacks = request.delivery === undefined ? null : undeliveredText(request.delivery);
  if (lacks !== null) requireDecision(phase, request, lacks);
  const moved: EventOf<"phase.moved"> = { type: "phase.moved", phase: phase.id, from: phase.status, to: request.to };
  if (request.userDecision) moved.user_decision = true;
  if (request.reason !== undefined) moved.reason = request.reason;
  Object.assign(moved, adjustmentsIn(request.adjustments ?? {}));
  if (request.to === "in_progress") moved.hashes = hashes();
  if (request.failure === undefined) return [...deliveryEvents(phase, request, lacks), moved];
  const timestamp = request.now.toISOString();
  return [
    ...decideError(session, phase.id, { agent: "", timestamp, ...request.failure, resolution: "pending" }),
    moved,
  ];
}

/** Throws unless the work is integrated and validated: a claim is not proof, whether an agent or a user makes it. */
function requireProof(phase: SessionPhase): void {
  const { id, validation } = phase;
  if (awaitsIntegration(phase)) {
    throw new MaestroError("illegal_transition", `Cannot complete phase ${id}: its work is not in the project yet`, {
      hint: 'Run "maestro resume".',
    });
  }
  if (isValidated(phase)) return;
  const what = validation === undefined ? "have not been run" : "have not passed";
  throw new MaestroError("illegal_transition", `Cannot complete phase ${id}: its validation commands ${what}`, {
    hint: `Run "maestro verify ${id}", or pass the user's decision to accept it unverified.`,
  });
}

/** Throws unless a person completes the phase although it has not delivered its files. */
function requireDecision(phase: SessionPhase, request: MoveRequest, lacks: string): void {
  const isExplained = request.reason !== undefined || request.needsReason !== true;
  if (request.userDecision && isExplained) return;
  const how = request.needsReason === true ? "--user-decision and --reason" : "the user's decision";
  throw new MaestroError("illegal_transition", `Cannot complete phase ${phase.id}: ${lacks.replaceAll("\n", "; ")}`, {
    hint: `Deliver them, or pass ${how} to complete it anyway.`,
  });
}

/** A completion without the declared files stays marked: a view shows it as unverified. */
function deliveryEvents(phase: SessionPhase, { delivery }: MoveRequest, lacks: string | null): SessionEvent[] {
  if (lacks !== null) return [{ type: "phase.validated", phase: phase.id, result: "skipped", detail: lacks }];
  const warnings = delivery === undefined ? [] : untouchedWarnings(delivery);
  return warnings.map((warned) => ({ type: "phase.warned", phase: phase.id, ...warned }));
}

export interface FileLists {
  created: string[];
  modified: string[];
  deleted: string[];
}

export function decideFiles(session: Session, phase: string, files: FileLists, hashes: FileHashes): SessionEvent[] {
  const { id } = requirePhase(session, phase);
  if (files.created.length + files.modified.length + files.deleted.length === 0) return [];
  return [{ type: "phase.files_added", phase: id, ...files, hashes }];
}

export function decideHandoff(session: Session, phase: string, handoff: HandoffRecord): SessionEvent[] {
  const { id, agents } = requirePhase(session, phase);
  return [{ type: "phase.handed_off", phase: id, agent: agents[0] ?? "unknown", handoff }];
}

/** An error without an agent is attributed to the phase's agent. `resolution` says how it was resolved, or "pending". */
export function decideError(session: Session, phase: string, error: Omit<ErrorRecord, "resolved">): SessionEvent[] {
  const { id, agents } = requirePhase(session, phase);
  const agent = error.agent || agents[0] || "unknown";
  return [
    { type: "phase.error_added", phase: id, error: { ...error, agent, resolved: error.resolution !== "pending" } },
  ];
}

export function decideMode(session: Session, mode: ExecutionMode): SessionEvent[] {
  if (session.execution_mode === mode) return [];
  if (session.execution_mode !== null) {
    throw new MaestroError("conflict", `Session ${session.session_id} already runs in ${session.execution_mode} mode`, {
      hint: "The mode applies to the whole session.",
    });
  }
  return [{ type: "session.mode_set", execution_mode: mode }];
}

export function decideNote(session: Session, text: string, phase?: string, agent?: string): SessionEvent[] {
  if (text.trim() === "") throw new MaestroError("usage", "The note is empty");
  const about = {
    ...(phase === undefined ? {} : { phase: requirePhase(session, phase).id }),
    ...(agent === undefined ? {} : { agent }),
  };
  return [{ type: "session.noted", text, ...about }];
}

/** `acceptOpen`: why the user completes the session although a requirement is not met. */
export function decideCompletion(
  session: Session,
  { summary, acceptOpen }: { summary?: string | undefined; acceptOpen?: string | undefined } = {},
): SessionEvent[] {
  const said = summary !== undefined && summary !== session.summary;
  const isCompleted = session.status === "completed";
  if (isCompleted && !said) return [];
  // A session that an engine has completed may still get a summary from a later review.
  if (!isCompleted) enforce(judgeStatus(session, "completed"));
  const accepted = isCompleted ? {} : acceptedOpen(session, acceptOpen, `complete session ${session.session_id}`);
  const told = summary === undefined ? {} : { summary };
  return [{ type: "session.status_set", status: "completed", ...told, ...accepted }];
}

export function decideStatus(session: Session, status: SessionStatus): SessionEvent[] {
  if (session.status === status) return [];
  if (status === "completed") return decideCompletion(session);
  enforce(judgeStatus(session, status));
  return [{ type: "session.status_set", status }];
}

function enforce(verdict: MoveVerdict): void {
  if (!verdict.legal) throw new MaestroError("illegal_transition", verdict.reason, { hint: verdict.hint });
}

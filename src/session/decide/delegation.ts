// Judges a native delegation: which phase it is for, or why it may not start. Pure; the hooks pass in the request.

import { agentTiers } from "../../agents/tiers.ts";
import type { ExecutionMode } from "../events.ts";
import {
  awaitsIntegration,
  awaitsValidation,
  findPhase,
  isClosed,
  type Session,
  type SessionPhase,
} from "../session.ts";
import { judgeMove } from "../transitions.ts";

export interface DelegationRequest {
  /** The normalized name. */
  agent: string;
  /** The text after `Phase:` in the request; undefined if absent. */
  phase: string | undefined;
  /** The mode of the session or the settings; null if none is chosen. */
  mode: ExecutionMode | null;
  /** Phases that delegations of this conversation are working on. */
  running: ReadonlySet<string>;
  maxRetries: number;
}

export type DelegationVerdict =
  /** Not part of a plan: no session is being executed, or the caller says so. */
  { kind: "outside" } | { kind: "phase"; phase: SessionPhase } | { kind: "refused"; reason: string };

/** The phase that a caller names for work outside the plan, such as a review. */
const OUTSIDE = "none";
const MAX_LISTED = 12;

/** Whether the session can still run and has unfinished phases. */
export function isExecuting(session: Session | undefined): session is Session {
  return session !== undefined && !session.aborted && session.status !== "completed" && !session.phases.every(isClosed);
}

export function judgeDelegation(session: Session | undefined, request: DelegationRequest): DelegationVerdict {
  if (!isExecuting(session)) return { kind: "outside" };
  if (request.phase?.toLowerCase() === OUTSIDE) return outside(session, request);
  if (request.mode === null) {
    return refused(
      session,
      request,
      'no execution mode has been chosen. Ask the user whether to run in parallel or sequentially, record the answer with maestro_session_write {"action":"set_mode"}, then delegate again',
    );
  }
  const named = request.phase === undefined ? onlyReadyPhase(session, request) : findPhase(session, request.phase);
  if (named === undefined) return refused(session, request, `the plan has no phase "${request.phase}"`);
  if (typeof named === "string") return refused(session, request, named);
  const against = whyNot(session, named, request);
  return against === undefined ? { kind: "phase", phase: named } : refused(session, request, against);
}

/** Work outside the plan is only for agents that cannot write, because it must not change the plan's files. */
function outside(session: Session, request: DelegationRequest): DelegationVerdict {
  const { agent } = request;
  const tier = agentTiers.get(agent);
  if (tier === "read-only" || tier === "read-shell") return { kind: "outside" };
  return refused(session, request, `${agent} writes files, so its work needs a phase of the plan`);
}

function onlyReadyPhase(session: Session, request: DelegationRequest): SessionPhase | string {
  const able = session.phases.filter((phase) => whyNot(session, phase, request) === undefined);
  const [only, ...others] = able;
  if (only === undefined) return `no phase is ready for ${request.agent}`;
  if (others.length === 0) return only;
  return `${able.length} phases are ready for ${request.agent}: say which one with a line "Phase: <id>"`;
}

function whyNot(session: Session, phase: SessionPhase, request: DelegationRequest): string | undefined {
  const { agent, running, maxRetries } = request;
  if (!phase.agents.includes(agent)) return `phase ${phase.id} belongs to ${phase.agents.join(", ")}, not to ${agent}`;
  if (running.has(phase.id)) return `phase ${phase.id} is being worked on by another delegation`;
  const [other] = running;
  const isAlone = (id: string) => findPhase(session, id)?.parallel === false;
  if (other !== undefined && request.mode === "sequential") {
    return `phase ${other} is being worked on, and this session runs one phase at a time`;
  }
  if (other !== undefined && (!phase.parallel || [...running].some(isAlone))) {
    return `phase ${other} is being worked on, and one of the two must run alone`;
  }
  // In progress without a running delegation: the phase was interrupted, or reported and not yet verified.
  if (awaitsIntegration(phase))
    return `the work of phase ${phase.id} is not in the project yet: run "maestro resume" first`;
  if (awaitsValidation(phase))
    return `phase ${phase.id} is reported but not verified: run "maestro verify ${phase.id}" first`;
  if (phase.status === "in_progress") return undefined;
  const move = judgeMove(session, phase, { to: "in_progress", userDecision: false, maxRetries });
  if (move.legal) return undefined;
  const isSpent = phase.status === "failed" && phase.retry_count >= maxRetries;
  return isSpent
    ? `phase ${phase.id} has used up its ${maxRetries} retries. Show the user its errors and ask; maestro_decide records retry, skip or abort`
    : lowerFirst(move.reason);
}

function refused(session: Session, request: DelegationRequest, why: string): DelegationVerdict {
  return { kind: "refused", reason: `Maestro: ${why}. ${startable(session, request)}` };
}

function startable(session: Session, request: DelegationRequest): string {
  const isAble = (phase: SessionPhase) =>
    whyNot(session, phase, { ...request, agent: phase.agents[0] ?? "" }) === undefined;
  const able = session.phases.filter(isAble);
  if (able.length === 0) return "Nothing is ready to start.";
  const listed = able.slice(0, MAX_LISTED).map(({ id, name, agents, status }) => {
    const state = status === "pending" ? "" : `, ${status.replace("_", " ")}`;
    return `${id} "${name}" (${agents.join(", ")}${state})`;
  });
  const more = able.length > listed.length ? `, and ${able.length - listed.length} more` : "";
  return `Phases that can be delegated: ${listed.join("; ")}${more}.`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

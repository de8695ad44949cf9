// Session operations for every entry point: command line, MCP server, hooks. Each reads what it needs from disk,
// lets `session/decide/operation.ts` decide, and records the resulting events.

import { basename, posix } from "node:path";
import type { Amounts } from "../amounts.ts";
import { MaestroError } from "../errors.ts";
import type { BaselineCommand } from "../plan/baseline.ts";
import type { Plan } from "../plan/plan.ts";
import { ownedFiles } from "../session/decide/attempt.ts";
import { sessionCreated, tokensUsed } from "../session/decide/facts.ts";
import {
  decideCompletion,
  decideError,
  decideFiles,
  decideHandoff,
  decideMove,
  type FileLists,
  type MoveRequest,
  requirePhase,
  requireSession,
} from "../session/decide/operation.ts";
import type { ReportEvidence } from "../session/decide/report-move.ts";
import type { ErrorRecord, ExecutionMode, FrozenPlan, ReviewMode, SessionEvent } from "../session/events.ts";
import { newSessionId } from "../session/identify.ts";
import { type Conflict, findConflicts, watchedFiles } from "../session/position.ts";
import type { Session, SessionPhase } from "../session/session.ts";
import { type Archived, archivedNames } from "./archive.ts";
import { projectDelivery } from "./delivery.ts";
import { runningEngine } from "./engine-lock.ts";
import { hashFiles, hashPlan, hashText, UNKNOWN_HASH } from "./files/project-files.ts";
import type { StateLocation } from "./location.ts";
import type { SessionStore, Update } from "./session-store.ts";

/** What an operation needs of the store; an entry point may add a condition to every change. */
export interface Recorder {
  readonly location: StateLocation;
  update: Update;
}

/** A plan that passed validation, and the bytes it was read from. */
export interface ApprovedPlan {
  plan: Plan;
  bytes: Uint8Array;
  /** The plan's path, relative to the project. */
  path: string;
}

export interface CreateRequest extends ApprovedPlan {
  task: string | null;
  executionMode: ExecutionMode | null;
  /** What the validation commands do on the untouched project, if that is known. */
  baseline?: readonly BaselineCommand[] | undefined;
  /** Absent: at the end. */
  review?: ReviewMode | undefined;
  /** The most that the session may spend. */
  budget?: Amounts | undefined;
  /** The user approved exactly this plan. */
  approved?: boolean | undefined;
  now: Date;
  /** Ids already in use, besides those of the archive. */
  taken?: readonly string[];
}

/** Creates the session, unless another one is active. Returns its id. */
export function createSession(store: Recorder, request: CreateRequest): string {
  return store.update((session) => {
    refuseSecond(session);
    const archived = archivedNames(store.location).map((name) => name.replace(/\.(md|jsonl)$/, ""));
    const taken = new Set([...archived, ...(request.taken ?? [])]);
    const id = newSessionId(basename(request.path), request.plan.title, request.now, taken);
    const event = sessionCreated({
      session_id: id,
      task: request.task,
      execution_mode: request.executionMode,
      ...(request.review === undefined ? {} : { review: request.review }),
      plan: freeze(request),
      ...(request.budget === undefined ? {} : { budget: request.budget }),
      ...(request.baseline === undefined ? {} : { baseline: [...request.baseline] }),
      ...(request.approved ? { approved: true } : {}),
    });
    return { events: [event], result: id };
  });
}

/** Only one session can be active. */
export function refuseSecond(session: Session | undefined): void {
  if (session === undefined) return;
  throw new MaestroError("conflict", `A session is already active: ${session.session_id} (${session.status})`, {
    hint: 'Continue it ("maestro status" shows its progress), or end it with "maestro archive".',
  });
}

export function movePhase(
  store: Recorder,
  request: Omit<MoveRequest, "delivery"> & { evidence?: ReportEvidence | undefined },
): void {
  store.update((current) => {
    const session = requireSession(current);
    const phase = requirePhase(session, request.phase);
    const { projectRoot } = store.location;
    const delivery = request.to === "completed" ? deliveryOf(projectRoot, phase, request.evidence?.files) : undefined;
    const moved = decideMove(session, { ...request, delivery }, () => hashFiles(projectRoot, ownedFiles(phase)));
    return {
      events: [...evidenceEvents(store, session, request.phase, request.evidence), ...moved],
      result: undefined,
    };
  });
}

function deliveryOf(projectRoot: string, phase: SessionPhase, reported: FileLists | undefined) {
  return projectDelivery(projectRoot, phase, { reported }) ?? undefined;
}

function evidenceEvents(
  store: Recorder,
  session: Session,
  phase: string,
  evidence: ReportEvidence | undefined,
): SessionEvent[] {
  if (evidence === undefined) return [];
  const events = [
    ...decideHandoff(session, phase, evidence.handoff),
    ...fileEvents(store, session, phase, evidence.files),
  ];
  const { id, agents } = requirePhase(session, phase);
  const agent = agents[0] ?? "unknown";
  if (evidence.tokens !== null) events.push(tokensUsed({ agent, phase: id, ...evidence.tokens }));
  return events;
}

function fileEvents(store: Recorder, session: Session, phase: string, files: FileLists): SessionEvent[] {
  const hashes = hashFiles(store.location.projectRoot, [...files.created, ...files.modified, ...files.deleted]);
  return decideFiles(session, phase, files, hashes);
}

export function addFiles(store: Recorder, phase: string, files: FileLists): void {
  store.update((session) => ({ events: fileEvents(store, requireSession(session), phase, files), result: undefined }));
}

export function addError(store: Recorder, phase: string, error: Omit<ErrorRecord, "resolved">): void {
  store.update((session) => ({ events: decideError(requireSession(session), phase, error), result: undefined }));
}

/** Changes the active session; fails when there is none. */
export function changeSession(store: Recorder, decide: (session: Session) => SessionEvent[]): void {
  store.update((session) => ({ events: decide(requireSession(session)), result: undefined }));
}

/** The question to the user when a completed session is not archived automatically (S2). */
export const archiveQuestion = "Session complete. Auto-archive is disabled. Would you like to archive this session?";

/** Completes the session and, when `archive` is set, archives it: returns where it is now, or null. */
export function completeSession(
  store: SessionStore,
  said: { summary?: string | undefined; acceptOpen?: string | undefined },
  { archive, recorder = store }: { archive: boolean; recorder?: Recorder },
): Archived | null {
  const owner = runningEngine(store.location);
  if (owner !== undefined) {
    throw new MaestroError("environment", `The session is being run by process ${owner.pid} since ${owner.since}`, {
      hint: "It completes the session itself. Wait for it, or stop it first.",
    });
  }
  changeSession(recorder, (session) => decideCompletion(session, said));
  return archive ? store.archive() : null;
}

/** What changed outside the session: files of unfinished and of finished phases, and the plan. */
export function conflictsOf(location: StateLocation, session: Session): Conflict[] {
  const { projectRoot } = location;
  const planHash = session.implementation_plan === null ? null : hashPlan(projectRoot, session.implementation_plan);
  const now = hashFiles(projectRoot, watchedFiles(session));
  return findConflicts(session, now, planHash).filter((conflict) => {
    const after = conflict.kind === "plan_changed" ? planHash : now[conflict.file];
    return after !== UNKNOWN_HASH && recordedHash(session, conflict) !== UNKNOWN_HASH;
  });
}

/** The recorded hash that the conflict says no longer matches. */
function recordedHash(session: Session, conflict: Conflict): string | null | undefined {
  if (conflict.kind === "plan_changed") return session.plan_hash;
  if (conflict.kind === "modified_externally") return session.file_hashes.get(conflict.file)?.hash;
  return requirePhase(session, conflict.phase).hashes_at_start?.[conflict.file];
}

export function freeze({ plan, bytes, path }: ApprovedPlan): FrozenPlan {
  const design = plan.design_ref === null ? null : posix.normalize(plan.design_ref);
  const { title, requirements, phases } = plan;
  const demanded = requirements === undefined ? {} : { requirements };
  return { title, path, hash: hashText(bytes), design_document: design, ...demanded, phases };
}

// The record of a native delegation around the agent's own work: the project before it, what it changed and used, and the end of those whose
// conversation has ended. For hooks, the command line and the MCP server. A delegation is recorded even when the project cannot be read in time.

import { errno, MaestroError, reasonOf } from "../../errors.ts";
import { keepBase } from "../../git/refs.ts";
import { stopGit } from "../../git/running.ts";
import type { CommitId } from "../../ids.ts";
import { headerLines } from "../../prompt/delegation.ts";
import { type AttemptRecord, decideAttemptEnd, type Warned } from "../../session/decide/attempt.ts";
import { requireSession } from "../../session/decide/operation.ts";
import type { SessionEvent, Usage } from "../../session/events.ts";
import { type OpenDelegation, openDelegations, type Session } from "../../session/session.ts";
import { type Batch, openBatch } from "../../store/files/batch.ts";
import { findTranscript } from "../../store/files/transcripts.ts";
import type { SessionStore } from "../../store/session-store.ts";
import type { ExaminedWork } from "../attempt/examine.ts";
import { noteText, readNote } from "./before-file.ts";
import { examineDelegation, workWarnings } from "./examine-delegation.ts";
import { type Before, type DelegationPlace, lookAtProject, type Sight } from "./look.ts";

export interface DelegationRecording extends DelegationPlace {
  store: SessionStore;
  now: () => Date;
  /** How long reading the project may take; absent: as long as it takes. */
  limitMs?: number;
  /** Whether the agent of a delegation without a recorded end is running. */
  isLive: (delegation: OpenDelegation) => boolean;
}

/** What is known about a delegation beside its report. */
export interface Examined {
  /** The commit of the project before it; null where no commit holds that state, or it is unknown. */
  base: CommitId | null;
  /** Null when the project could not be read before or after it. */
  work: ExaminedWork | null;
  /** Why not. */
  blind: string | null;
  usage: Usage[] | null;
  /** When its agent last did something; null when unknown. */
  lastSeen: string | null;
}

/**
 * Notes the state of the project for the end of a delegation that is recorded as started, and records the end of lost ones. `transcripts`:
 * the directory in which Gemini CLI keeps the transcripts of the conversation's agents.
 */
export async function beginDelegation(
  recording: DelegationRecording,
  started: { phase: string; attempt: number },
  transcripts: string | null,
): Promise<void> {
  const { store } = recording;
  const session = requireSession(store.session);
  const isNew = ({ phase, attempt }: OpenDelegation) =>
    phase.id === started.phase && attempt.attempt === started.attempt;
  const own = openDelegations(session).find(isNew);
  if (own === undefined) return;
  const lost = openDelegations(session).filter((one) => !isNew(one) && isLost(recording, one, own));
  const batch = openBatch(recording.location, own.attempt.batch);
  try {
    const looks = new Looks(recording, session);
    const seen = await inTime(recording, async () => {
      const sight = await looks.like();
      if (sight.kind === "commit") await keepBase(sight.repository, session.session_id, sight.snapshot.commit);
      return { sight, ends: await examineAll(recording, session, lost, batch, looks) };
    });
    const before = "late" in seen ? { kind: "unknown" as const, why: seen.late } : beforeOf(seen.sight);
    batch.writeBefore(own.attempt.name, noteText({ transcripts, before }));
    const ends = "late" in seen ? lost.map((one) => unread(one, seen.late, batch, session)) : seen.ends;
    recordEnds(store, ends, batch);
  } finally {
    batch.close();
  }
}

function recordEnds(store: SessionStore, ends: readonly Ended[], batch: Batch): void {
  if (ends.length === 0) return;
  store.update((current) => ({ events: endEvents(current, ends), result: undefined }));
  store.close();
  for (const { delegation } of ends) batch.removeBefore(delegation.attempt.name);
}

/** A phase that is delegated again shows that its earlier delegation is over, although its conversation lives. */
function isLost({ isLive }: DelegationRecording, one: OpenDelegation, next: OpenDelegation): boolean {
  return one.phase.id === next.phase.id || !isLive(one);
}

function beforeOf(sight: Sight): Before {
  return sight.kind === "commit" ? { kind: "commit", commit: sight.snapshot.commit } : sight;
}

/** Examines a delegation that ends now. */
export async function examineEnd(recording: DelegationRecording, ended: OpenDelegation): Promise<Examined> {
  const { store, location } = recording;
  const session = requireSession(store.session);
  // The same delegation in the session of this store, whose phases are compared with it.
  const delegation = openDelegations(session).find(({ attempt }) => attempt.seq === ended.attempt.seq) ?? ended;
  const batch = openBatch(location, delegation.attempt.batch);
  try {
    const looks = new Looks(recording, session);
    const seen = await inTime(recording, () => examine(recording, session, delegation, batch, looks));
    return "late" in seen ? unread(delegation, seen.late, batch, session) : seen;
  } finally {
    batch.close();
  }
}

/** Records every delegation as interrupted whose conversation has ended, with what it changed and used. Returns how many there were. */
export async function settleDelegations(recording: DelegationRecording): Promise<number> {
  const { store, location, isLive } = recording;
  const { session } = store;
  const lost = session === undefined ? [] : openDelegations(session).filter((one) => !isLive(one));
  if (session === undefined || lost.length === 0) return 0;
  const batch = openBatch(location, session.session_id);
  try {
    const looks = new Looks(recording, session);
    const seen = await inTime(recording, () => examineAll(recording, session, lost, batch, looks));
    recordEnds(store, "late" in seen ? lost.map((one) => unread(one, seen.late, batch, session)) : seen, batch);
  } finally {
    batch.close();
  }
  return lost.length;
}

interface Ended extends Examined {
  delegation: OpenDelegation;
}

async function examineAll(
  recording: DelegationRecording,
  session: Session,
  lost: readonly OpenDelegation[],
  batch: Batch,
  looks: Looks,
): Promise<Ended[]> {
  const ends: Ended[] = [];
  for (const one of lost) {
    const end = examine(recording, session, one, batch, looks);
    ends.push(await end.catch((error: unknown) => unread(one, expected(error), batch, session)));
  }
  return ends;
}

async function examine(
  { location }: DelegationRecording,
  session: Session,
  delegation: OpenDelegation,
  batch: Batch,
  looks: Looks,
): Promise<Ended> {
  const { before, transcripts } = readNote(batch.readBefore(delegation.attempt.name));
  const used = usageOf(session, delegation, transcripts);
  if (before.kind === "unknown") return { delegation, ...used, base: null, work: null, blind: before.why };
  const now = await looks.like(before);
  const work = await examineDelegation(session, delegation, before, now, location.projectRoot);
  return { delegation, ...used, base: before.kind === "commit" ? before.commit : null, work, blind: null };
}

function unread(delegation: OpenDelegation, blind: string, batch: Batch, session: Session): Ended {
  const { before, transcripts } = readNote(batch.readBefore(delegation.attempt.name));
  const base = before.kind === "commit" ? before.commit : null;
  return { delegation, ...usageOf(session, delegation, transcripts), base, work: null, blind };
}

function usageOf(
  session: Session,
  { phase, attempt }: OpenDelegation,
  transcripts: string | null,
): Pick<Examined, "usage" | "lastSeen"> {
  const header = `${headerLines(attempt.agent, { session, phase })}\n`;
  const found = transcripts === null ? undefined : findTranscript(transcripts, header, attempt.started);
  return { usage: found?.usage ?? null, lastSeen: found?.ended ?? null };
}

/** Where a delegation worked, its changes and warnings, as its end records them. `claimed`: the files that its report names. */
export function delegationEnd(
  delegation: OpenDelegation,
  { base, work, blind }: Examined,
  claimed: Parameters<typeof workWarnings>[2],
  projectRoot: string,
): Pick<AttemptRecord, "placed" | "changes" | "warnings"> {
  const placed = { worktree: null, base };
  if (work === null) return { placed, changes: null, warnings: blind === null ? [] : [blindWarning(blind)] };
  return { placed, changes: work.changes, warnings: workWarnings(delegation, work, claimed, projectRoot) };
}

function blindWarning(why: string): Warned {
  return { code: "unjudged", message: `The changes of the delegated agent are not recorded: ${why}` };
}

const INTERRUPTED = "The conversation that delegated it ended before the agent reported";

/** The ends of those that no other process has recorded meanwhile. */
function endEvents(current: Session | undefined, ends: readonly Ended[]): SessionEvent[] {
  const open = new Set(openDelegations(requireSession(current)).map(({ attempt }) => attempt.seq));
  return ends.flatMap(({ delegation, ...examined }) => {
    const { phase, attempt } = delegation;
    if (!open.has(attempt.seq)) return [];
    const until = examined.lastSeen === null ? 0 : Date.parse(examined.lastSeen) - Date.parse(attempt.started);
    const finished = {
      attempt: attempt.attempt,
      outcome: "interrupted" as const,
      exit_code: null,
      signal: null,
      duration_ms: Math.max(0, until),
      reason: "conversation_ended",
      error_type: "runtime" as const,
      message: INTERRUPTED,
      usage: examined.usage,
    };
    return decideAttemptEnd(phase.id, { finished, ...delegationEnd(delegation, examined, null, "") });
  });
}

/** One look at the project for all delegations that are compared with a state of the same kind. */
class Looks {
  readonly #place: DelegationPlace;
  readonly #session: Session;
  readonly #sights = new Map<string, Promise<Sight>>();

  constructor(place: DelegationPlace, session: Session) {
    this.#place = place;
    this.#session = session;
  }

  like(before?: Before): Promise<Sight> {
    const known = before === undefined ? undefined : this.#sights.get(keyOf(before));
    return known ?? this.#look(before);
  }

  async #look(before: Before | undefined): Promise<Sight> {
    const sight = lookAtProject(this.#place, this.#session, before);
    if (before !== undefined) this.#sights.set(keyOf(before), sight);
    const seen = await sight;
    if (seen.kind !== "status") this.#sights.set(seen.kind, sight);
    return seen;
  }
}

/** States from `git status` are compared with the commit of the earlier one. */
function keyOf(before: Before): string {
  return before.kind === "status" ? `status ${before.status.head}` : before.kind;
}

function expected(error: unknown): string {
  if (!(error instanceof MaestroError) && errno(error) === undefined) throw error;
  return reasonOf(error);
}

/** How long interrupted work may take to remove its temporary files. */
const LAST_MS = 150;

/** The result of `work`, or why there is none: it takes too long, or the project cannot be read. */
async function inTime<T extends object>(
  { limitMs }: DelegationRecording,
  work: () => Promise<T>,
): Promise<T | { late: string }> {
  const done = work().catch((error: unknown) => ({ late: expected(error) }));
  if (limitMs === undefined) return done;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), limitMs);
  });
  const first = await Promise.race([done, late]);
  clearTimeout(timer);
  if (first !== "late") return first;
  stopGit();
  await Promise.race([done, new Promise((resolve) => setTimeout(resolve, LAST_MS))]);
  return { late: `the project was not read within ${Math.round(limitMs)} ms` };
}

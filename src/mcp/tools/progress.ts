// maestro_progress: adds notes to the session's journal, and summarizes the progress of all phases. Never moves a phase.

import { normalizeAgentName } from "../../agents/names.ts";
import { MaestroError } from "../../errors.ts";
import { ledgerOf } from "../../session/budget/ledger.ts";
import { decideNote, noSession, requireSession } from "../../session/decide/operation.ts";
import { positionOf } from "../../session/position.ts";
import type { Note, Session, SessionPhase } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { changeSession } from "../../store/operations.ts";
import { readSession } from "../../store/read-session.ts";
import { seenSession } from "../../store/seen-session.ts";
import { claimOf } from "../../views/claim.ts";
import { runningAttempt, startOf, workedMs } from "../../views/report/times.ts";
import type { Answer } from "../answer.ts";
import { agentName, countField, flagField, id, textField } from "../fields.ts";
import { action, type Context, type Tool } from "../tool.ts";

const LAST_NOTES = 3;
const MAX_RUNNING = 5;
/** The length of a note or name in the summary. */
const SHOWN_CHARS = 120;

const note = action(
  {
    phase_id: id().optional(),
    agent: agentName().optional(),
    status: textField(200, "a word or two; does not move the phase").optional(),
    message: textField(10_000).optional(),
  },
  takeNote,
);

export const progress: Tool = {
  name: "maestro_progress",
  description: "Note progress in the session's log (report, update), or read all phases' progress (summary).",
  actions: {
    report: note,
    update: note,
    summary: action(
      {
        phase_id: id().optional(),
        offset: countField().optional(),
        limit: countField().optional(),
        full: flagField().optional(),
      },
      summarize,
    ),
  },
};

interface NoteInput {
  phase_id?: string | undefined;
  agent?: string | undefined;
  status?: string | undefined;
  message?: string | undefined;
}

function takeNote(context: Context, input: NoteInput): Answer {
  const { phase, agent } = whoAndWhat(context, input);
  const said = [input.status, input.message].filter((part) => part !== undefined).join(": ");
  if (said === "") {
    throw new MaestroError("usage", "A note must say something", { hint: "Give a message, a status, or both." });
  }
  changeSession(context.store, (session) => decideNote(session, said, phase, agent));
  return { body: { noted: true, phase_id: phase ?? null, revision: requireSession(context.store.session).seq } };
}

/** A dispatched agent may only add notes in its own name, about its own phase. */
function whoAndWhat({ attempt }: Context, { phase_id, agent }: NoteInput) {
  if (attempt === null) return { phase: phase_id, agent };
  const own = normalizeAgentName(attempt.agent);
  if (agent !== undefined && agent !== own) {
    throw new MaestroError("usage", `You are ${own}, not ${agent}`, { hint: "Leave agent out." });
  }
  if (attempt.phase !== undefined && phase_id !== undefined && phase_id !== attempt.phase) {
    throw new MaestroError("usage", `You work on phase ${attempt.phase}, not on ${phase_id}`, {
      hint: "Leave phase_id out.",
    });
  }
  return { phase: attempt.phase ?? phase_id, agent: own };
}

interface SummaryInput {
  phase_id?: string | undefined;
  offset?: number | undefined;
  limit?: number | undefined;
  full?: boolean | undefined;
}

function summarize(context: Context, { phase_id, offset, limit, full }: SummaryInput): Answer {
  const read = readSession(context.store);
  if (read.state === "broken") throw new MaestroError("parse_failed", `The session cannot be read: ${read.reason}`);
  if (read.state === "none") throw noSession();
  const now = context.now();
  const session = seenSession(context.location, read.session, now);
  const wanted = phase_id === undefined ? session.phases : session.phases.filter((phase) => phase.id === phase_id);
  if (wanted.length === 0) {
    throw new MaestroError("not_found", `Session ${session.session_id} has no phase ${JSON.stringify(phase_id)}`);
  }
  const lastNotes = new Map(session.notes.flatMap((one) => (one.phase === undefined ? [] : [[one.phase, one]])));
  const engine = runningEngine(context.location);
  const body = {
    session_id: session.session_id,
    status: session.status,
    engine: engine === undefined ? null : { pid: engine.pid, since: engine.since },
    counts: positionOf(session).counts,
    running: runningOf(session, now),
    quota: session.quota !== null && Date.parse(session.quota.until) > now.getTime() ? session.quota : null,
    ...(session.budget === null ? {} : { budget: ledgerOf(session) }),
    notes: (full ? session.notes : session.notes.slice(-LAST_NOTES)).map(shortNote),
    revision: session.seq,
  };
  const item = (index: number) => {
    const phase = wanted[index] as SessionPhase;
    return phaseOf(session, phase, lastNotes.get(phase.id), now);
  };
  return { body, page: { key: "phases", total: wanted.length, item, offset, limit }, full };
}

function runningOf(session: Session, now: Date) {
  const attempts = session.phases.flatMap((phase) => {
    const attempt = runningAttempt(session, phase);
    if (attempt === undefined) return [];
    const elapsed_ms = Math.max(0, now.getTime() - startOf(attempt));
    const place = attempt.remote === true ? { worker: attempt.worker ?? null } : {};
    return [{ phase_id: phase.id, agent: attempt.agent, attempt: attempt.attempt, elapsed_ms, ...place }];
  });
  return attempts.slice(0, MAX_RUNNING);
}

function phaseOf(session: Session, phase: SessionPhase, last: Note | undefined, now: Date) {
  const { id: phase_id, name, agents, status, attempts, retry_count } = phase;
  const claim = claimOf(phase);
  return {
    phase_id,
    name: name.slice(0, SHOWN_CHARS),
    agent: agents[0] ?? null,
    status,
    attempts: attempts.length,
    retries: retry_count,
    elapsed_ms: workedMs(session, phase, now),
    ...(claim === undefined ? {} : { claimed: claim.claimed.slice(0, SHOWN_CHARS), proof: claim.proof }),
    ...(last === undefined ? {} : { last_note: shortNote({ ts: last.ts, text: last.text }) }),
  };
}

function shortNote({ ts, text: said, phase, agent }: Note) {
  const about = { ...(phase === undefined ? {} : { phase_id: phase }), ...(agent === undefined ? {} : { agent }) };
  return { ts, ...about, text: said.length > SHOWN_CHARS ? `${said.slice(0, SHOWN_CHARS)} ...` : said };
}

// maestro_session_read: the state of the session and its lists. Read-only.

import { errno } from "../../errors.ts";
import { commandLineOf } from "../../extension-path.ts";
import { programRoot } from "../../program-root.ts";
import { clipText } from "../../prompt/data.ts";
import { requirePhase } from "../../session/decide/operation.ts";
import { positionOf } from "../../session/position.ts";
import { requirementStanding } from "../../session/requirements.ts";
import { type Attempt, isQueued, isVerified, type Session, type SessionPhase } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { brokenHint } from "../../store/journal/damage.ts";
import { readSession } from "../../store/read-session.ts";
import { seenSession } from "../../store/seen-session.ts";
import type { EscalationLook } from "../../views/decision/escalation.ts";
import { decisionLines, openDecisions, undecided } from "../../views/decision/open-decisions.ts";
import { short } from "../../views/record/brief.ts";
import { sessionJson } from "../../views/record/session-json.ts";
import { isUsageKnown } from "../../views/report/reporting.ts";
import { type Answer, bytesOf, MAX_ANSWER_BYTES, type Page } from "../answer.ts";
import { phaseFacts } from "../brief/phase-facts.ts";
import { choice, countField, flagField, id } from "../fields.ts";
import { nextStep } from "../next-step.ts";
import { action, type Context, ONLY, type Tool } from "../tool.ts";

const sections = ["metadata", "phases", "errors", "files", "full"] as const;
/** How many ids the metadata lists; the section `phases` has all of them. */
const MAX_IDS = 20;
const MAX_TASK = 160;
/** Of the block of a decision, in characters: the first that fits into a short answer. */
const blockRooms = [1_000, 800, 650, 500, 350, 200];
/** What an answer has besides the metadata, in bytes. */
const FRAME_BYTES = 60;

export const sessionRead: Tool = {
  name: "maestro_session_read",
  description:
    "Read the active session: its state and next steps (metadata), its phases, errors or files, or one phase: text, files, validation, hand-off, last error.",
  actions: {
    [ONLY]: action(
      {
        section: choice(sections, "default metadata").optional(),
        phase: id("instead of a section").optional(),
        offset: countField().optional(),
        limit: countField().optional(),
        full: flagField("all of it").optional(),
      },
      (context, input) => {
        const read = readSession(context.store);
        if (read.state === "none") return { body: { exists: false } };
        if (read.state === "broken") {
          // Files that this process may not read are not damaged: there is nothing to repair.
          const error = errno(read.cause) === undefined ? "parse_failed" : "io_error";
          return { body: { exists: false, error, reason: read.reason, kept: read.kept, hint: brokenHint(read.kept) } };
        }
        const session = seenSession(context.location, read.session, context.now());
        return input.phase === undefined ? show(context, session, input) : showPhase(context, session, input);
      },
    ),
  },
};

interface Wanted {
  section?: (typeof sections)[number] | undefined;
  offset?: number | undefined;
  limit?: number | undefined;
  full?: boolean | undefined;
}

function showPhase({ location }: Context, session: Session, { phase, full }: Wanted & { phase?: string | undefined }) {
  const isDriven = runningEngine(location) !== undefined;
  const facts = phaseFacts(session, requirePhase(session, phase ?? ""), isDriven, full === true);
  return { body: { exists: true, revision: session.seq, phase: facts }, full };
}

function show(context: Context, session: Session, { section = "metadata", offset, limit, full }: Wanted): Answer {
  const body = { exists: true, revision: session.seq };
  if (section === "full") return { body: { ...body, full: fullOf(context, session) }, full: true };
  if (section === "metadata") return { body: { ...body, metadata: metadataOf(context, session, full === true) }, full };
  const list = lists[section](session);
  const page: Page = { key: section, total: list.length, item: (index) => list[index], offset, limit };
  return { body, page, full };
}

function fullOf(context: Context, session: Session) {
  const open_decisions = openDecisions(session, lookOf(context));
  const engine = engineOf(context.location);
  return { ...sessionJson(session), position: positionOf(session), engine, open_decisions };
}

function lookOf({ location, settings }: Context): EscalationLook {
  const isDriven = runningEngine(location) !== undefined;
  return { maxRetries: settings.MAESTRO_MAX_RETRIES, program: commandLineOf(programRoot), isDriven };
}

/** The open decisions, the first one with the block for the user; empty when none is open. A short answer has only the first, in `room`. */
function decisionsOf(context: Context, session: Session, room: number) {
  const look = lookOf(context);
  const open = openDecisions(session, look);
  const [first] = open;
  if (first === undefined) return {};
  const lines = decisionLines(session, look);
  const full = room === Number.POSITIVE_INFINITY;
  const { message: _, options, ...about } = first;
  const brief = { ...about, options: options.map(({ name }) => name), block: clipText(lines.join("\n"), room) };
  const whole = open.map((decision, at) => (at === 0 ? { ...decision, block: lines.join("\n") } : decision));
  return { open_decisions: full ? whole : [brief], open_decisions_total: undecided(session).length };
}

function engineOf(location: Context["location"]) {
  const owner = runningEngine(location);
  return owner === undefined ? null : { pid: owner.pid, since: owner.since };
}

/** A short answer about an open decision has the decision instead of the details. */
function metadataOf(context: Context, session: Session, full: boolean) {
  const position = positionOf(session);
  const engine = engineOf(context.location);
  const running = session.phases.filter((phase) => phase.status === "in_progress");
  const facts = {
    session_id: session.session_id,
    title: session.title,
    task: full || session.task === null ? session.task : short(session.task, MAX_TASK),
    status: session.status,
    execution_mode: session.execution_mode,
    review: session.review,
    ...(session.approval === undefined ? {} : { approved: session.approval.hash === session.plan_hash }),
    total_phases: session.total_phases,
    counts: position.counts,
    next: nextStep(session, position, engine),
    ready: position.ready.slice(0, MAX_IDS),
    running: running.slice(0, MAX_IDS).map((phase) => ({ id: phase.id, agent: phase.agents[0] ?? null })),
    failed: position.unresolved.slice(0, MAX_IDS),
    ...(session.requirements.length === 0 ? {} : { requirements: requirementsOf(session) }),
    engine,
  };
  if (full) return { ...facts, ...decisionsOf(context, session, Number.POSITIVE_INFINITY), ...detailsOf(session) };
  if (undecided(session).length === 0) return { ...facts, ...detailsOf(session) };
  const shown = blockRooms.map((room) => ({ ...facts, ...decisionsOf(context, session, room) }));
  return shown.find((one) => bytesOf(one) <= MAX_ANSWER_BYTES - FRAME_BYTES) ?? shown.at(-1);
}

function detailsOf(session: Session) {
  const unresolved = session.phases.flatMap((phase) => phase.errors.filter((error) => !error.resolved));
  const { total_input: input, total_output: output, total_cached: cached } = session.token_usage;
  return {
    created: session.created,
    updated: session.updated,
    current_phase: session.current_phase,
    unresolved_errors: unresolved.length,
    implementation_plan: session.implementation_plan,
    design_document: session.design_document,
    tokens: isUsageKnown(session) ? { input, output, cached } : { input: null, output: null, cached: null },
    command_line: commandLineOf(programRoot),
  };
}

/** The verdict on each, by id; the texts are in the section "full" and in the report. */
function requirementsOf({ requirements }: Session) {
  return Object.fromEntries(requirements.slice(0, MAX_IDS).map((one) => [one.id, requirementStanding(one)]));
}

const lists = {
  phases: (session: Session) => session.phases.map(phaseOf),
  /** Newest first. */
  errors: (session: Session) =>
    session.phases
      .flatMap((phase) => phase.errors.map((error) => ({ phase_id: phase.id, ...error })))
      .sort((a, b) => (a.timestamp < b.timestamp ? 1 : a.timestamp > b.timestamp ? -1 : 0)),
  files: (session: Session) =>
    session.phases.flatMap((phase) => [
      ...phase.files_created.map((path) => ({ path, change: "created", phase_id: phase.id })),
      ...phase.files_modified.map((path) => ({ path, change: "modified", phase_id: phase.id })),
      ...phase.files_deleted.map((path) => ({ path, change: "deleted", phase_id: phase.id })),
    ]),
};

/** A short record of a phase; its errors and files have their own sections. */
function phaseOf(phase: SessionPhase) {
  const { name, agents, status, parallel, blocked_by, started, completed, retry_count, attempts } = phase;
  const last = attempts.at(-1);
  return {
    id: phase.id,
    name,
    agent: agents[0] ?? null,
    status,
    ...(status === "completed" ? { verified: isVerified(phase) } : {}),
    ...(parallel ? {} : { parallel }),
    blocked_by,
    started,
    completed,
    retry_count,
    ...(last === undefined ? {} : { attempts: attempts.length, last_outcome: outcomeOf(last) }),
    // Null while it waits in the queue.
    ...(last?.remote === true ? { worker: last.worker ?? null } : {}),
    files: phase.files_created.length + phase.files_modified.length + phase.files_deleted.length,
    errors: phase.errors.length,
  };
}

function outcomeOf(attempt: Attempt): string {
  if (attempt.result !== null) return attempt.result.outcome;
  if (attempt.lost) return "interrupted";
  return isQueued(attempt) ? "queued" : "running";
}

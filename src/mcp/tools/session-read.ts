// maestro_session_read: the state of the session and its lists. Read-only.

import { join } from "node:path";
import { errno } from "../../errors.ts";
import { programRoot } from "../../program-root.ts";
import { positionOf } from "../../session/position.ts";
import { isVerified, type Session, type SessionPhase } from "../../session/session.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { brokenHint } from "../../store/journal/damage.ts";
import { readSession } from "../../store/read-session.ts";
import { sessionJson } from "../../views/record/session-json.ts";
import type { Answer, Page } from "../answer.ts";
import { choice, countField, flagField } from "../fields.ts";
import { nextStep } from "../next-step.ts";
import { action, type Context, ONLY, type Tool } from "../tool.ts";

const sections = ["metadata", "phases", "errors", "files", "full"] as const;
/** How many ids the metadata lists; the section `phases` has all of them. */
const MAX_IDS = 20;

export const sessionRead: Tool = {
  name: "maestro_session_read",
  description: "Read the active session: its state and next steps (metadata), or its phases, errors or files.",
  actions: {
    [ONLY]: action(
      {
        section: choice(sections, "default metadata").optional(),
        offset: countField().optional(),
        limit: countField().optional(),
        full: flagField("no limit of 8 KB").optional(),
      },
      (context, input) => {
        const read = readSession(context.store);
        if (read.state === "none") return { body: { exists: false } };
        if (read.state === "broken") {
          // Files that this process may not read are not damaged: there is nothing to repair.
          const error = errno(read.cause) === undefined ? "parse_failed" : "io_error";
          return { body: { exists: false, error, reason: read.reason, kept: read.kept, hint: brokenHint(read.kept) } };
        }
        return show(context, read.session, input);
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

function show(context: Context, session: Session, { section = "metadata", offset, limit, full }: Wanted): Answer {
  const body = { exists: true, revision: session.seq };
  if (section === "full") return { body: { ...body, full: fullOf(context, session) }, full: true };
  if (section === "metadata") return { body: { ...body, metadata: metadataOf(context, session) }, full };
  const list = lists[section](session);
  const page: Page = { key: section, total: list.length, item: (index) => list[index], offset, limit };
  return { body, page, full };
}

function fullOf({ location }: Context, session: Session) {
  return { ...sessionJson(session), position: positionOf(session), engine: engineOf(location) };
}

function engineOf(location: Context["location"]) {
  const owner = runningEngine(location);
  return owner === undefined ? null : { pid: owner.pid, since: owner.since };
}

function metadataOf({ location }: Context, session: Session) {
  const position = positionOf(session);
  const engine = engineOf(location);
  const running = session.phases.filter((phase) => phase.status === "in_progress");
  const unresolved = session.phases.flatMap((phase) => phase.errors.filter((error) => !error.resolved));
  const { total_input: input, total_output: output, total_cached: cached } = session.token_usage;
  return {
    session_id: session.session_id,
    title: session.title,
    task: session.task,
    status: session.status,
    execution_mode: session.execution_mode,
    created: session.created,
    updated: session.updated,
    current_phase: session.current_phase,
    total_phases: session.total_phases,
    counts: position.counts,
    next: nextStep(session, position, engine),
    ready: position.ready.slice(0, MAX_IDS),
    running: running.slice(0, MAX_IDS).map(({ id, agents }) => ({ id, agent: agents[0] ?? null })),
    failed: position.unresolved.slice(0, MAX_IDS),
    unresolved_errors: unresolved.length,
    engine,
    implementation_plan: session.implementation_plan,
    design_document: session.design_document,
    tokens: { input, output, cached },
    command_line: `node ${JSON.stringify(join(programRoot, "dist", "maestro.js"))}`,
  };
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
  const { id, name, agents, status, parallel, blocked_by, started, completed, retry_count, attempts } = phase;
  const last = attempts.at(-1);
  return {
    id,
    name,
    agent: agents[0] ?? null,
    status,
    ...(status === "completed" ? { verified: isVerified(phase) } : {}),
    ...(parallel ? {} : { parallel }),
    blocked_by,
    started,
    completed,
    retry_count,
    ...(last === undefined ? {} : { attempts: attempts.length, last_outcome: last.result?.outcome ?? "running" }),
    files: phase.files_created.length + phase.files_modified.length + phase.files_deleted.length,
    errors: phase.errors.length,
  };
}

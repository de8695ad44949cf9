// Reads the session's journal and writes a checkpoint, so that the next hook need not read it.

import type { Directory } from "../disk/contained.ts";
import { ownershipFault } from "../disk/directory-owner.ts";
import { replaceDurably } from "../disk/durable.ts";
import { MaestroError } from "../errors.ts";
import { positionOf } from "../session/position.ts";
import { reviewSubject } from "../session/review/review.ts";
import { findPhase, openDelegations, type Session } from "../session/session.ts";
import { drivingEngine } from "../store/engine-lock.ts";
import { glanceIn } from "../store/journal/glance.ts";
import type { EscalationLook } from "../views/decision/escalation.ts";
import { decisionBrief, undecided, undecidedName } from "../views/decision/open-decisions.ts";
import { briefLines, continueLines, MAX_TITLE, openErrorLines, short } from "../views/record/brief.ts";
import { historyFacts } from "../views/record/history.ts";
import { CHECKPOINT_FILE, type Checkpoint, renderCheckpoint } from "./checkpoint.ts";
import { commandLine, type Surroundings } from "./surroundings.ts";

const MAX_IDS = 6;

/** Undefined when the journal holds no session. */
export function makeCheckpoint(state: Directory, journal: string, here: Surroundings): Checkpoint | undefined {
  const session = glanceIn(state);
  if (session === undefined) return undefined;
  const engine = drivingEngine(state);
  const isDriven = engine !== undefined;
  const brief = [...briefLines(session, positionOf(session), isDriven), ...decisionBrief(session, lookOf(here))];
  const checkpoint: Checkpoint = {
    journal,
    status: session.status,
    facts: historyFacts(session),
    waiting: engine === undefined ? waitingLine(session) : runningLine(session, engine.pid),
    brief: brief.join("\n"),
    turn: [...brief, ...continueLines(session, isDriven)].join("\n"),
    open: openDelegations(session).length > 0,
  };
  // The end of an engine is not always in the journal, so what is said about a running one must not be kept.
  if (isDriven) return checkpoint;
  try {
    const foreign = ownershipFault(state, here.projectRoot);
    if (foreign !== undefined) throw foreign;
    replaceDurably(state, CHECKPOINT_FILE, renderCheckpoint(checkpoint, checkpointLines(session, checkpoint)));
  } catch (error) {
    // In a read-only project the checkpoint is still returned.
    if (!(error instanceof MaestroError)) throw error;
    here.log(error.message);
  }
  return checkpoint;
}

/** The line has no number of retries, so the settings are not read for it. */
function lookOf(here: Surroundings): EscalationLook {
  return { maxRetries: 0, program: commandLine(here) };
}

/** One line only, because the context of each turn has the details. */
function waitingLine(session: Session): string {
  const done = doneText(session);
  if (session.status === "completed") {
    return `Maestro: session ${session.session_id} is completed (${done}); /maestro:archive archives it.`;
  }
  const current = session.current_phase === null ? undefined : findPhase(session, session.current_phase);
  const at =
    current === undefined ? "" : `, phase ${current.id} (${short(current.name, MAX_TITLE)}) is ${said(current.status)}`;
  const decision = decisionLine(session);
  return `Maestro: an unfinished session is waiting: ${session.session_id}, ${said(session.status)}, ${done}${at}.${decision} /maestro:resume resumes it.`;
}

function runningLine(session: Session, pid: number): string {
  const decision = decisionLine(session);
  return `Maestro: an engine (process ${pid}) is running session ${session.session_id}, ${doneText(session)}.${decision} maestro_wait follows it.`;
}

function decisionLine(session: Session): string {
  const open = undecided(session);
  const [first] = open;
  if (first === undefined) return "";
  if ("review" in first) return ` Your review is open: ${reviewSubject(first.review)}.`;
  if ("budget" in first) return " The budget is spent: raise it to continue.";
  return ` Your decision is needed for ${open.length === 1 ? "phase" : "phases"} ${some(open.map(undecidedName))}.`;
}

function doneText(session: Session): string {
  const { counts } = positionOf(session);
  return `${counts.completed + counts.skipped} of ${session.total_phases} phases done`;
}

function checkpointLines(session: Session, { brief }: Checkpoint): string[] {
  const of = (status: string) => {
    const phases = session.phases.filter((phase) => phase.status === status);
    return phases.map(({ id, name }) => `${id} (${short(name, MAX_TITLE)})`).join(", ") || "none";
  };
  const errors = openErrorLines(session);
  return [
    "# Checkpoint of the Maestro session",
    "",
    brief,
    `Completed: ${of("completed")}`,
    `Pending: ${of("pending")}`,
    `Current phase: ${session.current_phase ?? "none"}`,
    ...(errors.length === 0 ? [] : ["Errors of phases that are not done:", ...errors]),
    "For details: maestro_session_read.",
  ];
}

function some(ids: readonly string[]): string {
  return `${ids.slice(0, MAX_IDS).join(", ")}${ids.length > MAX_IDS ? ` and ${ids.length - MAX_IDS} more` : ""}`;
}

function said(status: string): string {
  return status.replace("_", " ");
}

// Reads the session's journal and writes a checkpoint, so that the next hook need not read it.

import type { Directory } from "../disk/contained.ts";
import { ownershipFault } from "../disk/directory-owner.ts";
import { replaceDurably } from "../disk/durable.ts";
import { MaestroError } from "../errors.ts";
import { positionOf } from "../session/position.ts";
import { findPhase, type Session } from "../session/session.ts";
import { glanceIn } from "../store/journal/glance.ts";
import { briefLines, MAX_TITLE, short } from "../views/record/brief.ts";
import { historyFacts } from "../views/record/history.ts";
import { CHECKPOINT_FILE, type Checkpoint, renderCheckpoint } from "./checkpoint.ts";
import type { Surroundings } from "./surroundings.ts";

/** Undefined when the journal holds no session. */
export function makeCheckpoint(state: Directory, journal: string, here: Surroundings): Checkpoint | undefined {
  const session = glanceIn(state);
  if (session === undefined) return undefined;
  const checkpoint: Checkpoint = {
    journal,
    status: session.status,
    facts: historyFacts(session),
    waiting: waitingLine(session),
    brief: briefLines(session, positionOf(session)).join("\n"),
  };
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

/** One line only, because the context of each turn has the details. */
function waitingLine(session: Session): string {
  const { counts } = positionOf(session);
  const done = `${counts.completed + counts.skipped} of ${session.total_phases} phases done`;
  if (session.status === "completed") {
    return `Maestro: session ${session.session_id} is completed (${done}); /maestro:archive archives it.`;
  }
  const current = session.current_phase === null ? undefined : findPhase(session, session.current_phase);
  const at =
    current === undefined ? "" : `, phase ${current.id} (${short(current.name, MAX_TITLE)}) is ${said(current.status)}`;
  return `Maestro: an unfinished session is waiting: ${session.session_id}, ${said(session.status)}, ${done}${at}. /maestro:resume resumes it.`;
}

function checkpointLines(session: Session, { brief }: Checkpoint): string[] {
  const of = (status: string) => {
    const phases = session.phases.filter((phase) => phase.status === status);
    return phases.map(({ id, name }) => `${id} (${short(name, MAX_TITLE)})`).join(", ") || "none";
  };
  return [
    "# Checkpoint of the Maestro session",
    "",
    brief,
    `Completed: ${of("completed")}`,
    `Pending: ${of("pending")}`,
    `Current phase: ${session.current_phase ?? "none"}`,
    "For details: maestro_session_read.",
  ];
}

function said(status: string): string {
  return status.replace("_", " ");
}

// Runs only sessions that this user started or accepted on this machine: one that came with a repository is shown, and the user is asked.

import { MaestroError } from "../../errors.ts";
import { sessionFingerprint } from "../../session/fingerprint.ts";
import type { Session } from "../../session/session.ts";
import type { ResolvedSettings } from "../../settings.ts";
import { isForgettable, UserRecord } from "../../store/files/user-record.ts";
import { foreignSessionLines } from "../../views/decision/foreign-session.ts";
import type { Io } from "../io.ts";

export interface AcceptFlags {
  acceptSession?: boolean;
}

/** Returns false, after showing the session, when the user declines or no terminal is attached. */
export async function isAccepted(
  io: Io,
  { values }: ResolvedSettings,
  session: Session,
  flags: AcceptFlags,
): Promise<boolean> {
  const record = new UserRecord(io.env);
  const fingerprint = sessionFingerprint(session);
  if (record.knowsSession(fingerprint)) return true;
  io.err(`${foreignSessionLines(session, values.MAESTRO_WORKTREE_SETUP).join("\n")}\n\n`);
  if (!flags.acceptSession && !(await isAnsweredYes(io, session.session_id))) return false;
  try {
    record.rememberSession(fingerprint, { session: session.session_id, project: io.cwd, now: io.now() });
  } catch (error) {
    if (!isForgettable(error)) throw error;
    io.err(`WARNING: ${error.message}\n`);
  }
  return true;
}

async function isAnsweredYes(io: Io, id: string): Promise<boolean> {
  if (io.interactive) return /^\s*y(?:es)?\s*$/i.test((await io.ask("Run it? [y/N] ")) ?? "n");
  io.err(
    `ERROR: Session ${id} was not started by you on this machine, and no terminal is attached to ask you\n` +
      '  If you trust it, run "maestro resume --accept-session". To remove it from the project: "maestro archive".\n',
  );
  return false;
}

/** Throws for an unknown session; for verbs that run its commands without asking. */
export function requireKnown(io: Io, session: Session): void {
  if (new UserRecord(io.env).knowsSession(sessionFingerprint(session))) return;
  throw new MaestroError(
    "environment",
    `Cannot run the commands of session ${session.session_id}: it was not started by you on this machine`,
    { hint: 'See what it would do with "maestro resume", which asks before anything runs.' },
  );
}

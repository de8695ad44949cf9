// maestro status: shows the progress of the active session.

import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { errno, MaestroError } from "../../errors.ts";
import { positionOf } from "../../session/position.ts";
import type { Session } from "../../session/session.ts";
import { readArchived } from "../../store/archived.ts";
import { runningEngine } from "../../store/engine-lock.ts";
import { brokenHint } from "../../store/journal/damage.ts";
import { JOURNAL_FILE } from "../../store/journal/journal-file.ts";
import type { StateLocation } from "../../store/location.ts";
import { conflictsOf } from "../../store/operations.ts";
import { readSession } from "../../store/read-session.ts";
import { seenSession } from "../../store/seen-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { decisionLines, openDecisions } from "../../views/decision/open-decisions.ts";
import { sessionJson } from "../../views/record/session-json.ts";
import { type RunningNow, statusLines } from "../../views/status.ts";
import { decisionLook, settingsOf, tellUser, withStore } from "../context.ts";
import { type Io, printJson } from "../io.ts";
import { paint } from "../paint.ts";
import { RunningOutput } from "../work/running-output.ts";

export function status(io: Io, options: { json?: boolean; conflicts?: boolean }): number {
  const settings = settingsOf(io);
  return withStore(io, settings, (store) => {
    const read = readSession(store);
    if (read.state === "none") {
      if (options.json) printJson(io, { exists: false });
      else io.out("No active session\n");
      const last = options.json ? undefined : readArchived(store.location)?.session_id;
      if (last !== undefined) io.err(`The last session, ${last}, is archived. See it with "maestro report".\n`);
      const elsewhere = sessionAbove(io.cwd, store.location);
      if (elsewhere !== undefined) io.err(`A session exists in ${elsewhere}. Run the command there.\n`);
      return 0;
    }
    if (read.state === "broken") {
      if (!options.json) {
        const message = `The session cannot be read: ${read.reason}`;
        throw new MaestroError("parse_failed", message, { hint: brokenHint(read.kept) });
      }
      // A journal that the system does not let us read is not damaged, so it is not a parse failure.
      const error = errno(read.cause) === undefined ? "parse_failed" : "io_error";
      printJson(io, { exists: false, error, message: read.reason, kept: read.kept });
      return 1;
    }
    const session = seenSession(store.location, read.session, io.now());
    const conflicts = options.conflicts ? conflictsOf(store.location, session) : null;
    const position = positionOf(session);
    const owner = runningEngine(store.location);
    const look = { ...decisionLook(io, settings), isDriven: owner !== undefined };
    const doing = owner === undefined ? [] : runningNow(io, store, session);
    if (options.json) {
      const engine = owner === undefined ? null : { pid: owner.pid, since: owner.since };
      const found = conflicts === null ? {} : { conflicts };
      const open_decisions = openDecisions(session, look);
      printJson(io, {
        exists: true,
        ...sessionJson(session),
        position,
        engine,
        activity: Object.fromEntries(doing),
        open_decisions,
        ...found,
      });
      return 0;
    }
    const lines = statusLines(
      session,
      position,
      conflicts,
      io.now(),
      paint(io.color),
      owner !== undefined,
      new Map(doing),
    );
    tellUser(io, `${lines.join("\n")}\n`);
    if (owner !== undefined) tellUser(io, `Engine:  process ${owner.pid}; follow it with "maestro watch"\n`);
    for (const line of decisionLines(session, look)) io.out(`${line}\n`);
    return 0;
  });
}

/** What the agent of each running phase did last, and its tokens so far. */
function runningNow(io: Io, store: SessionStore, session: Session): [phase: string, doing: RunningNow][] {
  const { activity, tokens } = new RunningOutput(store.location, store.redact, io.env).read(session);
  return [...activity].map(([id, last]) => [id, { last, tokens: tokens.get(id) ?? null }]);
}

/** The nearest parent directory that has a session, for a user who runs the command in a subdirectory. */
function sessionAbove(from: string, location: StateLocation): string | undefined {
  if (isAbsolute(location.shown)) return undefined;
  for (let at = from; at !== dirname(at); ) {
    at = dirname(at);
    if (existsSync(join(at, ...location.components, "state", JOURNAL_FILE))) return at;
  }
  return undefined;
}

// Archives a session. The journal records the intention (`archive.started`) before the first file moves, every step can
// be repeated, and the journal itself moves last, so the next process can finish an archive that a crash interrupted.

import { closeSync, constants, fsyncSync } from "node:fs";
import { basename } from "node:path";
import { type Directory, ioError, withDirectory } from "../disk/contained.ts";
import { readRegular, replaceDurably, writeAll } from "../disk/durable.ts";
import { MaestroError } from "../errors.ts";
import { archiveStarted } from "../session/decide/facts.ts";
import { acceptedOpen } from "../session/decide/requirement.ts";
import type { EventOf, FileMove } from "../session/events.ts";
import { unmetRequirements } from "../session/requirements.ts";
import { isClosed, type Session } from "../session/session.ts";
import { historyFacts } from "../views/record/history.ts";
import { renderSession } from "../views/record/session-view.ts";
import { HISTORY_FILE } from "./files/history-file.ts";
import { JOURNAL_FILE, VIEW_FILE } from "./journal/journal-file.ts";
import { inState, recordedPath, type StateLocation, walk } from "./location.ts";
import { dropTaken, isInPlans, keepEarlier, supersede } from "./supersede.ts";
import { inspectView, setAside } from "./view/view-file.ts";

const MAX_HISTORY_BYTES = 16 * 1024 * 1024;

export interface Archived {
  session_id: string;
  status: Session["status"];
  session: string;
  journal: string;
  plans: string[];
  /** Phases that were neither completed nor skipped. */
  open: number;
  /** Requirements that the user accepted although they are not met. */
  not_met: string[];
}

/** Chooses the target paths; none of them exists yet. `acceptOpen`: why the user archives requirements that are not met. */
export function planArchive(
  location: StateLocation,
  session: Session,
  acceptOpen?: string,
): EventOf<"archive.started"> {
  const isJudged = session.status === "completed" || session.aborted;
  const accepted = isJudged ? {} : acceptedOpen(session, acceptOpen, `archive session ${session.session_id}`);
  const takenSessions = new Set(archivedNames(location));
  const takenPlans = new Set(inState(location, ["plans", "archive"], (archive) => archive.list()) ?? []);
  const name = freeName(
    session.session_id,
    (candidate) => takenSessions.has(`${candidate}.md`) || takenSessions.has(`${candidate}.jsonl`),
  );
  const documents = [session.design_document, session.implementation_plan].filter((path) => path !== null);
  const moves = documents
    .filter((path) => path === recordedPath(location, "plans", basename(path)) && isThere(location, basename(path)))
    .map((from) => ({
      from,
      to: recordedPath(location, "plans", "archive", freeFileName(basename(from), takenPlans)),
    }));
  return archiveStarted({
    status: session.phases.every(isClosed) ? "completed" : session.status,
    session_to: recordedPath(location, "state", "archive", `${name}.md`),
    journal_to: recordedPath(location, "state", "archive", `${name}.jsonl`),
    moves,
    ...accepted,
  });
}

/** Archives the session as `archive.started` planned it, or finishes an interrupted archive. Needs the session lock. */
export function finishArchive(
  location: StateLocation,
  directory: Directory,
  session: Session,
  { now, warn }: { now: () => Date; warn: (message: string) => void },
): Archived {
  const { archiving } = session;
  if (archiving === null) throw new Error("no archiving was begun");
  for (const from of moveDocuments(location, archiving.moves)) {
    warn(`${from} was not archived: the archive already has another file of that name`);
  }
  withDirectory(location.root, [...location.components, "state", "archive"], walk(location, true), (target) => {
    replaceDurably(target, basename(archiving.session_to), renderSession(session));
    try {
      noteHistory(directory, session, now());
    } catch (error) {
      // The history is a convenience: failing to write it must not prevent archiving.
      if (!(error instanceof MaestroError)) throw error;
      warn(`The session was not added to the history: ${error.message}`);
    }
    const view = inspectView(directory).kind;
    if (view === "foreign" || view === "unreadable") setAside(directory, VIEW_FILE, "edited", now());
    else directory.unlink(VIEW_FILE);
    directory.rename(JOURNAL_FILE, basename(archiving.journal_to), target);
    target.sync();
    directory.sync();
    verify(directory, target, archiving);
  });
  return {
    session_id: session.session_id,
    status: session.status,
    session: archiving.session_to,
    journal: archiving.journal_to,
    plans: archiving.moves.map((move) => move.to),
    open: session.aborted ? 0 : session.phases.filter((phase) => !isClosed(phase)).length,
    not_met: unmetRequirements(session).map(({ id }) => id),
  };
}

/** Writes the revised plan and archives the superseded one, unless that is already done. Needs the session lock. */
export function finishRevision(
  location: StateLocation,
  { path, text, superseded, earlier, taken }: NonNullable<Session["revised"]>,
): void {
  if (!isInPlans(location, path)) return;
  withDirectory(location.root, [...location.components, "plans"], walk(location, true), (plans) => {
    if (plans.lstat(basename(path)) === undefined) replaceDurably(plans, basename(path), text);
  });
  if (superseded !== null && earlier === undefined) supersede(location, superseded, path);
  // The edited file is deleted last: as long as it exists, the version before it may not be in the archive yet.
  if (superseded !== null && earlier !== undefined && isThere(location, basename(superseded.from))) {
    keepEarlier(location, superseded.to, earlier, path);
  }
  if (taken !== undefined) dropTaken(location, taken);
}

/** Moves documents from `plans/` to `plans/archive/`. Returns those left in place because the target exists. */
function moveDocuments(location: StateLocation, moves: readonly FileMove[]): string[] {
  const below = [...location.components, "plans"];
  const made = walk(location, true);
  return withDirectory(location.root, [...below, "archive"], made, (target) =>
    withDirectory(location.root, below, made, (plans) =>
      moves.filter(({ from, to }) => !moveOnce(plans, basename(from), target, basename(to))).map(({ from }) => from),
    ),
  );
}

/** False when the target exists; true also when the file was moved before. */
function moveOnce(source: Directory, name: string, target: Directory, newName: string): boolean {
  if (source.lstat(name) === undefined) return true;
  if (target.lstat(newName) !== undefined) return false;
  source.rename(name, newName, target);
  target.sync();
  source.sync();
  return true;
}

/** Appends the session's state to the history when the session or a conversation ends, unless the last line already says it. */
export function noteHistory(directory: Directory, session: Session, now: Date): void {
  const facts = historyFacts(session);
  const history = readRegular(directory, HISTORY_FILE, MAX_HISTORY_BYTES)?.toString("utf8") ?? "";
  if (history.trimEnd().endsWith(facts)) return;
  try {
    const fd = directory.open(HISTORY_FILE, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
    try {
      writeAll(
        fd,
        Buffer.from(`${history === "" || history.endsWith("\n") ? "" : "\n"}${now.toISOString()} ${facts}\n`),
        "history",
      );
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw ioError("write", HISTORY_FILE, error);
  }
}

function verify(directory: Directory, target: Directory, archiving: EventOf<"archive.started">): void {
  const wrong = [
    directory.lstat(VIEW_FILE) === undefined ? "" : `${VIEW_FILE} is still there`,
    target.lstat(basename(archiving.session_to))?.isFile() ? "" : `${archiving.session_to} is missing`,
    target.lstat(basename(archiving.journal_to))?.isFile() ? "" : `${archiving.journal_to} is missing`,
  ].filter((fault) => fault !== "");
  if (wrong.length > 0) throw new MaestroError("io", `Archiving did not finish: ${wrong.join("; ")}`);
}

export function archivedNames(location: StateLocation): string[] {
  return inState(location, ["state", "archive"], (archive) => archive.list()) ?? [];
}

function isThere(location: StateLocation, name: string): boolean {
  return inState(location, ["plans"], (plans) => plans.lstat(name)?.isFile() === true) === true;
}

function freeName(name: string, isTaken: (candidate: string) => boolean): string {
  for (let attempt = 1; ; attempt++) {
    const candidate = attempt === 1 ? name : `${name}-${attempt}`;
    if (!isTaken(candidate)) return candidate;
  }
}

function freeFileName(name: string, taken: Set<string>): string {
  const stem = name.replace(/\.md$/, "");
  const ending = name.slice(stem.length);
  const free = freeName(stem, (candidate) => taken.has(`${candidate}${ending}`));
  taken.add(`${free}${ending}`);
  return `${free}${ending}`;
}

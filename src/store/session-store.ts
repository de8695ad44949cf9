// The only way to read and change the active session, for every process. It owns the order of steps: lock, read, repair,
// decide, append durably, then render the view. Only this class appends to the journal and draws the view.

import type { Directory } from "../disk/contained.ts";
import { readRegular, shownPath, sweepTemporaries } from "../disk/durable.ts";
import { dropClaim, LOCK_FILE, type LockOwner, newOwner, sweepMarkers, withLock } from "../disk/lock.ts";
import { errno, MaestroError } from "../errors.ts";
import type { SessionEvent } from "../session/events.ts";
import type { TimedEvent } from "../session/fold.ts";
import type { Session } from "../session/session.ts";
import { type Archived, finishArchive, finishRevision, planArchive } from "./archive.ts";
import { refuseForeign, refuseWhileDriven, whyUnadopted } from "./driven.ts";
import { drivingEngine } from "./engine-lock.ts";
import {
  brokenHint,
  dropTail,
  faultReason,
  finishQuarantine,
  hasLeftovers,
  keepBroken,
  stateGone,
} from "./journal/damage.ts";
import { Journal } from "./journal/journal.ts";
import { JOURNAL_FILE, VIEW_FILE } from "./journal/journal-file.ts";
import type { JournalWatch } from "./journal/journal-watch.ts";
import { lateRedactor, recordable } from "./journal/redact-event.ts";
import { foreignState, inOwnState, inState, type StateLocation } from "./location.ts";
import type { StoreOptions } from "./store-options.ts";
import { dropAhead, MAX_VIEW_BYTES, setAside } from "./view/view-file.ts";
import { ViewKeeper } from "./view/view-keeper.ts";
import { ensureWorkspace, manifest, tryHiding } from "./workspace.ts";

/** How often a view that another process keeps rewriting is reviewed before giving up. */
const MAX_DRAWING_ATTEMPTS = 5;
/** A reader waits only briefly for the lock: what it cannot repair now, the next process repairs. */
const READER_WAIT_MS = 500;
const KEEPER_WAIT_MS = 1000;

/** One change: `decide` sees the session and returns the events to record. */
export type Update = <T>(decide: (session: Session | undefined) => { events: SessionEvent[]; result: T }) => T;

export type SessionRead =
  | { state: "none" }
  | { state: "open"; session: Session }
  /** `file` is the file that cannot be read, `kept` its copy. */
  | { state: "broken"; reason: string; file: string | null; kept: string | null };

export class SessionStore {
  readonly location: StateLocation;
  readonly #options: StoreOptions;
  readonly #journal = new Journal();
  readonly #view: ViewKeeper;
  #swept = false;
  #isHidden = false;
  /** This process has recorded something that the view does not show yet. */
  #undrawn = false;
  #timer: NodeJS.Timeout | undefined;
  /** Removes secrets from a text, as in everything that is recorded. */
  readonly redact: (text: string) => string;

  /** Set while this process runs the session: the claim to the lock that it keeps until `close`. */
  #keeper: LockOwner | undefined;

  constructor(location: StateLocation, options: StoreOptions) {
    this.location = location;
    this.#options = options;
    this.#view = new ViewKeeper(options, (directory) => whyUnadopted(directory, this.#keeper !== undefined));
    this.#journal.listeners.add((event) => this.#view.note(event));
    this.redact = options.redact ?? lateRedactor(location.projectRoot);
  }

  /** For the engine: until `close`, changes are frequent, and `watch` judges changes of other processes before they are applied. */
  keepOpen(watch: JournalWatch): void {
    this.locked((directory) => {
      this.requireHealthy(directory);
      this.#journal.watch(directory, watch);
    });
    this.#keeper = newOwner();
  }

  /** The session from the journal. Also cleans up after a crash and reviews edits of the view. */
  read(): SessionRead {
    const found = inState(this.location, ["state"], (directory): SessionRead => {
      const first = this.#journal.refresh(directory);
      if (!("fault" in first) && !this.#needsRepair(directory, first.tail.kind)) return this.#current();
      return this.#repairAndRead(directory);
    });
    return found ?? { state: "none" };
  }

  /** Only reads what other processes have recorded; repairs are left to the next change. */
  refresh(): void {
    if (this.#journal.isCurrent(this.location)) return;
    const isRefused = inState(this.location, ["state"], (directory) => {
      const read = this.#journal.refresh(directory);
      if ("fault" in read) throw new MaestroError("parse_failed", faultReason(directory, read.fault));
      return read.refused === true;
    });
    if (isRefused) this.#clear();
  }

  /** Removes rejected records soon, because other processes can read them. If the lock is taken, the next refresh tries again. */
  #clear(): void {
    try {
      this.locked((directory) => void this.requireHealthy(directory));
    } catch (error) {
      if (!(error instanceof MaestroError) || error.code !== "locked") throw error;
    }
  }

  /** Calls `listener` for every event from now on, from any process; returns the function that stops it. */
  observe(listener: (event: TimedEvent, session: Session) => void): () => void {
    this.#journal.listeners.add(listener);
    return () => void this.#journal.listeners.delete(listener);
  }

  hasWorkspace(): boolean {
    return inState(this.location, ["state"], () => true) === true;
  }

  hasJournal(): boolean {
    return inState(this.location, ["state"], (directory) => directory.lstat(JOURNAL_FILE) !== undefined) === true;
  }

  /** The view file as it is on disk, whether Maestro or the user wrote it. */
  readView(): Buffer | undefined {
    return inState(this.location, ["state"], (directory) => readRegular(directory, VIEW_FILE, MAX_VIEW_BYTES));
  }

  /**
   * Changes the session: `decide` sees it under the lock and returns events, which are durable when this returns.
   * `decide` may throw to reject the change; then nothing is written.
   */
  update<T>(decide: (session: Session | undefined) => { events: SessionEvent[]; result: T }): T {
    const change = () =>
      this.locked((directory) => {
        this.requireHealthy(directory);
        const { events, result } = decide(this.#journal.session);
        this.append(directory, events);
        return { result };
      });
    const changed = change();
    if (changed !== undefined) return changed.result;
    // The state directory does not exist. A change that `decide` rejects must not create it.
    if (this.#journal.session !== undefined) throw stateGone(this.location);
    decide(undefined);
    ensureWorkspace(this.location);
    const made = change();
    if (made === undefined) throw stateGone(this.location);
    return made.result;
  }

  /**
   * Several changes with one sync: each sees the events of the previous ones, and all are durable when this returns. If one is
   * rejected, the previous ones remain.
   */
  updateAll<T>(work: (update: Update) => T): T {
    const done = this.locked((directory) => {
      this.requireHealthy(directory);
      const before = this.#journal.session?.seq;
      const update: Update = (decide) => {
        const { events, result } = decide(this.#journal.session);
        this.append(directory, events, false);
        return result;
      };
      try {
        return { result: work(update) };
      } finally {
        if (this.#journal.session?.seq !== before) this.#journal.sync(directory);
      }
    });
    if (done === undefined) throw stateGone(this.location);
    return done.result;
  }

  /** Runs `work` under the session lock; undefined when the state directory does not exist. */
  locked<T>(work: (directory: Directory) => T, waitMs?: number): T | undefined {
    const keeper = this.#keeper;
    // An engine must not block for long: it has running agents to supervise.
    const patience = waitMs ?? (keeper === undefined ? this.#options.lockWaitMs : KEEPER_WAIT_MS);
    const options = patience === undefined ? { keeper } : { keeper, waitMs: patience };
    return inOwnState(this.location, ["state"], (directory) =>
      withLock(directory, LOCK_FILE, () => work(directory), options),
    );
  }

  /** Under the lock: repairs what can be repaired and throws when the session is broken. */
  requireHealthy(directory: Directory): Session | undefined {
    const state = this.#recover(directory);
    if (state.state !== "broken") return this.#journal.session;
    throw new MaestroError("parse_failed", `The session cannot be read: ${state.reason}`, {
      hint: brokenHint(state.kept),
    });
  }

  /** Under the lock, after `requireHealthy`. */
  append(directory: Directory, given: readonly SessionEvent[], isLast = true): void {
    if (given.length === 0) return;
    const events = recordable(given, this.redact);
    const { judgeChange } = this.#options;
    if (this.#keeper === undefined) refuseForeign(directory, this.#journal.session, events, judgeChange);
    this.#options.vouch?.(events, this.#journal.session);
    if (!this.#isHidden) tryHiding(this.location, this.#options.warn);
    this.#isHidden = true;
    this.#journal.append(directory, events, this.#options.now(), isLast);
    this.#undrawn = true;
    this.#scheduleView();
  }

  /** Archives the session: its plan documents, its view and its journal move to the archive. */
  archive(acceptOpen?: string): Archived {
    const archived = this.locked((directory) => {
      const session = this.requireHealthy(directory);
      if (session === undefined) return undefined;
      this.append(directory, [planArchive(this.location, session, acceptOpen)]);
      return this.#finishArchive(directory);
    });
    if (archived === undefined) throw new MaestroError("no_session", "No active session to archive");
    return archived;
  }

  /** Moves unreadable files aside until the session can be read from the rest: from the view alone, or not at all. Returns what was moved. */
  repair(): string[] {
    const moved = this.locked((directory) => {
      refuseWhileDriven(directory);
      const files: string[] = [];
      for (
        let state = this.#recover(directory);
        state.state === "broken" && state.file !== null;
        state = this.#recover(directory)
      ) {
        const copy = setAside(directory, state.file, "corrupt", this.#options.now());
        files.push(`${shownPath(directory, state.file)} as ${copy}`);
        this.#view.forget();
      }
      this.#draw(directory);
      return files;
    });
    return moved ?? [];
  }

  get session(): Session | undefined {
    return this.#journal.session;
  }

  /** Renders the view now if it lacks something that this process recorded. */
  flush(waitMs?: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#undrawn || this.#journal.session === undefined) return;
    this.locked((directory) => {
      this.requireHealthy(directory);
      this.#draw(directory);
    }, waitMs);
  }

  /** `waitMs`: how long to wait for the lock before the last rendering; by default as for any change. */
  close(waitMs?: number): void {
    this.#drawLate(() => this.flush(waitMs));
    const keeper = this.#keeper;
    this.#keeper = undefined;
    this.#journal.unwatch();
    if (keeper !== undefined) inState(this.location, ["state"], (state) => dropClaim(state, LOCK_FILE, keeper));
  }

  /** The journal is the source of truth: a view that cannot be rendered is only a warning, and the next process renders it. */
  #drawLate(draw: () => void): void {
    try {
      draw();
    } catch (error) {
      if (!(error instanceof MaestroError)) throw error;
      this.#options.warn(`The change is recorded, but ${VIEW_FILE} could not be updated: ${error.message}`);
    }
  }

  /** Does not block for the view: if the lock is taken, it tries again later. */
  #drawInPassing(): void {
    try {
      this.flush(0);
    } catch (error) {
      if (!(error instanceof MaestroError) || error.code !== "locked") throw error;
      this.#scheduleView();
    }
  }

  #current(): SessionRead {
    const { session } = this.#journal;
    return session === undefined ? { state: "none" } : { state: "open", session };
  }

  #scheduleView(): void {
    const { viewDelayMs } = this.#options;
    if (viewDelayMs === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#drawLate(() => this.#drawInPassing()), this.#view.delay(viewDelayMs));
    this.#timer.unref();
  }

  /** True when the state needs more than plain reading; costs a few listings and a stat. */
  #needsRepair(directory: Directory, tail: string): boolean {
    const { session } = this.#journal;
    if (tail !== "none" || session?.archiving) return true;
    return (!this.#swept && hasLeftovers(this.location, directory)) || !this.#view.isCurrent(directory, session);
  }

  #repairAndRead(directory: Directory): SessionRead {
    const repair = () => {
      const state = this.#recover(directory);
      this.#draw(directory);
      return state;
    };
    try {
      if (foreignState(this.location) === undefined)
        return withLock(directory, LOCK_FILE, repair, { waitMs: READER_WAIT_MS });
    } catch (error) {
      if (!(error instanceof MaestroError)) throw error;
      // A project that is read-only, or that another process is writing, can still be read.
      const isUnwritable = ["EACCES", "EROFS", "EPERM", "ENOSPC", "EDQUOT"].includes(errno(error.cause) ?? "");
      if (!isUnwritable && error.code !== "locked") throw error;
    }
    const read = this.#journal.refresh(directory);
    return "fault" in read ? this.#broken(directory, faultReason(directory, read.fault), null) : this.#current();
  }

  /** Under the lock: brings everything on disk into a known state. */
  #recover(directory: Directory): SessionRead {
    const isFirst = !this.#swept;
    if (isFirst) {
      for (const path of manifest) inState(this.location, path, sweepTemporaries);
      sweepMarkers(directory, LOCK_FILE);
      this.#swept = true;
    }
    const read = this.#journal.refresh(directory);
    if ("fault" in read) return this.#broken(directory, faultReason(directory, read.fault), JOURNAL_FILE);
    if (isFirst) finishQuarantine(directory, this.#journal, this.#options);
    if (read.refused) this.#quarantine(directory);
    if (read.tail.kind !== "none") dropTail(directory, this.#journal, read.tail, this.#options);
    // A record that the engine has not judged yet must not cause files to move.
    if (this.#keeper !== undefined || drivingEngine(directory) === undefined) this.#finish(directory);
    return this.#reviewView(directory);
  }

  /** Finishes a plan revision or an archive that the journal says was started. */
  #finish(directory: Directory): void {
    const revised = this.#journal.session?.revised ?? null;
    if (revised !== null && !this.#journal.session?.archiving) finishRevision(this.location, revised);
    if (!this.#journal.session?.archiving) return;
    const { session_id } = this.#finishArchive(directory);
    this.#options.warn(`Finished archiving session ${session_id}, which had been interrupted`);
  }

  /** Quarantines rejected records, and deletes a view rendered from them. */
  #quarantine(directory: Directory): void {
    this.#journal.quarantine(directory, this.#options.now());
    dropAhead(directory, this.#journal.session?.seq ?? 0);
    this.#view.forget();
    this.#undrawn = true;
    this.#scheduleView();
  }

  #finishArchive(directory: Directory): Archived {
    const archived = finishArchive(this.location, directory, this.#journal.session as Session, this.#options);
    this.#journal.refresh(directory);
    this.#view.forget();
    this.#undrawn = false;
    return archived;
  }

  #reviewView(directory: Directory): SessionRead {
    const verdict = this.#view.review(directory, this.#journal.session, (seq) =>
      this.#journal.sessionAt(directory, seq),
    );
    if (verdict.kind === "broken") return this.#broken(directory, verdict.reason, VIEW_FILE);
    if (verdict.kind === "adopt") {
      if (verdict.event.type === "session.imported" && verdict.wasOurs) {
        this.#options.warn(
          `The journal is missing; the session was restored from ${VIEW_FILE}, without its notes and its original plan`,
        );
      }
      this.append(directory, [verdict.event]);
      // Rendered at once, so that the edit is not reviewed again against later records.
      this.#draw(directory);
    }
    return this.#current();
  }

  #draw(directory: Directory): void {
    for (let attempt = 0; !this.#view.draw(directory, this.#journal.session); attempt++) {
      if (attempt === MAX_DRAWING_ATTEMPTS)
        throw new MaestroError("conflict", `Another process keeps writing ${VIEW_FILE}`);
      this.#reviewView(directory);
    }
    this.#undrawn = false;
  }

  #broken(directory: Directory, reason: string, file: string | null): SessionRead {
    const kept = file === null ? null : keepBroken(directory, file, this.#options);
    return { state: "broken", reason, file, kept };
  }
}

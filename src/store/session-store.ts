// The one way to read and change the active session, for every process. It owns the order of things: lock, read, repair,
// decide, append durably, then draw the view. Nothing else writes in the state directory.

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

/** How often a view that somebody keeps writing is judged anew before it is left to the next process. */
const MAX_DRAWING_ATTEMPTS = 5;
/** A reader does not insist: what it would mend, the next one mends. */
const READER_WAIT_MS = 500;
const KEEPER_WAIT_MS = 1000;

/** One change: what it sees, and the events it answers with. */
export type Update = <T>(decide: (session: Session | undefined) => { events: SessionEvent[]; result: T }) => T;

export type SessionRead =
  | { state: "none" }
  | { state: "open"; session: Session }
  /** `file` is the one that cannot be read, `kept` the copy of it. */
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
  /** The text as it is recorded. */
  readonly redact: (text: string) => string;

  /** A long-lived process keeps its claim to the lock until it is closed. */
  #keeper: LockOwner | undefined;

  constructor(location: StateLocation, options: StoreOptions) {
    this.location = location;
    this.#options = options;
    const unadopted = (directory: Directory) => whyUnadopted(directory, this.#keeper !== undefined);
    this.#view = new ViewKeeper(options, unadopted);
    this.redact = options.redact ?? lateRedactor(location.projectRoot);
  }

  /** From now on until `close`, changes come often, and `watch` judges those of other processes before they are believed. */
  keepOpen(watch: JournalWatch): void {
    this.locked((directory) => {
      this.requireHealthy(directory);
      this.#journal.watch(directory, watch);
    });
    this.#keeper = newOwner();
  }

  /** The session as the journal has it. Leftovers of a crash and edits of the view are dealt with on the way. */
  read(): SessionRead {
    const found = inState(this.location, ["state"], (directory): SessionRead => {
      const first = this.#journal.refresh(directory);
      if (!("fault" in first) && !this.#needsCare(directory, first.tail.kind)) return this.#current();
      return this.#careFor(directory);
    });
    return found ?? { state: "none" };
  }

  /** Reads what others have recorded and nothing else: whatever needs mending is left to the next change. */
  refresh(): void {
    const isRefused = inState(this.location, ["state"], (directory) => {
      const read = this.#journal.refresh(directory);
      if ("fault" in read) throw new MaestroError("parse_failed", faultReason(directory, read.fault));
      return read.refused === true;
    });
    if (isRefused) this.#clear();
  }

  /** Other processes must not see for long what an engine refuses. While the lock is held, the next look tries again. */
  #clear(): void {
    try {
      this.locked((directory) => void this.requireHealthy(directory));
    } catch (error) {
      if (!(error instanceof MaestroError) || error.code !== "locked") throw error;
    }
  }

  /** Tells `listener` of every event from now on, whoever records it; returns how to stop. */
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

  /** The view as it lies there, whoever wrote it. */
  readView(): Buffer | undefined {
    return inState(this.location, ["state"], (directory) => readRegular(directory, VIEW_FILE, MAX_VIEW_BYTES));
  }

  /**
   * Changes the session: `decide` sees it as it is under the lock and answers with events, which are durable when this
   * returns. `decide` may throw to refuse; then nothing was written.
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
    // There is no state directory. What is refused without one must not make one.
    if (this.#journal.session !== undefined) throw stateGone(this.location);
    decide(undefined);
    ensureWorkspace(this.location);
    const made = change();
    if (made === undefined) throw stateGone(this.location);
    return made.result;
  }

  /**
   * Several changes at the price of one: each sees what the ones before it recorded, and all are durable when this returns. If one is
   * refused, those before it stand.
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

  /** Runs `work` under the session lock; undefined when there is no state directory. */
  locked<T>(work: (directory: Directory) => T, waitMs?: number): T | undefined {
    const keeper = this.#keeper;
    // Who changes often cannot stand still for long: it has agents to look after.
    const patience = waitMs ?? (keeper === undefined ? this.#options.lockWaitMs : KEEPER_WAIT_MS);
    const options = patience === undefined ? { keeper } : { keeper, waitMs: patience };
    return inOwnState(this.location, ["state"], (directory) =>
      withLock(directory, LOCK_FILE, () => work(directory), options),
    );
  }

  /** Under the lock: repairs what can be repaired and refuses to go on with a broken session. */
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

  /** Ends the session: its plan documents, its view and its journal move to the archive. */
  archive(): Archived {
    const archived = this.locked((directory) => {
      const session = this.requireHealthy(directory);
      if (session === undefined) return undefined;
      this.append(directory, [planArchive(this.location, session)]);
      return this.#finishArchive(directory);
    });
    if (archived === undefined) throw new MaestroError("no_session", "There is no active session to archive");
    return archived;
  }

  /** Sets aside what cannot be read, until the rest can: the view without its journal, or nothing. Returns what was moved. */
  repair(): string[] {
    const moved = this.locked((directory) => {
      refuseWhileDriven(directory);
      const files: string[] = [];
      for (
        let state = this.#recover(directory);
        state.state === "broken" && state.file !== null;
        state = this.#recover(directory)
      ) {
        files.push(
          `${shownPath(directory, state.file)} as ${setAside(directory, state.file, "corrupt", this.#options.now())}`,
        );
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

  /** Draws the view now if it lacks something that was recorded here. */
  flush(waitMs?: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#undrawn || this.#journal.session === undefined) return;
    this.locked((directory) => {
      this.requireHealthy(directory);
      this.#draw(directory);
    }, waitMs);
  }

  /** `waitMs`: how long somebody else's change may hold up the last drawing; as for any change if absent. */
  close(waitMs?: number): void {
    this.#drawLate(() => this.flush(waitMs));
    const keeper = this.#keeper;
    this.#keeper = undefined;
    this.#journal.unwatch();
    if (keeper !== undefined) inState(this.location, ["state"], (state) => dropClaim(state, LOCK_FILE, keeper));
  }

  /** The journal is the truth: a view that cannot be drawn is a warning, and the next process draws it. */
  #drawLate(draw: () => void): void {
    try {
      draw();
    } catch (error) {
      if (!(error instanceof MaestroError)) throw error;
      this.#options.warn(`The change is recorded, but ${VIEW_FILE} could not be drawn: ${error.message}`);
    }
  }

  /** A process that others wait for does not stand still for a view: while the lock is held, it tries again later. */
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
    this.#timer = setTimeout(() => this.#drawLate(() => this.#drawInPassing()), viewDelayMs);
    this.#timer.unref();
  }

  /** True when something besides plain reading is due; costs a few listings and a stat. */
  #needsCare(directory: Directory, tail: string): boolean {
    const { session } = this.#journal;
    if (tail !== "none" || session?.archiving) return true;
    return (!this.#swept && hasLeftovers(this.location, directory)) || !this.#view.isCurrent(directory, session);
  }

  #careFor(directory: Directory): SessionRead {
    const mend = () => {
      const state = this.#recover(directory);
      this.#draw(directory);
      return state;
    };
    try {
      if (foreignState(this.location) === undefined)
        return withLock(directory, LOCK_FILE, mend, { waitMs: READER_WAIT_MS });
    } catch (error) {
      if (!(error instanceof MaestroError)) throw error;
      // A project that cannot be written, or that somebody is writing, can still be read.
      const hopeless = ["EACCES", "EROFS", "EPERM", "ENOSPC", "EDQUOT"].includes(errno(error.cause) ?? "");
      if (!hopeless && error.code !== "locked") throw error;
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
    // A record that an engine has yet to judge must not move a file.
    if (this.#keeper !== undefined || drivingEngine(directory) === undefined) this.#finish(directory);
    return this.#reviewView(directory);
  }

  /** Carries out what the journal says was begun. */
  #finish(directory: Directory): void {
    const revised = this.#journal.session?.revised ?? null;
    if (revised !== null && !this.#journal.session?.archiving) finishRevision(this.location, revised);
    if (!this.#journal.session?.archiving) return;
    const { session_id } = this.#finishArchive(directory);
    this.#options.warn(`Finished archiving session ${session_id}, which had been interrupted`);
  }

  /** What was drawn from refused records goes with them. */
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
          `The journal is gone; the session was taken over from ${VIEW_FILE}, without its notes and without the plan it began with`,
        );
      }
      this.append(directory, [verdict.event]);
      // Drawn at once: an edit must not be judged a second time, against what comes after it.
      this.#draw(directory);
    }
    return this.#current();
  }

  #draw(directory: Directory): void {
    for (let attempt = 0; !this.#view.draw(directory, this.#journal.session); attempt++) {
      if (attempt === MAX_DRAWING_ATTEMPTS)
        throw new MaestroError("conflict", `${VIEW_FILE} is being written by somebody else`);
      this.#reviewView(directory);
    }
    this.#undrawn = false;
  }

  #broken(directory: Directory, reason: string, file: string | null): SessionRead {
    const kept = file === null ? null : keepBroken(directory, file, this.#options);
    return { state: "broken", reason, file, kept };
  }
}

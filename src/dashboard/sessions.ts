// The sessions of a project, for the pages: the active one from the feed, archived ones from the archive. An archived journal does not
// change, so each is read once.

import { MaestroError } from "../errors.ts";
import { applyEvent, type TimedEvent } from "../session/fold.ts";
import type { Attempt, Session, SessionPhase } from "../session/session.ts";
import { findPhase } from "../session/session.ts";
import type { StateLocation } from "../store/location.ts";
import { archivedIds, sessionRecords } from "../store/session-records.ts";
import type { SessionSummary } from "../web/model/found.ts";
import type { Overview } from "../web/model/wire.ts";
import { eventLine, type RecordFeed, recordLine } from "./feed.ts";
import { layoutOf } from "./layout.ts";
import { summaryOf } from "./session-list.ts";

/** How long one answer reads archived journals: meanwhile the server answers no other request. */
const READ_MS = 150;

export interface FoundAttempt {
  session: Session;
  phase: SessionPhase;
  attempt: Attempt;
}

export class Sessions {
  readonly #location: StateLocation;
  readonly #feed: RecordFeed;
  readonly #redact: (text: string) => string;
  /** Empty for a journal that cannot be read. */
  readonly #summaries = new Map<string, SessionSummary[]>();
  /** The archived session that was asked for last: a page asks for it many times. */
  #last: { session: Session; records: TimedEvent[] } | undefined;

  constructor(location: StateLocation, feed: RecordFeed, redact: (text: string) => string) {
    this.#location = location;
    this.#feed = feed;
    this.#redact = redact;
  }

  /** The active session first, then the latest; and how many archived ones are left for the next call. */
  list(): Pick<Overview, "sessions" | "unread"> {
    const { session } = this.#feed;
    const sessions = session === undefined ? [] : [summaryOf(session, true)];
    const until = performance.now() + READ_MS;
    let unread = 0;
    for (const id of archivedIds(this.#location)) {
      if (id === session?.session_id) continue;
      if (!this.#summaries.has(id) && performance.now() > until) unread += 1;
      else sessions.push(...this.#summary(id));
    }
    return { sessions, unread };
  }

  isActive(id: string): boolean {
    return this.#feed.id === id && this.#feed.session !== undefined;
  }

  /** The lines of an archived session's stream after `seq`, and its layout; undefined when it does not exist. */
  archived(id: string, seq: number): { lines: string[]; layout: string } | undefined {
    const found = this.#read(id);
    if (found === undefined) return undefined;
    const lines = found.records.filter((record) => record.seq > seq).map(recordLine);
    return { lines, layout: eventLine("layout", layoutOf(found.session.phases)) };
  }

  attempt(id: string, phase: string, number: number): FoundAttempt {
    const session = this.isActive(id) ? this.#feed.session : this.#read(id)?.session;
    if (session === undefined) throw new MaestroError("not_found", `Session ${id} does not exist`);
    const found = findPhase(session, phase);
    const attempt = found?.attempts.findLast((one) => one.attempt === number);
    if (found === undefined || attempt === undefined) {
      throw new MaestroError("not_found", `Phase ${phase} has no attempt ${number}`);
    }
    return { session, phase: found, attempt };
  }

  #summary(id: string): SessionSummary[] {
    const known = this.#summaries.get(id);
    if (known !== undefined) return known;
    let summary: SessionSummary[] = [];
    try {
      const found = this.#read(id);
      if (found !== undefined) summary = [summaryOf(found.session, false)];
    } catch (error) {
      // A damaged journal in the archive must not hide the other sessions.
      if (!(error instanceof MaestroError)) throw error;
    }
    this.#summaries.set(id, summary);
    return summary;
  }

  #read(id: string): { session: Session; records: TimedEvent[] } | undefined {
    if (this.#last?.session.session_id === id) return this.#last;
    const found = sessionRecords(this.#location, id, this.#redact);
    if (found === undefined) return undefined;
    let session: Session | undefined;
    for (const record of found.records) session = applyEvent(session, record);
    if (session === undefined) return undefined;
    const read = { session, records: found.records };
    if (!found.isActive) this.#last = read;
    return read;
  }
}

// The sessions of a project, for the pages: the active one from the feed, archived ones from the archive. An archived journal does not
// change, so each is read once.

import { MaestroError } from "../errors.ts";
import { applyEvent, type TimedEvent } from "../session/fold.ts";
import type { Attempt, Session, SessionPhase } from "../session/session.ts";
import { findPhase } from "../session/session.ts";
import type { StateLocation } from "../store/location.ts";
import { archivedIds, sessionRecords } from "../store/session-records.ts";
import type { SessionSummary } from "../web/model/found.ts";
import { eventLine, type RecordFeed, recordLine } from "./feed.ts";
import { layoutOf } from "./layout.ts";
import { summaryOf } from "./session-list.ts";

/** The latest ones. */
const MAX_LISTED = 200;

export interface FoundAttempt {
  session: Session;
  phase: SessionPhase;
  attempt: Attempt;
}

export class Sessions {
  readonly #location: StateLocation;
  readonly #feed: RecordFeed;
  readonly #redact: (text: string) => string;
  readonly #summaries = new Map<string, SessionSummary | null>();
  /** The archived session that was asked for last: a page asks for it many times. */
  #last: { session: Session; records: TimedEvent[] } | undefined;

  constructor(location: StateLocation, feed: RecordFeed, redact: (text: string) => string) {
    this.#location = location;
    this.#feed = feed;
    this.#redact = redact;
  }

  /** The active session first, then the latest. */
  list(): SessionSummary[] {
    const { session } = this.#feed;
    const active = session === undefined ? [] : [summaryOf(session, true)];
    const archived = archivedIds(this.#location)
      .filter((id) => id !== session?.session_id)
      .slice(0, MAX_LISTED)
      .flatMap((id) => this.#summary(id) ?? []);
    return [...active, ...archived];
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

  #summary(id: string): SessionSummary | null {
    const known = this.#summaries.get(id);
    if (known !== undefined) return known;
    let summary: SessionSummary | null = null;
    try {
      const found = this.#read(id);
      summary = found === undefined ? null : summaryOf(found.session, false);
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

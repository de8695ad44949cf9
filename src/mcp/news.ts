// What happened in the session since this conversation last asked: a bounded list of lines, and a cursor. One server serves one
// conversation, so the cursor belongs to the server.

import type { TimedEvent } from "../session/fold.ts";
import type { Session } from "../session/session.ts";
import { type NewsItem, newsOf } from "../views/record/news.ts";

const MAX_KEPT = 1_000;

export class News {
  #items: NewsItem[] = [];
  #session: string | undefined;
  /** The last event that the conversation has seen; undefined before it has seen the session. */
  #cursor: number | undefined;

  /** A listener of the store: called for every event that is read, in order. */
  readonly note = (event: TimedEvent, session: Session): void => {
    if (event.seq === 1) this.#restart(session.session_id);
    const item = newsOf(event, session);
    if (item === undefined) return;
    this.#items.push(item);
    if (this.#items.length > 2 * MAX_KEPT) this.#items = this.#items.slice(-MAX_KEPT);
  };

  /** The cursor. A conversation that sees the session for the first time knows all of it: only what happens from now on is new. */
  begin({ seq }: Session): number {
    this.#cursor ??= seq;
    return this.#cursor;
  }

  after(seq: number): NewsItem[] {
    return this.#items.filter((item) => item.seq > seq);
  }

  /** The conversation has seen everything up to `seq`. */
  told(seq: number): void {
    this.#cursor = Math.max(this.#cursor ?? 0, seq);
  }

  /** A journal that was replaced is read again from its start. */
  #restart(session: string): void {
    this.#items = [];
    if (this.#session !== session) this.#cursor = undefined;
    this.#session = session;
  }
}

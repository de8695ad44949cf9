// The records of the active session as they are written, from any process, for every page that looks on. Only reads, as `maestro watch`
// does.

import { MaestroError } from "../errors.ts";
import type { TimedEvent } from "../session/fold.ts";
import type { Session } from "../session/session.ts";
import { shownRecord } from "../store/session-records.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { LivePulse } from "../web/model/wire.ts";
import { layoutOf } from "./layout.ts";

/** A line of the stream for each record: `id` is its number, so that a page can say from where it wants to continue. */
export function recordLine(record: TimedEvent): string {
  return `id: ${record.seq}\ndata: ${JSON.stringify(record)}\n\n`;
}

export function eventLine(name: "layout" | "pulse" | "reset" | "caught" | "end", data: unknown = {}): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

export interface FeedOptions {
  store: SessionStore;
  /** Facts about the session that are not in the journal. */
  pulse: (session: Session) => LivePulse;
  warn: (message: string) => void;
}

export class RecordFeed {
  readonly #options: FeedOptions;
  readonly #listeners = new Set<() => void>();
  /** The id of the active session; null: none. */
  id: string | null = null;
  /** Changes when the journal was rewritten: what was sent before is void. */
  epoch = 0;
  readonly lines: string[] = [];
  readonly #seqs: number[] = [];
  #layout: { phases: Session["phases"]; line: string } | undefined;
  pulseLine = "";
  /** How many records have come, of all sessions. */
  #taken = 0;
  #lastWarning = "";

  constructor(options: FeedOptions) {
    this.#options = options;
    options.store.observe((record) => this.#take(record));
  }

  get session(): Session | undefined {
    return this.#options.store.session;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads what is new. A journal that cannot be read is reported once; the pages keep what they have. */
  poll(): void {
    const before = this.#taken;
    try {
      this.#options.store.refresh();
    } catch (error) {
      if (!(error instanceof MaestroError)) throw error;
      if (error.message !== this.#lastWarning) this.#options.warn(error.message);
      this.#lastWarning = error.message;
      return;
    }
    const wasActive = this.id !== null;
    if (this.session === undefined) this.id = null;
    const hasEnded = wasActive && this.id === null;
    if (this.#taken !== before || hasEnded) this.#tell();
  }

  /** Reads the facts that are not in the journal. */
  readPulse(): void {
    const { session } = this;
    if (session === undefined) return;
    const line = eventLine("pulse", this.#options.pulse(session));
    if (line === this.pulseLine) return;
    this.pulseLine = line;
    this.#tell();
  }

  /** The place of the first record after `seq`. */
  placeAfter(seq: number): number {
    let low = 0;
    let high = this.#seqs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#seqs[middle] ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  seqAt(place: number): number {
    return this.#seqs[place] ?? 0;
  }

  /** Made when a page first asks, and again for a revised plan. */
  layoutLine(): string {
    const { session } = this;
    if (session === undefined) return "";
    if (this.#layout?.phases !== session.phases) {
      this.#layout = { phases: session.phases, line: eventLine("layout", layoutOf(session.phases)) };
    }
    return this.#layout.line;
  }

  #take(record: TimedEvent): void {
    this.#taken += 1;
    if (record.type === "session.created" || record.type === "session.imported") {
      if (this.lines.length > 0) this.epoch += 1;
      this.lines.length = 0;
      this.#seqs.length = 0;
      this.pulseLine = "";
      this.id = record.type === "session.created" ? record.session_id : record.session.session_id;
    }
    this.lines.push(recordLine(shownRecord(record, this.#options.store.redact)));
    this.#seqs.push(record.seq);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

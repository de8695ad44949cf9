// The session at any moment: folds the records up to a position. Moving forward applies only the new records; any other move starts at
// the nearest copy. Pure.

import { applyEvent, type TimedEvent } from "../../session/fold.ts";
import type { Session, SessionPhase } from "../../session/session.ts";
import type { RefusedScope } from "./needs.ts";

/** A copy of the session every so many records: copying a large one costs as much as folding a few thousand records. */
const COPY_EVERY = 2000;

export class Replay {
  readonly #copyEvery: number;
  readonly records: TimedEvent[] = [];
  /** Files that agents asked for and were refused: the fold does not keep them. */
  readonly refused: RefusedScope[] = [];
  #session: Session | undefined;
  /** How many records `#session` contains. */
  #folded = 0;
  readonly #copies = new Map<number, Session>();

  constructor(copyEvery = COPY_EVERY) {
    this.#copyEvery = copyEvery;
  }

  add(records: readonly TimedEvent[]): void {
    // A reconnected stream may repeat what is known.
    const last = this.records.at(-1)?.seq ?? 0;
    for (const record of records) {
      if (record.seq <= last) continue;
      this.records.push(record);
      if (record.type === "phase.scope_requested" && !record.granted) this.refused.push(record);
    }
  }

  /** Forgets everything: the journal was rewritten. */
  clear(): void {
    this.records.length = 0;
    this.refused.length = 0;
    this.#copies.clear();
    this.#session = undefined;
    this.#folded = 0;
  }

  /** The session after the first `count` records. The same object changes with the next call. */
  at(count: number): Session | undefined {
    const wanted = Math.min(Math.max(0, count), this.records.length);
    const copied = this.#copyBefore(wanted);
    if (wanted < this.#folded || copied > this.#folded) this.#startAt(copied);
    for (let next = this.records[this.#folded]; this.#folded < wanted && next !== undefined; ) {
      this.#session = applyEvent(this.#session, next);
      this.#folded += 1;
      const isDue = this.#folded % this.#copyEvery === 0 && !this.#copies.has(this.#folded);
      if (isDue && this.#session !== undefined) this.#copies.set(this.#folded, copyOf(this.#session));
      next = this.records[this.#folded];
    }
    return this.#session;
  }

  /** How many records have at most this sequence number. */
  countOf(seq: number): number {
    const first = this.records[0]?.seq ?? 1;
    return Math.min(this.records.length, Math.max(0, seq - first + 1));
  }

  /** How many records the nearest copy contains; 0: none. */
  #copyBefore(wanted: number): number {
    let nearest = 0;
    for (const count of this.#copies.keys()) if (count <= wanted && count > nearest) nearest = count;
    return nearest;
  }

  #startAt(start: number): void {
    const copy = this.#copies.get(start);
    this.#session = copy === undefined ? undefined : copyOf(copy);
    this.#folded = start;
  }
}

/** A copy that the fold can change without changing this one: everything that it changes in place, but not what it replaces. */
function copyOf(session: Session): Session {
  const { token_usage: used, open_review: review } = session;
  return {
    ...session,
    phases: session.phases.map(copyPhase),
    notes: session.notes.slice(),
    baseline: session.baseline.slice(),
    requirements: session.requirements.map((one) => ({ ...one })),
    open_review: review === null ? null : { ...review },
    token_usage: { ...used, by_agent: { ...used.by_agent } },
    file_hashes: new Map(session.file_hashes),
    index: new Map(session.index),
    running: new Set(session.running),
  };
}

/** Written out, because a loop over the fields takes ten times as long. */
function copyPhase(phase: SessionPhase): SessionPhase {
  const { attempts, retry_decisions: decisions } = phase;
  const copy = {
    ...phase,
    attempts: attempts.map((attempt) => ({ ...attempt })),
    errors: phase.errors.slice(),
    warnings: phase.warnings.slice(),
    granted: phase.granted.slice(),
    files_created: phase.files_created.slice(),
    files_modified: phase.files_modified.slice(),
    files_deleted: phase.files_deleted.slice(),
  };
  return decisions === undefined ? copy : { ...copy, retry_decisions: decisions.slice() };
}

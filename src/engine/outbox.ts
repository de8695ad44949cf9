// Collects what the engine records in its next iteration, so that one durable write covers all of it.

import type { PhaseId } from "../ids.ts";
import type { SessionEvent } from "../session/events.ts";
import type { Update } from "../store/session-store.ts";

export interface Due {
  /** The phase whose work ends with this record; null when the work continues. */
  phase: PhaseId | null;
  record: (update: Update) => void;
  /** Called when the record is durable. */
  recorded?: () => void;
  /** Called when it will never be recorded. */
  failed?: (error: unknown) => void;
}

export class Outbox {
  readonly #wake: () => void;
  #due: Due[] = [];
  #broken: { error: unknown } | undefined;

  constructor(wake: () => void) {
    this.#wake = wake;
  }

  add(due: Due): void {
    this.#due.push(due);
    if (this.#broken !== undefined) due.failed?.(this.#broken.error);
    this.#wake();
  }

  /** Records the events in the next iteration, if there is one. */
  tell(events: SessionEvent[]): void {
    this.add({ phase: null, record: (update) => update(() => ({ events, result: undefined })) });
  }

  /** Resolves when the events are durable. */
  write(events: SessionEvent[]): Promise<void> {
    return new Promise((recorded, failed) => {
      const record = (update: Update) => update(() => ({ events, result: undefined }));
      this.add({ phase: null, record, recorded, failed });
    });
  }

  /** Takes everything, for the iteration that records it. */
  take(): Due[] {
    const due = this.#due;
    this.#due = [];
    return due;
  }

  /** Returns what could not be recorded yet. */
  putBack(due: readonly Due[]): void {
    this.#due = [...due, ...this.#due];
  }

  /** Fails everything that is waiting: no iteration will record it. */
  breakUp(error: unknown): void {
    this.#broken = { error };
    for (const { failed } of this.#due) failed?.(error);
  }
}

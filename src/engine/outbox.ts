// What is to be recorded with the next turn of the engine: everything together, with one durable write.

import type { PhaseId } from "../ids.ts";
import type { SessionEvent } from "../session/events.ts";
import type { Update } from "../store/session-store.ts";

export interface Due {
  /** The phase that is done with it; null: it goes on. */
  phase: PhaseId | null;
  record: (update: Update) => void;
  /** Called when it is durable. */
  recorded?: () => void;
  /** Called when that will not come to pass. */
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

  /** Recorded with the next turn, if there is one. */
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

  /** All of it, for a turn that records it. */
  take(): Due[] {
    const due = this.#due;
    this.#due = [];
    return due;
  }

  /** It could not be recorded yet. */
  putBack(due: readonly Due[]): void {
    this.#due = [...due, ...this.#due];
  }

  /** Nothing is recorded any more. */
  breakUp(error: unknown): void {
    this.#broken = { error };
    for (const { failed } of this.#due) failed?.(error);
  }
}

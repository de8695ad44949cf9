// Runs tasks one at a time, in the order in which they are submitted.

export class TurnTaking {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when all earlier tasks are done. Their failures do not affect it. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

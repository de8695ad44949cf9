// One at a time, in the order of asking: for what may not happen side by side in one process.

export class TurnTaking {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when everybody who asked before is done. Somebody else's failure is none of ours. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}
